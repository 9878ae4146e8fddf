import * as assert from 'node:assert/strict';
import { KeyedLock } from '../../src/team/locks';
import { deferred } from './support/turns';

describe('locks', () => {
  it('start in the tick of the caller where all keys are free', async () => {
    const lock = new KeyedLock();
    let began = false;
    const done = lock.runAll(['b', 'a', 'b'], async () => {
      began = true;
      return 7;
    });
    assert.equal(began, true);
    assert.equal(await done, 7);
  });

  it('taken several at once do not hold each other up, in whatever order they are named', async () => {
    const lock = new KeyedLock();
    const log: string[] = [];
    const first = deferred();
    const one = lock.runAll(['a', 'b'], async () => {
      log.push('one');
      await first.promise;
    });
    const two = lock.runAll(['b', 'a'], async () => void log.push('two'));
    const alone = lock.run('b', async () => void log.push('alone'));
    const other = lock.run('c', async () => void log.push('other'));
    await other;
    assert.deepEqual(log, ['one', 'other']);
    first.resolve();
    await Promise.all([one, two, alone]);
    assert.deepEqual([...log].sort(), ['alone', 'one', 'other', 'two']);
  });

  it('are free again after a failure', async () => {
    const lock = new KeyedLock();
    const failing = lock.runAll(['a', 'b'], async () => {
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.equal(await lock.runAll(['b', 'a'], async () => 1), 1);
  });
});
