import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Credentials } from '../../src/model/credentials';
import { listModels } from '../../src/model/modelList';

describe('the list of models', () => {
  let server: Server;
  let seen: IncomingMessage['headers'];
  let answer: { status: number; body: string };

  before(async () => {
    server = createServer((request, response) => {
      seen = request.headers;
      response.writeHead(answer.status, {
        'content-type': 'application/json',
        location: 'http://127.0.0.1:1/',
      });
      response.end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  after(() => server.close());

  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = (extra: Partial<Credentials>): Credentials => ({
    source: 'stored',
    baseUrl: address(),
    model: 'm',
    keyName: 'the stored key',
    ...extra,
  });
  const signal = new AbortController().signal;

  it('asks the endpoint of the key, with the key', async () => {
    answer = { status: 200, body: JSON.stringify({ data: [{ id: 'a', display_name: 'A' }, { id: 'b' }] }) };
    const models = await listModels(credentials({ apiKey: 'k1' }), signal);
    assert.deepEqual(models, [{ id: 'a', name: 'A' }, { id: 'b' }]);
    assert.equal(seen['x-api-key'], 'k1');
    await listModels(credentials({ authToken: 't1' }), signal);
    assert.equal(seen.authorization, 'Bearer t1');
    assert.equal(seen['x-api-key'], undefined);
  });

  it('says what went wrong, and never the key', async () => {
    const key = 'sk-secret';
    for (const wrong of [
      { status: 401, body: '{}' },
      { status: 200, body: '<html>' },
      { status: 200, body: '{"models":[]}' },
      { status: 302, body: '' },
    ]) {
      answer = wrong;
      await assert.rejects(listModels(credentials({ apiKey: key }), signal), (error: Error) => {
        assert.match(error.message, /127\.0\.0\.1/);
        assert.ok(!error.message.includes(key));
        return true;
      });
    }
    const gone = credentials({ apiKey: key, baseUrl: 'http://127.0.0.1:1' });
    await assert.rejects(listModels(gone, signal), /could not be reached/);
  });
});
