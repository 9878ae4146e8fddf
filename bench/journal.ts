/**
 * The journal alone. Appends, one alone and 100 that wait together, in turns with one plain append with
 * `fdatasync` of as many bytes. Then opens a journal of so many lines, as a window does when it is opened:
 * reads, checks every code and the chain, parses. Without snapshots, which would keep it from growing so
 * large. Beside it what cannot be saved: reading the same files and parsing each line as JSON. Arguments:
 * folder, lines, openings, rounds of appends.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import * as path from 'node:path';
import { Journal, memoryVault } from '../src/store';
import { argument, report } from './support/child';
import type { JournalReport } from './support/reports';
import { timed } from './support/statistics';

const PER_WRITE = 1000;
const TOGETHER = 100;
const WARM_UP = 20;
/** What a line of the journal has beside its record. */
const CODE_BYTES = 100;

type AppendTimes = Pick<JournalReport, 'aloneMs' | 'togetherMs' | 'rawAppendMs'>;
type OpenTimes = Pick<JournalReport, 'openMs' | 'parseMs'>;

/** About as long as what a team writes: a message of two or three sentences. */
function sampleRecord(n: number): Record<string, unknown> {
  return {
    t: 'mail',
    message: {
      id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      type: 'message',
      from: 'lead',
      to: 'alice',
      content: 'Please look at the parser once more. The last test fails on an empty file, and only there.',
      timestamp: 1_700_000_000 + n,
    },
  };
}

function onDamage({ reason }: { reason: string }): never {
  throw new Error(reason);
}

report(async (): Promise<JournalReport> => {
  const folder = argument(0, 'folder');
  mkdirSync(folder, { recursive: true });
  const lines = Number(argument(1, 'lines'));
  const appends = await timeAppends(folder, Number(argument(3, 'rounds')));
  return { ...appends, ...(await timeOpening(folder, lines, Number(argument(2, 'openings')))) };
});

async function timeAppends(folder: string, rounds: number): Promise<AppendTimes> {
  const { journal } = await Journal.open(path.join(folder, 'appends'), { onDamage, vault: memoryVault() });
  const raw = await open(path.join(folder, 'raw'), 'w');
  let end = 0;
  let n = 0;
  const append = (): Promise<void> => journal.append([sampleRecord(n++)]);
  const bytes = Buffer.from(`${JSON.stringify(sampleRecord(0))}${' '.repeat(CODE_BYTES)}\n`);
  const result: AppendTimes = { aloneMs: [], togetherMs: [], rawAppendMs: [] };
  for (let round = -WARM_UP; round < rounds; round++) {
    const aloneMs = await timed(append);
    const rawAppendMs = await timed(async () => {
      await raw.write(bytes, 0, bytes.length, end);
      await raw.datasync();
      end += bytes.length;
    });
    const togetherMs = await timed(async () => {
      await Promise.all(Array.from({ length: TOGETHER }, append));
    });
    if (round < 0) continue;
    result.aloneMs.push(aloneMs);
    result.rawAppendMs.push(rawAppendMs);
    result.togetherMs.push(togetherMs);
  }
  await raw.close();
  await journal.close();
  return result;
}

async function timeOpening(folder: string, lines: number, openings: number): Promise<OpenTimes> {
  const dir = path.join(folder, 'journal');
  const vault = memoryVault();
  const { journal } = await Journal.open(dir, { onDamage, vault });
  for (let n = 0; n < lines; n += PER_WRITE) {
    const size = Math.min(PER_WRITE, lines - n);
    await Promise.all(Array.from({ length: size }, (_, at) => journal.append([sampleRecord(n + at)])));
  }
  await journal.close();

  const result: OpenTimes = { openMs: [], parseMs: [] };
  for (let opening = 0; opening < openings; opening++) {
    const begun = performance.now();
    const opened = await Journal.open(dir, { onDamage, vault });
    result.openMs.push(performance.now() - begun);
    if (opened.items.length !== lines)
      throw new Error(`${opened.items.length} of ${lines} records are there.`);
    await opened.journal.close();
    result.parseMs.push(timeParsing(dir));
  }
  return result;
}

function timeParsing(dir: string): number {
  const begun = performance.now();
  for (const name of readdirSync(dir)) {
    const text = readFileSync(path.join(dir, name), 'utf8');
    for (const line of text.split('\n')) if (line !== '') JSON.parse(line);
  }
  return performance.now() - begun;
}
