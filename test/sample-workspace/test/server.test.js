import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApp } from '../src/server.js';

const app = createApp();
let base;

before(async () => {
  await new Promise((resolve) => app.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${app.address().port}`;
});
after(() => {
  app.closeAllConnections();
  app.close();
});

async function call(method, path, body) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(base + path, { method, body: text });
  const answer = await response.text();
  return { status: response.status, body: answer === '' ? undefined : JSON.parse(answer) };
}

test('makes, reads, replaces and removes a note', async () => {
  const made = await call('POST', '/notes', { title: 'Milk', tags: ['home'] });
  assert.equal(made.status, 201);
  const path = `/notes/${made.body.id}`;
  assert.deepEqual(await call('GET', path), { status: 200, body: made.body });
  assert.equal((await call('PUT', path, { title: 'Bread' })).body.title, 'Bread');
  assert.equal((await call('DELETE', path)).status, 204);
  assert.equal((await call('GET', path)).status, 404);
});

test('lists notes by tag', async () => {
  await call('POST', '/notes', { title: 'Report', tags: ['work'] });
  await call('POST', '/notes', { title: 'Soup', tags: ['kitchen'] });
  const { body } = await call('GET', '/notes?tag=work');
  assert.deepEqual(
    body.map(({ title }) => title),
    ['Report'],
  );
});

test('explains a note that is not valid', async () => {
  assert.deepEqual(await call('POST', '/notes', { body: 'no title' }), {
    status: 400,
    body: { error: 'title is missing' },
  });
  assert.deepEqual(await call('POST', '/notes', '{"title":'), {
    status: 400,
    body: { error: 'The body is not valid JSON' },
  });
});

test('refuses unknown paths, wrong methods and huge bodies', async () => {
  assert.equal((await call('GET', '/nothing')).status, 404);
  assert.equal((await call('GET', '/notes/')).status, 404);
  assert.equal((await call('DELETE', '/notes')).status, 405);
  assert.equal((await call('POST', '/notes', { title: 'x', body: 'x'.repeat(70_000) })).status, 413);
});
