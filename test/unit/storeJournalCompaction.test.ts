import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type JournalOptions, type JsonObject, StorageError } from '../../src/store';
import type { Fault } from './storeFaults';
import { appendNumbers, DIR, JournalFolder, type Opened, segmentPath } from './support/journalFolder';

/** What stands in the journal, as a sum: the record `{n}` adds n, `{sum}` (of a snapshot) sets it. */
function sumOf(records: readonly JsonObject[]): number {
  let sum = 0;
  for (const record of records) {
    if (typeof record.sum === 'number') sum = record.sum;
    else sum += Number(record.n);
  }
  return sum;
}

/** A caller that keeps its state as it should: applied when durable, made anew from the items. */
class Adder {
  sum: number;
  snapshots = 0;

  constructor(readonly opened: Opened) {
    this.sum = sumOf(opened.records);
    opened.journal.useSnapshot(() => {
      this.snapshots += 1;
      return [{ sum: this.sum }, { n: 0 }, { n: 0 }];
    });
  }

  async add(n: number): Promise<void> {
    await this.opened.journal.append([{ n }], () => {
      this.sum += n;
    });
  }
}

async function adder(folder: JournalFolder, options: Partial<JournalOptions> = {}): Promise<Adder> {
  return new Adder(await folder.open({ compactBytes: 1500, ...options }));
}

