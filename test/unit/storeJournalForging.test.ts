import assert from 'node:assert/strict';
import fc from 'fast-check';
import { memoryVault } from '../../src/store';
import { appendNumbers, JournalFolder, numbers, type Opened, segmentPath } from './support/journalFolder';

/** A journal of the records 1 to 6, in the lines 2 to 7 of its one segment. */
async function sixRecords(): Promise<JournalFolder> {
  const folder = new JournalFolder();
  const { journal } = await folder.open();
  await appendNumbers(journal, 1, 6);
  await journal.close();
  return folder;
}

/** Changes the lines of the one segment (index 0 is the header), and opens. */
async function openedAfter(change: (lines: string[]) => string[]): Promise<Opened> {
  const folder = await sixRecords();
  folder.putLines(1, change(folder.lines(1)));
  return folder.look();
}

/** Swaps two of the lines. */
function swapped(lines: readonly string[], a: number, b: number): string[] {
  return lines.map((line, at) => (at === a ? (lines[b] ?? '') : at === b ? (lines[a] ?? '') : line));
}

describe('journal in the hands of a forger', function () {
  this.timeout(60_000);

  it('case 23: sets a damaged line aside, names it, and tells the gap where it stands', async () => {
    const damages: [(line: string) => string, RegExp][] = [
      [(line) => line.replace('"n":3', '"n":9'), /^000001\.jsonl:4 its authentication code does not fit/],
      [(line) => `\0\0${line}`, /^000001\.jsonl:4 the line holds NUL bytes/],
      [(line) => line.slice(0, 20), /^000001\.jsonl:4 the line is not valid JSON/],
      [() => 'no JSON at all', /^000001\.jsonl:4 the line is not valid JSON/],
      [() => '', /^000001\.jsonl:4 the line is not valid JSON/],
      [(line) => line.replace('"seq":4', '"seq":900'), /^000001\.jsonl:4 its authentication code/],
      [
        (line) => line.replace(/"mac":"(.)/, (_, first) => `"mac":"${first === '-' ? '_' : '-'}`),
        /^000001\.jsonl:4 its authentication code/,
      ],
      [(line) => line.replace(/,"mac".*/, '}'), /^000001\.jsonl:4 its authentication code/],
      [(line) => `${line} `, /^000001\.jsonl:4 its authentication code/],
    ];
    for (const [change, expected] of damages) {
      const opened = await openedAfter((lines) => lines.map((line, at) => (at === 3 ? change(line) : line)));
      assert.deepEqual(numbers(opened.records), [1, 2, 4, 5, 6]);
      assert.deepEqual(opened.gaps, ['damage@2']);
      assert.equal(opened.damage.length, 1, opened.damage.join('\n'));
      assert.match(opened.damage[0] ?? '', expected);
    }
  });

  it('case 23: a torn tail is told once, keeps its bytes, and the next record is whole', async () => {
    const folder = await sixRecords();
    const { journal } = await folder.open();
    await appendNumbers(journal, 7, 8);
    // As after a crash: nothing is closed, and the last line is cut.
    const torn = await folder.copy();
    torn.vault = memoryVault({ key: (await folder.vault.load())?.key ?? '', anchor: null });
    const text = torn.fileSystem.text(segmentPath(2)).slice(0, -30);
    torn.fileSystem.put(segmentPath(2), text);
    const second = await torn.open();
    assert.deepEqual(numbers(second.records), [1, 2, 3, 4, 5, 6, 7]);
    assert.match(second.damage.join('\n'), /^000002\.jsonl:3 the line was cut off while it was written$/);
    assert.deepEqual(second.gaps, []);
    await second.journal.append([{ n: 9 }]);
    await second.journal.close();
    const third = await torn.look();
    assert.deepEqual(numbers(third.records), [1, 2, 3, 4, 5, 6, 7, 9]);
    assert.deepEqual(third.damage, []);
    assert.equal(torn.fileSystem.text(segmentPath(2)), text);
  });

  it('reports lines that were taken away, and what follows them applies', async () => {
    const opened = await openedAfter((lines) => lines.filter((_, at) => at !== 3 && at !== 4));
    assert.deepEqual(numbers(opened.records), [1, 2, 5, 6]);
    assert.deepEqual(opened.gaps, ['damage@2']);
    assert.deepEqual(opened.damage, [
      '000001.jsonl:4 lines 4 to 5 of the journal are missing before this line',
    ]);
    const [gap] = opened.items.filter((item) => 'gap' in item);
    assert.deepEqual(gap, {
      gap: 'Lines 4 to 5 of the journal are damaged or missing and were left out.',
      cause: 'damage',
    });
  });

  it('puts swapped lines back in order, applies each once, and says so', async () => {
    for (const [a, b] of [
      [2, 3],
      [1, 6],
      [0, 1],
    ] as const) {
      const opened = await openedAfter((lines) => swapped(lines, a, b));
      assert.deepEqual(numbers(opened.records), [1, 2, 3, 4, 5, 6]);
      assert.deepEqual(opened.gaps, []);
      assert.deepEqual(
        opened.damage.map((one) => one.replace(/ it was read as number \d+$/, '')),
        [a, b].map((at) => `000001.jsonl:${at + 1} the line stands in the wrong place;`),
      );
    }
  });

  it('never applies a line twice', async () => {
    for (const to of [0, 1, 3, 6, 7]) {
      const opened = await openedAfter((lines) => [
        ...lines.slice(0, to),
        lines[2] ?? '',
        ...lines.slice(to),
      ]);
      assert.deepEqual(numbers(opened.records), [1, 2, 3, 4, 5, 6]);
      assert.deepEqual(opened.gaps, []);
      assert.equal(opened.damage.length > 0, true);
      assert.match(opened.damage.join('\n'), /the line repeats line \d+ \(sequence number 3\)/);
    }
  });

  it('applies nothing that another key has signed', async () => {
    const folder = await sixRecords();
    const other = await sixRecords();
    folder.putLines(1, [...folder.lines(1), ...other.lines(1).slice(1)]);
    const opened = await folder.look();
    assert.deepEqual(numbers(opened.records), [1, 2, 3, 4, 5, 6]);
    assert.equal(opened.damage.length, 6);
    assert.ok(opened.damage.every((one) => /written with another key/.test(one)));
    folder.putLines(1, other.lines(1));
    const replaced = await folder.look();
    assert.deepEqual(replaced.records, []);
    assert.equal(replaced.damage.length > 0, true);
    assert.equal(replaced.gaps.length, 1);
  });

  it('applies no line in another segment than its own', async () => {
    const folder = await sixRecords();
    const { journal } = await folder.open();
    await appendNumbers(journal, 7, 8);
    await journal.close();
    const copy = await folder.copy();
    copy.putLines(2, [...copy.lines(2), copy.lines(1)[3] ?? '']);
    const opened = await copy.look();
    assert.deepEqual(numbers(opened.records), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.match(opened.damage.join('\n'), /^000002\.jsonl:4 the line belongs to segment 1$/);
    // A whole segment under another name, and one in the place of another.
    const renamed = await folder.copy();
    renamed.putLines(3, renamed.lines(2));
    assert.deepEqual(numbers((await renamed.look()).records), [1, 2, 3, 4, 5, 6, 7, 8]);
    const replaced = await folder.copy();
    replaced.putLines(1, replaced.lines(2));
    const opened2 = await replaced.look();
    assert.deepEqual(numbers(opened2.records), [7, 8]);
    assert.deepEqual(opened2.gaps, ['damage@0']);
  });

  it('replays refused bytes never, wherever they are moved', async () => {
    const folder = new JournalFolder();
    const { journal } = await folder.open();
    await appendNumbers(journal, 1, 2);
    const before = folder.lines(1);
    let refused: string[] = [];
    folder.fileSystem.fault = ({ name, path }) => {
      if (name !== 'datasync' || path !== segmentPath(1)) return undefined;
      refused = refused.length > 0 ? refused : folder.lines(1).slice(before.length);
      return { kind: 'fails', code: 'EIO' };
    };
    const failed = await Promise.allSettled([journal.append([{ n: -1 }]), journal.append([{ n: -2 }])]);
    assert.ok(failed.every(({ status }) => status === 'rejected'));
    folder.fileSystem.fault = () => undefined;
    await appendNumbers(journal, 3, 5);
    await journal.close();
    assert.equal(refused.length, 2);

    const attempts: ((copy: JournalFolder) => void)[] = [
      (copy) => copy.putLines(1, [...copy.lines(1), ...refused]),
      (copy) => copy.putLines(1, [...copy.lines(1).slice(0, 1), ...refused]),
      (copy) => copy.putLines(1, [...refused, ...copy.lines(1)]),
      (copy) => copy.putLines(2, [...copy.lines(2), ...refused]),
      (copy) => copy.putLines(2, [...refused, ...copy.lines(2).slice(1)]),
      (copy) => {
        // The header that ends the first segment is destroyed as well.
        copy.putLines(1, [...copy.lines(1), ...refused]);
        copy.putLines(2, copy.lines(2).slice(1));
      },
      (copy) => {
        copy.putLines(1, [...copy.lines(1), ...refused]);
        copy.putLines(2, copy.lines(2).slice(2));
      },
      (copy) => {
        copy.putLines(1, [...copy.lines(1), ...refused]);
        copy.fileSystem.files.delete(segmentPath(2));
      },
    ];
    for (const [number, attempt] of attempts.entries()) {
      const copy = await folder.copy();
      attempt(copy);
      const opened = await copy.look();
      assert.ok(
        numbers(opened.records).every((n) => typeof n === 'number' && n > 0),
        `attempt ${number}: ${JSON.stringify(opened.records)} ${opened.damage.join('\n')}`,
      );
      if (number > 0) assert.ok(opened.damage.length + opened.gaps.length > 0, `attempt ${number}`);
    }
  });

  it('goes on after a line at the end was damaged, and the gap stays where it was', async () => {
    const folder = await sixRecords();
    const last = folder.lines(1).at(-1) ?? '';
    folder.putLines(1, [...folder.lines(1).slice(0, -1), last.replace('"n":6', '"n":7')]);
    for (let opening = 0; opening < 2; opening += 1) {
      const { journal, records, gaps, damage } = await folder.open();
      assert.deepEqual(numbers(records), [1, 2, 3, 4, 5, ...(opening > 0 ? [8] : [])]);
      assert.deepEqual(gaps, ['damage@5']);
      assert.equal(damage.length, 1);
      if (opening === 0) await journal.append([{ n: 8 }]);
      await journal.close();
    }
    // The true line, put back later, is behind what the next segment was begun with.
    folder.putLines(1, [...folder.lines(1).slice(0, -1), last]);
    assert.deepEqual(numbers((await folder.look()).records), [1, 2, 3, 4, 5, 8]);
  });

  it('goes on behind a segment that is empty, has no header, or half of one', async () => {
    for (const content of ['', '{"journal":2,"segm', 'no header\n']) {
      const folder = await sixRecords();
      folder.fileSystem.put(segmentPath(2), content);
      const { journal, records, damage } = await folder.open();
      assert.deepEqual(numbers(records), [1, 2, 3, 4, 5, 6]);
      assert.equal(damage.length, 1);
      assert.match(damage[0] ?? '', /^000002\.jsonl:1 /);
      await journal.append([{ n: 7 }]);
      await journal.close();
      assert.deepEqual(numbers((await folder.look()).records), [1, 2, 3, 4, 5, 6, 7]);
      assert.equal(folder.fileSystem.text(segmentPath(2)), content);
    }
  });

  it('applies the true one of two lines of one number, as the chain has it', async () => {
    // The same key signs two branches: a copy of the folder was used by another machine.
    const folder = await sixRecords();
    const key = (await folder.vault.load())?.key ?? '';
    const branch = await folder.copy();
    const here = await folder.open();
    await appendNumbers(here.journal, 7, 9);
    await here.journal.close();
    const there = await branch.open();
    for (const n of [-7, -8, -9]) await there.journal.append([{ n }]);
    await there.journal.close();
    const forged = branch.lines(2);
    const true2 = folder.lines(2);
    for (const lines of [
      [...true2.slice(0, 2), forged[2] ?? '', ...true2.slice(2)],
      [...true2.slice(0, 2), ...forged.slice(2, 3), ...true2.slice(3)],
      [...forged.slice(1, 2), ...true2],
    ]) {
      for (const anchor of [null, (await folder.vault.load())?.anchor ?? null]) {
        const copy = await folder.copy();
        copy.vault = memoryVault({ key, anchor });
        copy.putLines(2, lines);
        const opened = await copy.look();
        assert.ok(
          numbers(opened.records).every((n) => Number(n) > 0),
          JSON.stringify(opened.records),
        );
        assert.ok(opened.damage.length > 0);
      }
    }
  });

  /** One change of one line, as a forger or a bad disk makes it. */
  const change = fc.oneof(
    fc.record({
      kind: fc.constant('edit' as const),
      line: fc.nat(),
      at: fc.nat(),
      byte: fc.nat({ max: 255 }),
    }),
    fc.record({ kind: fc.constant('remove' as const), line: fc.nat() }),
    fc.record({ kind: fc.constant('swap' as const), line: fc.nat(), other: fc.nat() }),
    fc.record({ kind: fc.constant('repeat' as const), line: fc.nat(), other: fc.nat() }),
    fc.record({ kind: fc.constant('truncate' as const), bytes: fc.nat() }),
  );

  it('property: no single change forges, repeats or reorders a record, and each is reported', async () => {
    const bases = [await longJournal(), await compactedJournal()];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...bases), fc.nat(), change, async (base, which, made) => {
        const copy = await base.copy();
        const truth = numbers((await (await base.copy()).look()).records);
        fc.pre(tampered(copy, which, made));
        const opened = await copy.open();
        const found = numbers(opened.records);
        // What is there is there once, in the true order, and nothing else is.
        assert.deepEqual(
          found,
          truth.filter((n) => found.includes(n)),
        );
        assert.ok(opened.damage.length + opened.gaps.length > 0, `${which} ${JSON.stringify(made)}`);
        if (found.length < truth.length) assert.equal(opened.gaps.length, 1, opened.damage.join('\n'));
        assert.ok(found.length >= truth.length - (made.kind === 'truncate' ? truth.length : 1));
        // The journal goes on, and says the same again or has it in a header.
        await opened.journal.append([{ n: 1000 }]);
        await opened.journal.close();
        const again = await copy.look();
        assert.deepEqual(numbers(again.records), [...found, 1000]);
        assert.deepEqual(again.gaps.length, opened.gaps.length);
      }),
      { numRuns: 800, seed: 3117 },
    );
  });

  it('property: no number of changes makes a record that was not there, or one of two', async () => {
    const bases = [await longJournal(), await compactedJournal()];
    const changes = fc.array(fc.tuple(fc.nat(), change), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...bases), changes, async (base, all) => {
        const copy = await base.copy();
        const truth = numbers((await (await base.copy()).look()).records);
        for (const [which, made] of all) tampered(copy, which, made);
        const opened = await copy.open();
        const found = numbers(opened.records);
        assert.deepEqual(
          found,
          truth.filter((n) => found.includes(n)),
        );
        if (found.length < truth.length) assert.ok(opened.gaps.length > 0, opened.damage.join('\n'));
        await opened.journal.append([{ n: 1000 }]);
        await opened.journal.close();
        const again = await copy.look();
        assert.deepEqual(numbers(again.records), [...found, 1000]);
      }),
      { numRuns: 500, seed: 2718 },
    );
  });
});

/** Changes one of the segments; false where that leaves it as it was. */
function tampered(folder: JournalFolder, which: number, change: Change): boolean {
  const path = folder.segments()[which % folder.segments().length] ?? '';
  const bytes = Buffer.from(folder.fileSystem.text(path));
  const changed = changeBytes(bytes, change);
  folder.fileSystem.put(path, changed);
  return !changed.equals(bytes);
}

/** A snapshot, and records behind it. */
async function compactedJournal(): Promise<JournalFolder> {
  const folder = new JournalFolder();
  const { journal } = await folder.open({ compactBytes: 500 });
  const state: number[] = [];
  journal.useSnapshot(() => state.map((n) => ({ n })));
  for (let n = 1; n <= 12; n += 1) await journal.append([{ n }], () => state.push(n));
  await journal.close();
  assert.ok(!folder.segments().includes(segmentPath(1)));
  return folder;
}

/** Three segments, with single records, batches and a refused write among them. */
async function longJournal(): Promise<JournalFolder> {
  const folder = new JournalFolder();
  let n = 0;
  for (let opening = 1; opening <= 3; opening += 1) {
    const { journal } = await folder.open({ epoch: opening });
    for (let line = 0; line < 5; line += 1) {
      await journal.append(line === 2 ? [{ n: ++n }] : [{ n: ++n, text: 'some é text' }]);
    }
    if (opening === 2) {
      folder.fileSystem.fault = ({ name }) =>
        name === 'datasync' ? { kind: 'fails', code: 'EIO' } : undefined;
      await assert.rejects(journal.append([{ n: -1 }]));
      folder.fileSystem.fault = () => undefined;
      await journal.append([{ n: ++n }]);
    }
    await journal.close();
  }
  return folder;
}

type Change =
  | { kind: 'edit'; line: number; at: number; byte: number }
  | { kind: 'remove'; line: number }
  | { kind: 'swap' | 'repeat'; line: number; other: number }
  | { kind: 'truncate'; bytes: number };

function changeBytes(bytes: Buffer, change: Change): Buffer {
  if (change.kind === 'truncate') return bytes.subarray(0, change.bytes % (bytes.length + 1));
  const lines = bytes.toString('latin1').split('\n').slice(0, -1);
  if (lines.length === 0) return bytes;
  const at = change.line % lines.length;
  const line = lines[at] ?? '';
  if (change.kind === 'edit') {
    const position = change.at % Math.max(1, line.length);
    lines[at] = line.slice(0, position) + String.fromCharCode(change.byte) + line.slice(position + 1);
  } else if (change.kind === 'remove') {
    lines.splice(at, 1);
  } else {
    const other = change.other % lines.length;
    if (change.kind === 'repeat') lines.splice(other, 0, line);
    else [lines[at], lines[other]] = [lines[other] ?? '', line];
  }
  return Buffer.from(lines.map((text) => `${text}\n`).join(''), 'latin1');
}
