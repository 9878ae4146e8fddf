import assert from 'node:assert/strict';
import { memoryVault, type Vault, type VaultContent } from '../../src/store';
import { appendNumbers, DIR, JournalFolder, numbers, segmentPath } from './support/journalFolder';

/** Three records in each of two segments. */
async function twoSegments(): Promise<JournalFolder> {
  const folder = new JournalFolder();
  for (const from of [1, 4]) {
    const { journal } = await folder.open();
    await appendNumbers(journal, from, from + 2);
    await journal.close();
  }
  return folder;
}

async function keyOf(folder: JournalFolder): Promise<string> {
  return (await folder.vault.load())?.key ?? '';
}

describe('journal and its vault', () => {
  describe('anchor', () => {
    it('is kept at the opening, at the end, and not for every line', async () => {
      const folder = new JournalFolder();
      const saved: (number | undefined)[] = [];
      const inner = memoryVault();
      folder.vault = {
        load: () => inner.load(),
        save: async (content) => {
          saved.push(content.anchor?.seq);
          await inner.save(content);
        },
      };
      const { journal } = await folder.open();
      assert.deepEqual(saved, [undefined]);
      assert.match((await inner.load())?.key ?? '', /^[0-9a-f]{64}$/);
      await appendNumbers(journal, 1, 300);
      assert.ok(saved.length === 2 && Number(saved[1]) >= 256, String(saved));
      await journal.close();
      assert.equal(saved.at(-1), 301);
      const before = saved.length;
      await folder.look();
      assert.deepEqual(saved.slice(before), [301]);
    });

    it('finds that the end of the journal was cut off, says which lines, and does not forget it', async () => {
      const folder = await twoSegments();
      folder.putLines(2, folder.lines(2).slice(0, 2));
      const first = await folder.open();
      assert.deepEqual(numbers(first.records), [1, 2, 3, 4]);
      assert.deepEqual(first.items.at(-1), {
        gap: 'The journal is older than it was: lines 7 to 8 of the journal, which had been written, are not there any more.',
        cause: 'rollback',
      });
      await first.journal.append([{ n: 7 }]);
      await first.journal.close();
      for (let opening = 0; opening < 2; opening += 1) {
        const again = await folder.look();
        assert.deepEqual(numbers(again.records), [1, 2, 3, 4, 7]);
        assert.deepEqual(again.gaps, ['rollback@4']);
        assert.deepEqual(again.damage, []);
      }
    });

    it('does not forget it when the window dies at once', async () => {
      const folder = await twoSegments();
      folder.fileSystem.files.delete(segmentPath(2));
      await folder.open();
      const dead = await folder.copy();
      assert.deepEqual((await dead.look()).gaps, ['rollback@3']);
    });

    it('does not forget it when nothing can be written', async () => {
      const folder = await twoSegments();
      folder.fileSystem.files.delete(segmentPath(2));
      folder.fileSystem.fault = ({ name }) =>
        name === 'write' ? { kind: 'fails', code: 'ENOSPC' } : undefined;
      const first = await folder.look();
      assert.deepEqual(first.gaps, ['rollback@3']);
      assert.match(first.warnings.join('\n'), /is tried again with the next record: .*the disk is full/);
      folder.fileSystem.fault = () => undefined;
      assert.deepEqual((await folder.look()).gaps, ['rollback@3']);
      assert.deepEqual((await folder.look()).gaps, ['rollback@3']);
    });

    it('finds an older copy of the whole folder, and an empty one', async () => {
      const folder = await twoSegments();
      const old = await folder.copy();
      const { journal } = await folder.open();
      await appendNumbers(journal, 7, 8);
      await journal.close();
      old.vault = folder.vault;
      const opened = await old.look();
      assert.deepEqual(numbers(opened.records), [1, 2, 3, 4, 5, 6]);
      assert.deepEqual(opened.gaps, ['rollback@6']);
      const empty = new JournalFolder(undefined, memoryVault(await folder.vault.load()));
      const nothing = await empty.look();
      assert.deepEqual(nothing.gaps, ['rollback@0']);
      assert.match(JSON.stringify(nothing.items), /lines 1 to \d+ of the journal/);
    });

    it('finds another branch of the journal, and applies nothing of it from the anchor on', async () => {
      const folder = await twoSegments();
      const branch = await folder.copy();
      for (const [where, numbers] of [
        [folder, [7, 8, 9]],
        [branch, [-7, -8, -9, -10, -11]],
      ] as const) {
        const { journal } = await where.open();
        for (const n of numbers) await journal.append([{ n }]);
        await journal.close();
      }
      branch.vault = memoryVault(await folder.vault.load());
      const opened = await branch.look();
      assert.deepEqual(
        numbers(opened.records).filter((n) => Number(n) < -8),
        [],
      );
      assert.deepEqual(opened.gaps.map((gap) => gap.split('@')[0]).at(-1), 'rollback');
      assert.ok(opened.damage.length > 0);
    });

    it('does not forget another branch when nothing can be written', async () => {
      const folder = await twoSegments();
      const branch = await folder.copy();
      for (const [where, n] of [
        [folder, 7],
        [branch, -7],
      ] as const) {
        const { journal } = await where.open();
        await journal.append([{ n }]);
        await journal.close();
      }
      branch.vault = memoryVault(await folder.vault.load());
      branch.fileSystem.fault = ({ name }) => (name === 'write' ? { kind: 'fails', code: 'EIO' } : undefined);
      for (let opening = 0; opening < 2; opening += 1) {
        const { journal, records, gaps } = await branch.open();
        assert.deepEqual(numbers(records), [1, 2, 3, 4, 5, 6]);
        assert.equal(gaps.at(-1), 'rollback@6');
        await assert.rejects(journal.append([{ n: 8 }]));
        await journal.close().catch((error: unknown) => assert.match(String(error), /Could not write/));
      }
    });

    it('does not let lost lines come back once the journal went on without them', async () => {
      const folder = await twoSegments();
      const lost = folder.lines(2);
      folder.putLines(2, lost.slice(0, 2));
      const { journal } = await folder.open();
      await appendNumbers(journal, 7, 8);
      await journal.close();
      for (const lines of [
        lost,
        [...lost.slice(0, 2), ...lost.slice(3)],
        [...lost.slice(0, 1), ...lost.slice(2)],
      ]) {
        const copy = await folder.copy();
        copy.putLines(2, lines);
        const opened = await copy.look();
        assert.deepEqual(
          numbers(opened.records).filter((n) => n === 5 || n === 6),
          [],
        );
        assert.ok(
          opened.gaps.includes('rollback@4') || opened.gaps.includes('rollback@3'),
          opened.gaps.join(),
        );
      }
    });

    it('is no reason to fail when it cannot be kept; that is said once', async () => {
      const folder = new JournalFolder();
      const save = async (): Promise<void> => {
        throw new Error('locked');
      };
      folder.vault = { load: async () => undefined, save };
      const { journal, warnings } = await folder.open();
      await appendNumbers(journal, 1, 600);
      await journal.close();
      assert.deepEqual(warnings, [
        'The newest position of the journal could not be kept in the secret storage: locked',
      ]);
    });

    it('that cannot be kept since the window goes away is no word worth', async () => {
      for (const name of ['Canceled', 'Error']) {
        const folder = await twoSegments();
        const usual = folder.vault;
        let isGone = false;
        folder.vault = {
          load: () => usual.load(),
          save: async (content) => {
            if (isGone) throw Object.assign(new Error(name), { name });
            await usual.save(content);
          },
        };
        const { journal, warnings } = await folder.open();
        await journal.append([{ n: 7 }]);
        isGone = true;
        if (name === 'Canceled') await appendNumbers(journal, 8, 300);
        await journal.close();
        assert.deepEqual(warnings, []);
        folder.vault = usual;
        assert.equal((await folder.look()).records.length > 6, true);
      }
    });

    it('does not hold anything up when the vault does not answer', async () => {
      const folder = new JournalFolder();
      const content = await (async (): Promise<VaultContent | undefined> => {
        await folder.look();
        return folder.vault.load();
      })();
      folder.vault = { load: async () => content, save: () => new Promise(() => undefined) };
      const { journal } = await folder.open({ compactBytes: 100 });
      journal.useSnapshot(() => [{ n: 0 }]);
      await appendNumbers(journal, 1, 20);
      await journal.close();
    });

    it('of a later owner is not replaced by an earlier one', async () => {
      const folder = await twoSegments();
      let held = true;
      const first = await folder.open({ epoch: 1, isHeld: () => held });
      await first.journal.append([{ n: 7 }]);
      held = false;
      const second = await folder.open({ epoch: 2 });
      await appendNumbers(second.journal, 8, 9);
      await second.journal.close();
      const newest = await folder.vault.load();
      await first.journal.close();
      assert.deepEqual(await folder.vault.load(), newest);
    });
  });

  describe('key', () => {
    it('that is lost is said as what it is; all lines apply, are signed anew, and the old files are kept', async () => {
      const folder = await twoSegments();
      const before = [1, 2].map((segment) => folder.fileSystem.text(segmentPath(segment)));
      const oldKey = await keyOf(folder);
      folder.vault = memoryVault();
      const first = await folder.open();
      assert.deepEqual(numbers(first.records), [1, 2, 3, 4, 5, 6]);
      assert.deepEqual(first.gaps, ['lost_key@6']);
      assert.match(JSON.stringify(first.items.at(-1)), /no sign of a forgery/);
      assert.deepEqual([first.damage, first.warnings], [[], []]);
      assert.notEqual(await keyOf(folder), oldKey);
      assert.deepEqual(
        [1, 2].map((segment) => folder.fileSystem.text(`${DIR}/kept/00000${segment}.jsonl`)),
        before,
      );
      await first.journal.append([{ n: 7 }]);
      await first.journal.close();
      // From now on everything is verified, and the gap stays where it was.
      const second = await folder.look();
      assert.deepEqual(numbers(second.records), [1, 2, 3, 4, 5, 6, 7]);
      assert.deepEqual(second.gaps, ['lost_key@6']);
      const segment = Number(/(\d+)\.jsonl$/.exec(folder.segments()[0] ?? '')?.[1]);
      folder.putLines(
        segment,
        folder.lines(segment).map((line) => line.replace('"n":3', '"n":-3')),
      );
      assert.deepEqual(numbers((await folder.look()).records), [1, 2, 4, 5, 6, 7]);
    });

    it('that is lost is told no more when the state was written anew', async () => {
      const folder = await twoSegments();
      folder.vault = memoryVault();
      const { journal } = await folder.open();
      journal.useSnapshot(() => [{ n: 100 }]);
      await journal.append([{ n: 7 }]);
      await journal.close();
      const opened = await folder.look();
      assert.deepEqual([numbers(opened.records), opened.gaps], [[100], []]);
    });

    it('that is lost loses nothing, whichever operation fails and wherever the window dies', async () => {
      const plain = await twoSegments();
      plain.vault = memoryVault();
      const from = plain.fileSystem.operations.length;
      await plain.look();
      const count = plain.fileSystem.operations.length - from;
      assert.ok(count > 10);
      for (let at = 0; at < count; at += 1) {
        for (const kind of ['fails', 'fails after the fact'] as const) {
          const folder = await twoSegments();
          folder.vault = memoryVault();
          const begin = folder.fileSystem.operations.length;
          folder.fileSystem.fault = ({ name }, index) =>
            index >= begin + at && name !== 'close' && name !== 'read' ? { kind, code: 'EIO' } : undefined;
          // From this operation on the disk is gone; then the window dies, and the disk is well again.
          const opened = await folder
            .open()
            .catch((error: unknown) => assert.match(String(error), /Could not read/));
          if (opened !== undefined) assert.deepEqual(numbers(opened.records), [1, 2, 3, 4, 5, 6]);
          const dead = await folder.copy();
          const again = await dead.look();
          assert.deepEqual(numbers(again.records), [1, 2, 3, 4, 5, 6], `${kind} from ${at}`);
          assert.equal(again.gaps.at(-1), 'lost_key@6', `${kind} from ${at}`);
          assert.deepEqual(numbers((await dead.look()).records), [1, 2, 3, 4, 5, 6]);
        }
      }
    });

    it('is made again before the next record where that failed on opening', async () => {
      const folder = await twoSegments();
      folder.vault = memoryVault();
      folder.fileSystem.fault = ({ name }) =>
        name === 'write' ? { kind: 'fails', code: 'ENOSPC' } : undefined;
      const { journal, warnings } = await folder.open();
      assert.match(warnings.join('\n'), /tried again with the next record: .*the disk is full/);
      await assert.rejects(journal.append([{ n: 7 }]), /the disk is full/);
      assert.equal(await folder.vault.load(), undefined);
      folder.fileSystem.fault = () => undefined;
      await journal.append([{ n: 8 }]);
      await journal.close();
      const opened = await folder.look();
      assert.deepEqual([numbers(opened.records), opened.gaps], [[1, 2, 3, 4, 5, 6, 8], ['lost_key@6']]);
    });

    it('that cannot be read is not replaced by another', async () => {
      const folder = await twoSegments();
      const vault: Vault = {
        load: async () => {
          throw new Error('no keyring');
        },
        save: async () => undefined,
      };
      const usual = folder.vault;
      folder.vault = vault;
      await assert.rejects(folder.look(), {
        name: 'StorageError',
        message: /could not be read from the secret storage: no keyring\. Unlock the keyring/,
      });
      folder.vault = usual;
      const opened = await folder.look();
      assert.deepEqual([numbers(opened.records), opened.gaps], [[1, 2, 3, 4, 5, 6], []]);
    });

    it('that is another than the one that signed every line is told, and replaced only when that is accepted', async () => {
      const folder = await twoSegments();
      const before = folder.segments().map((file) => folder.fileSystem.text(file));
      folder.vault = (await twoSegments()).vault;
      await assert.rejects(folder.look(), { name: 'ForeignKeyError', message: /signed with another key/ });
      assert.deepEqual(
        folder.segments().map((file) => folder.fileSystem.text(file)),
        before,
      );
      const otherKey = await keyOf(folder);
      const first = await folder.look({ acceptsForeignKey: true });
      assert.deepEqual(numbers(first.records), [1, 2, 3, 4, 5, 6]);
      assert.deepEqual([first.gaps, first.damage], [['foreign_key@6'], []]);
      assert.notEqual(await keyOf(folder), otherKey, 'what the old key signed proves nothing any more');
      const second = await folder.look();
      assert.deepEqual([numbers(second.records), second.gaps], [[1, 2, 3, 4, 5, 6], ['foreign_key@6']]);
    });

    it('that is another is no matter while one line is proven, or none is signed: that is a forgery', async () => {
      const folder = await twoSegments();
      const other = await twoSegments();
      folder.putLines(2, other.lines(2));
      assert.deepEqual(numbers((await folder.look()).records), [1, 2, 3]);
      const spoilt = await twoSegments();
      for (const segment of [1, 2]) spoilt.putLines(segment, ['x', '{"seq":1}']);
      assert.deepEqual(numbers((await spoilt.look({ acceptsForeignKey: true })).records), []);
    });

    it('that is another loses nothing, whichever operation fails while it is accepted', async () => {
      const other = (await twoSegments()).vault;
      const foreign = async () => {
        const folder = await twoSegments();
        folder.vault = memoryVault(await other.load());
        return folder;
      };
      const plain = await foreign();
      const from = plain.fileSystem.operations.length;
      await plain.look({ acceptsForeignKey: true });
      const count = plain.fileSystem.operations.length - from;
      assert.ok(count > 10);
      for (let at = 0; at < count; at += 1) {
        const folder = await foreign();
        const begin = folder.fileSystem.operations.length;
        folder.fileSystem.fault = ({ name }, index) =>
          index >= begin + at && name !== 'close' && name !== 'read'
            ? { kind: 'fails after the fact', code: 'EIO' }
            : undefined;
        await folder
          .open({ acceptsForeignKey: true })
          .catch((error: unknown) => assert.match(String(error), /Could not read/));
        const again = await (await folder.copy()).look({ acceptsForeignKey: true });
        assert.deepEqual(numbers(again.records), [1, 2, 3, 4, 5, 6], `from ${at}`);
        assert.equal(again.gaps.at(-1), 'foreign_key@6', `from ${at}`);
      }
    });

    it('is there before the first record is', async () => {
      const folder = new JournalFolder();
      const { journal } = await folder.open();
      const dead = folder.copy();
      await journal.append([{ n: 1 }]);
      await journal.close();
      assert.equal(await keyOf(await dead), await keyOf(folder));
    });
  });

  describe('journal of version 1', () => {
    const V1 = [
      '{"journal":1,"segment":1,"previous":null}',
      '{"seq":1,"n":1}',
      '{"seq":2,"batch":[{"n":2},{"n":3}]}',
      '{"seq":4,"n":4}',
    ];

    it('is taken over, with a word of its own, and signed', async () => {
      const folder = new JournalFolder();
      folder.putLines(1, V1);
      const refused = '{"seq":5,"n":-5}';
      const bytes = folder.fileSystem.text(segmentPath(1)).length;
      folder.putLines(1, [...V1, refused]);
      folder.putLines(2, [
        `{"journal":1,"segment":2,"previous":{"segment":1,"bytes":${bytes}}}`,
        '{"seq":5,"n":5}',
      ]);
      const first = await folder.open();
      assert.deepEqual(numbers(first.records), [1, 2, 3, 4, 5]);
      assert.deepEqual(first.gaps, ['lost_key@5']);
      assert.match(JSON.stringify(first.items.at(-1)), /a version of Handshake that did not sign it/);
      assert.deepEqual(first.damage, []);
      await first.journal.append([{ n: 6 }]);
      await first.journal.close();
      const second = await folder.look();
      assert.deepEqual(numbers(second.records), [1, 2, 3, 4, 5, 6]);
      assert.deepEqual(second.damage, []);
    });

    it('names its damage, and never applies a number twice', async () => {
      const folder = new JournalFolder();
      folder.putLines(1, [...V1, '{"seq":4,"n":-4}', 'x', '{"seq":6,"n":6}', '{"seq":7,"ba']);
      const { records, damage, gaps } = await folder.look();
      assert.deepEqual(numbers(records), [1, 2, 3, 4, 6]);
      assert.deepEqual(
        damage.map((one) => one.slice(0, 14)),
        ['000001.jsonl:5', '000001.jsonl:6', '000001.jsonl:8'],
      );
      assert.deepEqual(gaps.slice(0, 1), ['damage@4']);
      assert.equal(gaps.at(-1), 'lost_key@5');
    });

    it('is not taken over where there is a key: somebody put it there', async () => {
      const folder = await twoSegments();
      folder.fileSystem.files.delete(segmentPath(2));
      folder.putLines(1, V1);
      const { records, gaps } = await folder.look();
      assert.deepEqual(records, []);
      assert.deepEqual(gaps, ['rollback@0']);
    });
  });
});
