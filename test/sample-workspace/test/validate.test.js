import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateNote } from '../src/validate.js';

test('fills in what may be left out', () => {
  assert.deepEqual(validateNote({ title: ' Milk ' }), {
    errors: [],
    value: { title: 'Milk', body: '', tags: [] },
  });
});

test('tidies tags', () => {
  assert.deepEqual(validateNote({ title: 'x', tags: ['Home', 'home ', ''] }).value.tags, ['home']);
});

test('names everything that is wrong', () => {
  assert.deepEqual(validateNote({ title: 7, body: 7, tags: 'home' }).errors, [
    'title must be a string',
    'body must be a string',
    'tags must be a list',
  ]);
});

test('refuses a note that is no object or has no title', () => {
  for (const input of [undefined, null, [], 'note']) {
    assert.deepEqual(validateNote(input).errors, ['the note must be an object']);
  }
  assert.deepEqual(validateNote({}).errors, ['title is missing']);
  assert.deepEqual(validateNote({ title: '  ' }).errors, ['title is empty']);
});

test('refuses what is too long', () => {
  const tags = Array.from({ length: 11 }, (_, index) => `tag${index}`);
  assert.deepEqual(validateNote({ title: 'x'.repeat(121), tags }).errors, [
    'title is longer than 120 characters',
    'there are more than 10 tags',
  ]);
});
