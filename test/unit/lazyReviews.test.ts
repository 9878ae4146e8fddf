import assert from 'node:assert/strict';
import { LazyReviews } from '../../src/agent/lazyReviews';
import type { TaskReviews } from '../../src/agent/taskReviews';

describe('reviews that are loaded late', () => {
  function reviews(failures = 0, isNeeded = true) {
    const did: string[] = [];
    let left = failures;
    const loaded = {
      reviewContent: async () => {
        did.push('read');
        return new Uint8Array();
      },
      recover: async () => ['taken up'],
      close: async () => void did.push('closed'),
    };
    const lazy = new LazyReviews(
      async () => {
        did.push('loaded');
        if (left-- > 0) throw new Error('too many open files');
        return loaded as unknown as TaskReviews;
      },
      () => isNeeded,
    );
    return { lazy, did };
  }

  it('are loaded once, when first asked for', async () => {
    const { lazy, did } = reviews();
    await Promise.all([lazy.reviewContent('t1', 'a'), lazy.reviewContent('t1', 'b')]);
    assert.deepEqual(did, ['loaded', 'read', 'read']);
  });

  it('are closed before they do anything, where the end came first', async () => {
    const { lazy, did } = reviews();
    await lazy.close();
    await lazy.reviewContent('t1', 'a');
    assert.deepEqual(did, ['loaded', 'closed', 'read']);
  });

  it('are loaded again where that failed, and keep no team from opening', async () => {
    const { lazy, did } = reviews(2);
    await assert.rejects(lazy.reviewContent('t1', 'a'), /too many open files/);
    assert.match((await lazy.recover()).join(), /could not be taken up: too many open files/);
    assert.deepEqual(await lazy.recover(), ['taken up']);
    assert.equal(did.filter((what) => what === 'loaded').length, 3);
  });

  it('are not loaded where an earlier window left nothing', async () => {
    const { lazy, did } = reviews(0, false);
    assert.deepEqual(await lazy.recover(), []);
    await lazy.close();
    assert.deepEqual(did, []);
  });
});
