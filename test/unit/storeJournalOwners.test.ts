import assert from 'node:assert/strict';
import { FencedError, StorageError } from '../../src/store';
import { appendNumbers, JournalFolder, numbers, segmentPath } from './support/journalFolder';

/** An owner whose hold a test can take away. */
class Owner {
  held = true;
  readonly isHeld = (): boolean => this.held;
}

describe('journal of several owners', () => {
  it('refuses an append once another window owns it, and writes nothing', async () => {
    const folder = new JournalFolder();
    const owner = new Owner();
    const { journal } = await folder.open({ epoch: 1, isHeld: owner.isHeld });
    await journal.append([{ n: 1 }]);
    const before = folder.fileSystem.operations.length;
    owner.held = false;
    let applied = false;
    await assert.rejects(
      journal.append([{ n: 2 }], () => {
        applied = true;
      }),
      (error) => {
        assert.ok(error instanceof FencedError && error instanceof StorageError);
        assert.match(error.message, /another window has taken over/);
        return true;
      },
    );
    assert.equal(folder.fileSystem.operations.length, before);
    assert.equal(applied, false);
    // It does not come back, whatever the lock says later.
    owner.held = true;
    await assert.rejects(journal.append([{ n: 3 }]), FencedError);
    await journal.close();
    assert.deepEqual(numbers((await folder.look()).records), [1]);
  });

  it('never counts what was written while the owner changed', async () => {
    const folder = new JournalFolder();
    const owner = new Owner();
    const { journal } = await folder.open({ epoch: 1, isHeld: owner.isHeld });
    await journal.append([{ n: 1 }]);
    // The window sleeps between the write and its sync; meanwhile another one opens the journal.
    let second: ReturnType<JournalFolder['open']> | undefined;
    folder.fileSystem.fault = ({ name, path }) => {
      if (name === 'write' && path === segmentPath(1) && second === undefined) {
        owner.held = false;
        second = folder.open({ epoch: 2 });
      }
      return undefined;
    };
    let applied = false;
    const late = journal.append([{ n: -1 }], () => {
      applied = true;
    });
    await assert.rejects(late, FencedError);
    folder.fileSystem.fault = () => undefined;
    assert.ok(second !== undefined);
    const { journal: next, records } = await second;
    await journal.close();
    await appendNumbers(next, 2, 3);
    await next.close();
    assert.equal(applied, false);
    const replayed = numbers((await folder.look()).records);
    // Whether the new owner read the line or not: what it read is what stays.
    assert.deepEqual(replayed, [...numbers(records), 2, 3]);
  });

  it('does not replay a line that comes after the new owner has read, even if that one wrote nothing', async () => {
    const folder = new JournalFolder();
    const first = await folder.open({ epoch: 1 });
    await first.journal.append([{ n: 1 }]);
    const second = await folder.open({ epoch: 2 });
    // The first one has slept and does not know of the second: no lock could stop this write.
    await first.journal.append([{ n: -1 }]);
    await second.journal.close();
    const third = await folder.look({ epoch: 3 });
    assert.deepEqual(numbers(third.records), [1]);
    assert.deepEqual(third.gaps, []);
  });

  it('sets a segment aside that an earlier owner began too late, and says so', async () => {
    const folder = new JournalFolder();
    const first = await folder.open({ epoch: 1 });
    await first.journal.append([{ n: 1 }]);
    const second = await folder.open({ epoch: 2 });
    await second.journal.append([{ n: 2 }]);
    // A failed write makes the earlier owner begin a segment behind that of the later one.
    folder.fileSystem.fault = ({ name, path }) =>
      name === 'datasync' && path === segmentPath(1) ? { kind: 'fails', code: 'EIO' } : undefined;
    await assert.rejects(first.journal.append([{ n: -1 }]));
    folder.fileSystem.fault = () => undefined;
    await first.journal.append([{ n: -2 }]);
    await second.journal.append([{ n: 3 }]);
    const third = await folder.look({ epoch: 3 });
    assert.deepEqual(numbers(third.records), [1, 2, 3]);
    assert.deepEqual(third.damage, [
      '000003.jsonl:1 the segment was written by a window that did not own the team any more',
    ]);
    assert.deepEqual(third.gaps, []);
  });

  it('does not let an earlier owner replace, by a snapshot, what a later one has', async () => {
    for (let asleepAt = 0; asleepAt < 12; asleepAt += 1) {
      const folder = new JournalFolder();
      const owner = new Owner();
      const first = await folder.open({ epoch: 1, isHeld: owner.isHeld, compactBytes: 1 });
      await first.journal.append([{ n: 1 }]);
      first.journal.useSnapshot(() => [{ n: 1 }, { n: 2 }]);
      const from = folder.fileSystem.operations.length;
      let later: Promise<unknown[]> | undefined;
      folder.fileSystem.fault = (_operation, index) => {
        if (index === from + asleepAt && later === undefined) later = takeOver(folder, owner);
        return undefined;
      };
      await first.journal.append([{ n: 2 }]).catch((error) => assert.ok(error instanceof FencedError));
      await first.journal.close();
      later ??= takeOver(folder, owner);
      const expected = await later;
      folder.fileSystem.fault = () => undefined;
      const opened = await folder.look({ epoch: 3 });
      assert.deepEqual(numbers(opened.records), expected, `asleep at ${asleepAt}`);
      assert.deepEqual(opened.gaps, []);
    }
  });

  async function takeOver(folder: JournalFolder, owner: Owner): Promise<unknown[]> {
    owner.held = false;
    const { journal, records } = await folder.open({ epoch: 2 });
    await journal.append([{ n: 3 }]);
    await journal.close();
    return [...numbers(records), 3];
  }

  it('goes on when the count of the owners was lost', async () => {
    const folder = new JournalFolder();
    for (const epoch of [5, 1, 1, 2]) {
      const { journal } = await folder.open({ epoch });
      await journal.append([{ n: epoch }]);
      await journal.close();
    }
    const { records, damage } = await folder.look({ epoch: 1 });
    assert.deepEqual(numbers(records), [5, 1, 1, 2]);
    assert.deepEqual(damage, []);
  });

  it('takes the next number when a segment of that name is there already', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open({ epoch: 1 });
    folder.fileSystem.put(segmentPath(1), 'of somebody else\n');
    await journal.append([{ n: 1 }]);
    await journal.close();
    assert.equal(folder.fileSystem.text(segmentPath(1)), 'of somebody else\n');
    assert.deepEqual(numbers((await folder.look()).records), [1]);
  });
});