describe('journal made smaller', function () {
  this.timeout(60_000);

  it('replaces what it has by a snapshot when it has grown, and goes on behind it', async () => {
    const folder = new JournalFolder();
    const first = await adder(folder);
    let largest = 0;
    for (let n = 1; n <= 100; n += 1) {
      await first.add(n);
      largest = Math.max(largest, folder.segments().length);
    }
    await first.opened.journal.close();
    assert.ok(first.snapshots >= 5, `${first.snapshots} snapshots`);
    assert.ok(largest <= 3, `${largest} segments`);
    assert.equal(first.sum, 5050);
    const opened = await folder.look();
    assert.equal(sumOf(opened.records), 5050);
    assert.ok(opened.records.length < 30);
    assert.deepEqual([opened.damage, opened.gaps, opened.warnings], [[], [], []]);
  });

  it('asks for the snapshot when all that is durable has been applied, and nothing else', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open({ compactBytes: 1 });
    const applied: number[] = [];
    const seen: number[] = [];
    journal.useSnapshot(() => {
      seen.push(applied.length);
      return applied.map((n) => ({ n }));
    });
    const appends = [1, 2, 3].map((n) => journal.append([{ n }], () => applied.push(n)));
    await appends[0];
    // Joins while the snapshot of the first group is being written, so it must not be in it.
    await Promise.all([...appends, journal.append([{ n: 4 }], () => applied.push(4))]);
    await journal.close();
    assert.deepEqual(seen, [3]);
    const opened = await folder.look();
    assert.deepEqual(opened.records, [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  });

  it('does so when many openings have left many small segments', async () => {
    const folder = new JournalFolder();
    for (let opening = 1; opening <= 70; opening += 1) {
      const one = await adder(folder, { compactBytes: 1 << 20, epoch: opening });
      await one.add(1);
      await one.opened.journal.close();
    }
    assert.ok(folder.segments().length < 70);
    assert.equal(sumOf((await folder.look()).records), 70);
  });

  it('waits until it is four times the last snapshot', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open({ compactBytes: 1000 });
    let made = 0;
    journal.useSnapshot(() => {
      made += 1;
      return [{ text: 'x'.repeat(10_000) }];
    });
    for (let n = 0; n < 300; n += 1) await journal.append([{ n, text: 'y'.repeat(60) }]);
    assert.ok(made >= 2 && made <= 4, `${made} snapshots`);
    await journal.close();
  });

  it('says when it does not work, goes on, and tries again later', async () => {
    const folder = new JournalFolder();
    const one = await adder(folder);
    let isFull = true;
    // The disk takes lines, but no file any more.
    folder.fileSystem.fault = ({ name, path }) =>
      isFull && name === 'open' && path !== segmentPath(1) && folder.lines(1).length > 5
        ? { kind: 'fails', code: 'ENOSPC' }
        : undefined;
    for (let n = 1; n <= 16; n += 1)
      await one.add(1).catch((error) => assert.ok(error instanceof StorageError));
    assert.match(
      one.opened.warnings.join('\n'),
      /^The journal could not be made smaller: .*the disk is full/,
    );
    const before = one.sum;
    isFull = false;
    for (let n = 1; n <= 40; n += 1) await one.add(1);
    await one.opened.journal.close();
    assert.ok(one.snapshots >= 2);
    assert.equal(one.sum, before + 40);
    assert.equal(sumOf((await folder.look()).records), one.sum);
  });

  it('survives a snapshot that cannot be made', async () => {
    const folder = new JournalFolder();
    const { journal, warnings } = await folder.open({ compactBytes: 100 });
    journal.useSnapshot(() => {
      throw new Error('no state');
    });
    await appendNumbers(journal, 1, 3);
    await journal.close();
    assert.deepEqual(warnings, ['The journal could not be made smaller: no state']);
    assert.equal((await folder.look()).records.length, 3);
  });

  it('keeps segments with damage in them, for people to look into, and is whole again after', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await appendNumbers(journal, 1, 5);
    await journal.close();
    const damaged = folder.lines(1).map((line, at) => (at === 3 ? line.replace('"n":3', '"n":4') : line));
    folder.putLines(1, damaged);
    const second = await adder(folder);
    assert.deepEqual(second.opened.gaps, ['damage@2']);
    await second.add(1);
    await second.opened.journal.close();
    assert.equal(second.snapshots, 1);
    assert.equal(folder.fileSystem.text(`${DIR}/kept/000001.jsonl`), `${damaged.join('\n')}\n`);
    assert.equal(folder.fileSystem.files.has(segmentPath(1)), false);
    const third = await folder.look();
    assert.equal(sumOf(third.records), 13);
    assert.deepEqual([third.gaps, third.damage], [[], []]);
  });

  /** Grows, compacts twice, opens again and compacts once more. */
  async function script(folder: JournalFolder): Promise<{ acknowledged: number; refused: number }> {
    let acknowledged = 0;
    let refused = 0;
    for (const epoch of [1, 2]) {
      const one = await adder(folder, { epoch });
      for (let n = 0; n < 14; n += 1) {
        // Powers of two, so that a sum tells which numbers are in it.
        const value = 2 ** (n + (epoch - 1) * 14);
        await one.add(value).then(
          () => (acknowledged += value),
          (error: unknown) => {
            assert.ok(error instanceof StorageError, String(error));
            refused += value;
          },
        );
      }
      await one.opened.journal.close();
    }
    return { acknowledged, refused };
  }

  it('loses nothing and keeps nothing refused, whichever operation fails', async () => {
    const plain = new JournalFolder();
    await script(plain);
    const count = plain.fileSystem.operations.length;
    assert.ok(count > 100);
    const faults: Fault[] = [
      { kind: 'fails', code: 'ENOSPC' },
      { kind: 'fails after the fact', code: 'EIO' },
      { kind: 'fails', code: 'EACCES' },
      { kind: 'short', bytes: 9 },
    ];
    for (const fault of faults) {
      for (let failing = 0; failing < count; failing += 1) {
        const folder = new JournalFolder();
        folder.fileSystem.fault = ({ name }, index) =>
          index === failing && name !== 'close' && name !== 'read' ? fault : undefined;
        const result = await script(folder).catch((error: unknown) => {
          assert.ok(error instanceof StorageError && /^Could not read/.test(error.message), String(error));
        });
        if (result === undefined) continue;
        folder.fileSystem.fault = () => undefined;
        const opened = await folder.look();
        const where = `${fault.kind} at ${failing}: ${JSON.stringify(plain.fileSystem.operations[failing])}`;
        assert.equal(sumOf(opened.records), result.acknowledged, where);
        assert.deepEqual(opened.gaps, [], where);
      }
    }
  });

  it('loses nothing when the machine dies at any operation, whatever reached the disk', async () => {
    const plain = new JournalFolder();
    await script(plain);
    const count = plain.fileSystem.operations.length;
    for (const kept of [0, 0.5, 1]) {
      for (let dying = 0; dying < count; dying += 1) {
        const folder = new JournalFolder();
        let dead: JournalFolder | undefined;
        let acknowledged = 0;
        let vault = Promise.resolve<JournalFolder | undefined>(undefined);
        folder.fileSystem.fault = (_operation, index) => {
          if (index !== dying) return undefined;
          acknowledged = soFar;
          dead = new JournalFolder();
          for (const [path, content] of folder.fileSystem.files) {
            dead.fileSystem.files.set(path, { ...content });
          }
          const at = dead;
          vault = folder.vault.load().then(async (content) => {
            if (content !== undefined) await at.vault.save(content);
            return at;
          });
          return undefined;
        };
        let soFar = 0;
        for (const epoch of [1, 2]) {
          const one = await adder(folder, { epoch });
          for (let n = 0; n < 14; n += 1) {
            const value = 2 ** (n + (epoch - 1) * 14);
            await one.add(value);
            soFar += value;
          }
          await one.opened.journal.close();
        }
        const after = await vault;
        assert.ok(after !== undefined && dead !== undefined);
        after.fileSystem.crash(() => kept);
        const opened = await after.look({ epoch: 3 });
        const sum = sumOf(opened.records);
        // The one that was being written may be there or not.
        assert.ok(sum === acknowledged || sum === 2 * acknowledged + 1, `${kept} at ${dying}: ${sum}`);
        assert.deepEqual(opened.gaps, [], `${kept} at ${dying}`);
        const again = await after.look();
        assert.equal(sumOf(again.records), sum);
        assert.deepEqual(again.gaps, []);
        // A segment that was being made may stay, until a next one passes over it.
        for (const one of again.damage) assert.match(one, /:1 (the segment is empty|the line was cut off)/);
      }
    }
  });

  it('property: any history of appends, faults, openings and snapshots adds up', async () => {
    const step = fc.record({
      values: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
      faultAt: fc.option(fc.nat({ max: 30 })),
      reopen: fc.boolean(),
      kind: fc.constantFrom<Fault>(
        { kind: 'fails', code: 'ENOSPC' },
        { kind: 'fails after the fact', code: 'EIO' },
        { kind: 'short', bytes: 40 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const folder = new JournalFolder();
        let expected = 0;
        let epoch = 1;
        let one = await adder(folder, { epoch, compactBytes: 900 });
        for (const { values, faultAt, reopen, kind } of steps) {
          const from = folder.fileSystem.operations.length;
          folder.fileSystem.fault = ({ name }, index) =>
            faultAt !== null && index === from + faultAt && name !== 'close' ? kind : undefined;
          const { sum } = one;
          const results = await Promise.allSettled(values.map((value) => one.add(value)));
          results.forEach(({ status }, at) => {
            if (status === 'fulfilled') expected += values[at] ?? 0;
          });
          assert.equal(one.sum - sum, expected - sum, 'onDurable ran for what was acknowledged');
          folder.fileSystem.fault = () => undefined;
          if (!reopen) continue;
          await one.opened.journal.close();
          epoch += 1;
          one = await adder(folder, { epoch, compactBytes: 900 });
          assert.equal(one.sum, expected);
          assert.deepEqual(one.opened.gaps, []);
        }
        await one.opened.journal.close();
        assert.equal(sumOf((await folder.look()).records), expected);
      }),
      { numRuns: 300, seed: 4711 },
    );
  });
});
