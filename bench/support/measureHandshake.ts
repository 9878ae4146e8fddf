import { runChild } from './child';
import { makeFolder } from './folder';
import { handshakeReport } from './reports';
import { medianOf, spreadOf } from './statistics';
import type { Row } from './table';

/** Of one alone; fewer of several at once. */
const ROUNDS = 200;
/** A handshake alone waits for two syncs, one for the request and one for the decision. */
const AIM_RAW_SYNCS = 2.5;
const AIM_TOGETHER = 20;

/** Shutdown handshakes without a model, alone and waiting together, beside plain appends with `fdatasync`. */
export async function measureHandshake(): Promise<Row[]> {
  const folder = await makeFolder();
  try {
    const args = [folder.workspace, folder.storage, String(ROUNDS)];
    const { runs, rawAppendMs } = await runChild('handshake', handshakeReport, { args });
    const rates = runs.map(({ atOnce, ms }) => ({
      atOnce,
      perSecond: ms.map((one) => (atOnce * 1000) / one),
    }));
    const [alone, most] = [rates.at(0), rates.at(-1)];
    if (alone === undefined || most === undefined) throw new Error('No handshake was measured.');
    const aloneMs = 1000 / medianOf(alone.perSecond);
    return [
      ...rates.map(({ atOnce, perSecond }) => ({
        figure: `durable handshakes, ${atOnce === 1 ? 'one alone' : `${atOnce} at once`}`,
        value: spreadOf(perSecond),
        unit: '/s',
      })),
      { figure: 'one append + fdatasync', value: spreadOf(rawAppendMs), unit: 'ms' },
      {
        figure: 'one handshake alone ÷ append (it needs two)',
        value: aloneMs / medianOf(rawAppendMs),
        unit: '×',
        aim: { atMost: AIM_RAW_SYNCS },
      },
      {
        figure: `rate of ${most.atOnce} at once ÷ rate of one alone`,
        value: medianOf(most.perSecond) / medianOf(alone.perSecond),
        unit: '×',
        aim: { atLeast: AIM_TOGETHER },
      },
    ];
  } finally {
    await folder.remove();
  }
}
