import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NoteStore } from '../src/store.js';

const note = (title, tags = []) => ({ title, body: '', tags });

test('lists the newest note first', () => {
  const store = new NoteStore();
  store.create(note('first'));
  store.create(note('second'));
  assert.deepEqual(
    store.list().map(({ title }) => title),
    ['second', 'first'],
  );
});

test('lists only the notes with a tag', () => {
  const store = new NoteStore();
  store.create(note('bread', ['home']));
  store.create(note('report', ['work']));
  assert.deepEqual(
    store.list('work').map(({ title }) => title),
    ['report'],
  );
});

test('never uses an id twice', () => {
  const store = new NoteStore();
  const { id } = store.create(note('gone'));
  assert.equal(store.delete(id), true);
  assert.equal(store.delete(id), false);
  assert.notEqual(store.create(note('new')).id, id);
});

test('replaces a note and keeps its id', () => {
  const store = new NoteStore();
  const { id } = store.create(note('draft'));
  assert.equal(store.replace(id, note('final')).id, id);
  assert.equal(store.get(id).title, 'final');
  assert.equal(store.replace('none', note('x')), undefined);
});
