import { runChild } from './child';
import { makeFolder } from './folder';
import { journalReport } from './reports';
import { medianOf, spreadOf } from './statistics';
import type { Row } from './table';

const LINES = 100_000;
const OPENINGS = 5;
const ROUNDS = 200;
const TOGETHER = 100;

/** Appends beside plain ones, and opening a long journal beside parsing the same lines without checking anything. */
export async function measureJournal(): Promise<Row[]> {
  const folder = await makeFolder();
  try {
    const args = [folder.storage, String(LINES), String(OPENINGS), String(ROUNDS)];
    const times = await runChild('journal', journalReport, { args });
    const [alone, together, raw] = [times.aloneMs, times.togetherMs, times.rawAppendMs].map(medianOf);
    if (alone === undefined || together === undefined || raw === undefined)
      throw new Error('Nothing was measured.');
    return [
      { figure: 'journal, one append', value: spreadOf(times.aloneMs), unit: 'ms' },
      { figure: `journal, ${TOGETHER} appends at once`, value: spreadOf(times.togetherMs), unit: 'ms' },
      { figure: 'plain append + fdatasync', value: spreadOf(times.rawAppendMs), unit: 'ms' },
      { figure: 'one append ÷ plain append', value: alone / raw, unit: '×', aim: { atMost: 2.5 } },
      {
        figure: `rate of ${TOGETHER} at once ÷ rate of one`,
        value: (TOGETHER * alone) / together,
        unit: '×',
        aim: { atLeast: 20 },
      },
      {
        figure: `opening a journal of ${LINES.toLocaleString('en')} lines`,
        value: spreadOf(times.openMs),
        unit: 'ms',
        aim: { atMost: 1000 },
      },
      { figure: '  of it reading and parsing alone', value: spreadOf(times.parseMs), unit: 'ms' },
    ];
  } finally {
    await folder.remove();
  }
}
