import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Journal, type JsonObject, StorageError } from '../../src/store';
import { type Fault, FaultyFileSystem, type Operation } from './storeFaults';
import { JournalFolder, noDamage, segmentPath } from './support/journalFolder';

const FAULTS: readonly Fault[] = [
  { kind: 'fails', code: 'ENOSPC' },
  { kind: 'fails', code: 'EACCES' },
  { kind: 'fails', code: 'EIO' },
  { kind: 'fails after the fact', code: 'EIO' },
  { kind: 'short', bytes: 1 },
  { kind: 'short', bytes: 25 },
];

/** What the journal gives once the disk is well again; nothing may be reported but what is named. */
async function replay(folder: JournalFolder): Promise<unknown[]> {
  folder.fileSystem.fault = () => undefined;
  const { records, damage, gaps } = await folder.look();
  assert.deepEqual(gaps, []);
  // A segment whose making failed may stay behind without a header; no record was ever in it.
  assert.deepEqual(
    damage.filter((one) => !/^\d+\.jsonl:1 (the segment is empty|the line was cut off)/.test(one)),
    [],
  );
  return records;
}

/** Appends at once; collects the records that were acknowledged, in their order. */
async function appendAll(journal: Journal, groups: JsonObject[][], acknowledged: unknown[]): Promise<number> {
  const results = await Promise.allSettled(
    groups.map((group) => journal.append(group).then(() => acknowledged.push(...group))),
  );
  const failed = results.filter((result) => result.status === 'rejected');
  for (const { reason } of failed) {
    assert.ok(reason instanceof StorageError, String(reason));
    assert.ok(reason.message.includes(reason.path) && reason.path.startsWith('store'), reason.message);
  }
  return failed.length;
}

let made = 0;
function record(): JsonObject {
  made += 1;
  return { n: made, text: 'é'.repeat(made % 5) };
}

