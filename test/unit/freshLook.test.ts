import assert from 'node:assert/strict';
import { FreshLook } from '../../src/team/freshLook';

describe('FreshLook', () => {
  /** Looks at a number, which takes until it is let go. */
  function numberLook() {
    const held: (() => void)[] = [];
    const place = { value: 1, looks: 0, most: 0, open: 0, release: () => held.shift()?.() };
    const look = new FreshLook(async () => {
      place.looks += 1;
      place.open += 1;
      place.most = Math.max(place.most, place.open);
      const seen = place.value;
      await new Promise<void>((resolve) => void held.push(resolve));
      place.open -= 1;
      if (seen < 0) throw new Error(`saw ${seen}`);
      return seen;
    });
    return { place, look };
  }

  it('tells whoever asks during a look what the next one sees, which all of them share', async () => {
    const { place, look } = numberLook();
    const first = look.now();
    place.value = 2;
    const second = look.now();
    place.value = 3;
    const third = look.now();
    place.release();
    assert.equal(await first, 1);
    place.value = 4;
    // The second has begun by now, or begins with 4.
    await Promise.resolve();
    place.release();
    const [b, c] = [await second, await third];
    assert.equal(b, c);
    assert.ok(b >= 3, `saw ${b}`);
    assert.deepEqual([place.looks, place.most], [2, 1]);
    const later = look.now();
    place.release();
    assert.equal(await later, 4);
  });

  it('fails for those who share the look that failed, and for nobody after', async () => {
    const { place, look } = numberLook();
    place.value = -1;
    const first = look.now();
    place.value = 2;
    const second = look.now();
    place.release();
    await assert.rejects(first, /saw -1/);
    await new Promise((resolve) => setImmediate(resolve));
    place.release();
    assert.equal(await second, 2);
  });

  it('never lets two looks run at once, nor misses what was so before somebody asked', async () => {
    const { place, look } = numberLook();
    const asked: Promise<void>[] = [];
    for (let round = 0; round < 200; round++) {
      place.value = round;
      asked.push(look.now().then((seen) => assert.ok(seen >= round, `${seen} in round ${round}`)));
      if (round % 3 === 0) place.release();
      for (let step = round % 5; step > 0; step--) await Promise.resolve();
    }
    const all = Promise.all(asked);
    let isDone = false;
    void all.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      place.release();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
    assert.equal(place.most, 1);
  });
});
