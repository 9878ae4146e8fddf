import { runChild } from './child';
import { makeFolder } from './folder';
import { boardReport } from './reports';
import { medianOf, percentileOf, spreadOf } from './statistics';
import type { Row } from './table';

const TEAMMATES = 100;
const TASKS = 1000;
const REST_S = 30;
/** What cannot be told from nothing: one part in two hundred of one core. */
const AIM_REST_MS = REST_S * 5;
const AIM_CLAIM_MS = 20;
const AIM_MEMBER_KB = 50;

/** A team of 100 with nothing to do over a board of 1,000 tasks, and then the tasks one after the other. */
export async function measureBoard(): Promise<Row[]> {
  const folder = await makeFolder();
  try {
    const args = [folder.workspace, folder.storage, String(TEAMMATES), String(TASKS), String(REST_S)];
    const options = { args, node: ['--expose-gc'] };
    const measured = await runChild('board', boardReport, options);
    const { restCpuMs, memberBytes, transcriptBytes, claimMs, syncedMs, rawAppendMs } = measured;
    return [
      {
        figure: `${TEAMMATES} idle teammates, ${TASKS} tasks: CPU in ${REST_S} s`,
        value: restCpuMs,
        unit: 'ms',
        aim: { atMost: AIM_REST_MS },
      },
      {
        figure: 'heap an idle teammate',
        value: memberBytes / 1024,
        unit: 'KB',
        aim: { atMost: AIM_MEMBER_KB },
      },
      { figure: '  its transcript on the disk', value: transcriptBytes / 1024, unit: 'KB' },
      { figure: 'complete_task to the dependent’s claim', value: spreadOf(claimMs), unit: 'ms' },
      { figure: '  p99', value: percentileOf(claimMs, 99), unit: 'ms', aim: { atMost: AIM_CLAIM_MS } },
      { figure: '  from its record on the disk', value: spreadOf(syncedMs), unit: 'ms' },
      {
        figure: '  ÷ append (it needs one)',
        value: medianOf(claimMs) / medianOf(rawAppendMs),
        unit: '×',
      },
      { figure: '  one append + fdatasync', value: spreadOf(rawAppendMs), unit: 'ms' },
      { figure: '  one append + fdatasync, p99', value: percentileOf(rawAppendMs, 99), unit: 'ms' },
    ];
  } finally {
    await folder.remove();
  }
}