describe('journal with a failing disk', function () {
  this.timeout(60_000);

  it('case 50: a refused append is not replayed, whichever operation fails, and the journal goes on', async () => {
    // Without faults first, to learn how many operations the script takes.
    const script = async (folder: JournalFolder): Promise<unknown[]> => {
      const acknowledged: unknown[] = [];
      for (const epoch of [1, 2]) {
        const { journal } = await folder.open({ epoch });
        await appendAll(journal, [[record()]], acknowledged);
        await appendAll(journal, [[record(), record()], [record()]], acknowledged);
        await appendAll(journal, [[record()]], acknowledged);
        await journal.close();
      }
      return acknowledged;
    };
    const plain = new JournalFolder();
    const complete = await script(plain);
    assert.deepEqual(await replay(plain), complete);
    const count = plain.fileSystem.operations.length;
    for (const fault of FAULTS) {
      for (let failing = 0; failing < count; failing += 1) {
        const folder = new JournalFolder();
        folder.fileSystem.fault = ({ name }, index) =>
          index === failing && name !== 'close' && name !== 'read' ? fault : undefined;
        const acknowledged = await script(folder).catch((error: unknown) => {
          // Reading the segment, on the second opening, is allowed to fail as a whole.
          assert.ok(error instanceof StorageError && /^Could not read/.test(error.message), String(error));
        });
        if (acknowledged === undefined) continue;
        assert.deepEqual(await replay(folder), acknowledged, `${fault.kind} at operation ${failing}`);
      }
    }
  });

  it('rejects while no new segment can be made, and tries again with the next append', async () => {
    const folder = new JournalFolder();
    const { fileSystem } = folder;
    const { journal } = await folder.open();
    await journal.append([{ n: 1 }]);
    fileSystem.fault = (operation) =>
      operation.name === 'datasync' || operation.name === 'open' || operation.name === 'truncate'
        ? { kind: 'fails', code: 'ENOSPC' }
        : undefined;
    await assert.rejects(journal.append([{ n: 2 }]), /000001\.jsonl: the disk is full.*ENOSPC/);
    assert.match(fileSystem.text(segmentPath(1)), /"n":2/, 'the bytes did reach the file');
    await assert.rejects(journal.append([{ n: 3 }]), /\.jsonl: the disk is full/);
    fileSystem.fault = () => undefined;
    await journal.append([{ n: 4 }]);
    await journal.close();
    assert.deepEqual(await replay(folder), [{ n: 1 }, { n: 4 }]);
  });

  it('cuts refused bytes off, so that nobody can move them', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await journal.append([{ n: 1 }]);
    const kept = folder.fileSystem.text(segmentPath(1));
    folder.fileSystem.fault = ({ name, path }) =>
      name === 'datasync' && path === segmentPath(1)
        ? { kind: 'fails after the fact', code: 'EIO' }
        : undefined;
    await assert.rejects(journal.append([{ n: 2 }]), /input\/output error/);
    assert.equal(folder.fileSystem.text(segmentPath(1)), kept);
    await journal.append([{ n: 3 }]);
    await journal.close();
    assert.deepEqual(await replay(folder), [{ n: 1 }, { n: 3 }]);
  });

  it('marks a refused write when it is closed, if that was not possible before', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await journal.append([{ n: 1 }]);
    folder.fileSystem.fault = (operation) =>
      operation.name === 'datasync' || operation.name === 'open' || operation.name === 'truncate'
        ? { kind: 'fails', code: 'EIO' }
        : undefined;
    await assert.rejects(journal.append([{ n: 2 }]), StorageError);
    folder.fileSystem.fault = () => undefined;
    await journal.close();
    assert.deepEqual(await replay(folder), [{ n: 1 }]);
  });

  it('survives a system that writes nothing', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    folder.fileSystem.fault = (operation) =>
      operation.name === 'write' ? { kind: 'short', bytes: 0 } : undefined;
    await assert.rejects(journal.append([{ n: 1 }]), /wrote nothing/);
    folder.fileSystem.fault = () => undefined;
    await journal.append([{ n: 2 }]);
    await journal.close();
    assert.deepEqual(await replay(folder), [{ n: 2 }]);
  });

  const faultArbitrary = fc.option(fc.constantFrom(...FAULTS), { freq: 3 });
  const roundArbitrary = fc.record({
    groups: fc.array(fc.array(fc.object({ withNullPrototype: false, maxDepth: 1 }), { maxLength: 3 }), {
      maxLength: 5,
    }),
    faults: fc.array(faultArbitrary, { maxLength: 12 }),
    reopen: fc.boolean(),
  });

  it('property: replay gives the acknowledged records, no more and no less', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(roundArbitrary, { maxLength: 6 }), async (rounds) => {
        const folder = new JournalFolder();
        const acknowledged: unknown[] = [];
        let { journal } = await folder.open();
        let epoch = 1;
        for (const { groups, faults, reopen } of rounds) {
          const queue = [...faults];
          folder.fileSystem.fault = (operation) =>
            operation.name === 'close' ? undefined : (queue.shift() ?? undefined);
          await appendAll(
            journal,
            groups.map((group) => group.map((value) => ({ n: 0, value }))),
            acknowledged,
          );
          folder.fileSystem.fault = () => undefined;
          if (!reopen) continue;
          await journal.close();
          epoch += 1;
          journal = (await folder.open({ epoch })).journal;
        }
        await journal.close();
        assert.deepEqual(JSON.stringify(await replay(folder)), JSON.stringify(acknowledged));
      }),
      { numRuns: 400, seed: 20250 },
    );
  });

  it('property: after a power cut every acknowledged record is there, others only whole and at the end', async () => {
    const arbitrary = fc.record({
      before: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 6 }),
      inFlight: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
      // Ticks between the last appends and the power cut.
      ticks: fc.nat({ max: 12 }),
      kept: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ before, inFlight, ticks, kept }) => {
        const folder = new JournalFolder();
        const acknowledged: unknown[] = [];
        const { journal } = await folder.open();
        const group = (size: number) => Array.from({ length: size }, record);
        await appendAll(journal, before.map(group), acknowledged);
        const last = inFlight.map(group);
        // Never settles where the cut comes first: the machine is gone.
        const appended: Promise<unknown> = appendAll(journal, last, acknowledged);
        for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
        const atCut = [...acknowledged];
        const snapshot = await folder.copy();
        snapshot.fileSystem.crash(() => kept);
        await appended;
        await journal.close();

        const opened = await snapshot.open({ epoch: 1 });
        const possible = acknowledged.slice(0, acknowledged.length - last.flat().length);
        assert.deepEqual(opened.records.slice(0, atCut.length), atCut);
        const extra = opened.records.slice(possible.length);
        const wholeGroups = last.map((_, count) => last.slice(0, count).flat()).concat([last.flat()]);
        assert.ok(
          wholeGroups.some((records) => JSON.stringify(records) === JSON.stringify(extra)),
          `a part of an append was replayed: ${JSON.stringify(extra)}`,
        );
        assert.ok(opened.damage.length <= 1);
        assert.deepEqual(opened.gaps, []);
        await opened.journal.append([{ after: true }]);
        await opened.journal.close();
        const again = await snapshot.open({ onDamage: noDamage });
        assert.deepEqual(again.records, [...opened.records, { after: true }]);
      }),
      { numRuns: 300, seed: 77 },
    );
  });

  it('does not use more operations than a write and a sync for an append', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await journal.append([{ n: 1 }]);
    const before = folder.fileSystem.operations.length;
    await journal.append([{ n: 2 }, { n: 3 }]);
    const names: Operation['name'][] = folder.fileSystem.operations.slice(before).map(({ name }) => name);
    assert.deepEqual(names, ['write', 'datasync']);
  });

  it('names a segment that cannot be read, and leaves everything as it is', async () => {
    const folder = new JournalFolder(new FaultyFileSystem());
    const { journal } = await folder.open();
    await journal.append([{ n: 1 }]);
    await journal.close();
    const stored = await folder.vault.load();
    folder.fileSystem.fault = ({ name }) => (name === 'read' ? { kind: 'fails', code: 'EIO' } : undefined);
    await assert.rejects(folder.open(), /Could not read store\/journal\/000001\.jsonl: the disk reported/);
    assert.deepEqual(await folder.vault.load(), stored);
    assert.deepEqual(await replay(folder), [{ n: 1 }]);
  });
});
