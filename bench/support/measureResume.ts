import { runChild } from './child';
import { makeFolder } from './folder';
import { resumeReport } from './reports';
import { spreadOf } from './statistics';
import type { Row } from './table';

const TEAMMATES = 20;
const BYTES_EACH = 6 << 20;
const OPENINGS = 9;

/** Opening a team again that was at work: histories are read when their members go on, not before. */
export async function measureResume(): Promise<Row[]> {
  const folder = await makeFolder();
  try {
    const rest = [folder.storage, folder.workspace, String(TEAMMATES), String(BYTES_EACH)];
    await runChild('resume', resumeReport, { args: ['make', ...rest] });
    const runs = [];
    for (let n = 0; n < OPENINGS; n++) {
      runs.push(await runChild('resume', resumeReport, { args: ['open', ...rest], node: ['--expose-gc'] }));
    }
    const total = Math.round((TEAMMATES * BYTES_EACH) / 1e6);
    return [
      {
        figure: `opening a team of ${TEAMMATES} with ${total} MB of transcripts`,
        value: spreadOf(runs.map((run) => run.openMs)),
        unit: 'ms',
        aim: { atMost: 500 },
      },
      {
        figure: '  heap growth',
        value: spreadOf(runs.map((run) => run.heapBytes / 1e6)),
        unit: 'MB',
        aim: { atMost: 60 },
      },
    ];
  } finally {
    await folder.remove();
  }
}
