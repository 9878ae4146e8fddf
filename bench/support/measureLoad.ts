import { runChild, type Server, startServer } from './child';
import { type BenchFolder, makeFolder, SAMPLE_FILE } from './folder';
import { CALLS, MEMBERS, ROUNDS } from './load';
import { type LoadReport, loadReport, type UsageReport } from './reports';
import { spreadOf } from './statistics';
import type { Row } from './table';

const REPEATS = 7;

interface Side {
  label: string;
  run(url: string, folder: BenchFolder): Promise<LoadReport>;
}

const SIDES: readonly [Side, Side, Side] = [
  {
    label: 'team',
    run: (url, { workspace, storage }) =>
      runChild('teamSide', loadReport, { args: [url, workspace, storage] }),
  },
  { label: 'SDK helper', run: (url, { workspace }) => bare(url, workspace, 'helper') },
  { label: 'SDK raw events', run: (url, { workspace }) => bare(url, workspace, 'iterator') },
];

function bare(url: string, workspace: string, variant: 'helper' | 'iterator'): Promise<LoadReport> {
  return runChild('bareSide', loadReport, { args: [url, workspace, variant] });
}

const FIGURES: readonly { key: keyof UsageReport; what: string; unit: string }[] = [
  { key: 'cpuMs', what: 'CPU', unit: 'ms' },
  { key: 'wallMs', what: 'wall time', unit: 'ms' },
  { key: 'delayP50Ms', what: 'loop delay p50', unit: 'ms' },
  { key: 'delayP99Ms', what: 'loop delay p99', unit: 'ms' },
  { key: 'peakRssMb', what: 'peak RSS', unit: 'MB' },
  { key: 'heapMb', what: 'heap at end', unit: 'MB' },
];

/** The team beside two bare SDK loops that make the same calls, each run in a fresh process, in turns. */
export async function measureLoad(): Promise<Row[]> {
  const server = await startServer('modelServer', [
    ...['--brain', 'bench', '--rounds', String(ROUNDS), '--tool', 'read_file'],
    ...['--input', JSON.stringify({ path: SAMPLE_FILE })],
  ]);
  try {
    // The server's first run is slower than its others, which no side should pay for.
    await runOnce(SIDES[1], server);
    const runs: LoadReport[][] = SIDES.map(() => []);
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      for (const [index, side] of SIDES.entries()) runs[index]?.push(await runOnce(side, server));
    }
    return rowsOf(runs);
  } finally {
    await server.stop();
  }
}

async function runOnce(side: Side, { url }: Server): Promise<LoadReport> {
  const folder = await makeFolder();
  try {
    const result = await side.run(url, folder);
    if (result.calls !== CALLS)
      throw new Error(
        `${side.label} made ${result.calls} calls and not ${CALLS}; the sides cannot be compared.`,
      );
    return result;
  } finally {
    await folder.remove();
  }
}

function rowsOf([team = [], helper = [], raw = []]: readonly LoadReport[][]): Row[] {
  const load = `${MEMBERS} × ${ROUNDS}`;
  const rows = FIGURES.flatMap(({ key, what, unit }) =>
    [team, helper, raw].map(
      (runs, index): Row => ({
        figure: `${load}, ${what}, ${SIDES[index]?.label ?? ''}`,
        value: spreadOf(runs.map((run) => run[key])),
        unit,
      }),
    ),
  );
  const ratio = (to: readonly LoadReport[], key: keyof UsageReport) =>
    spreadOf(team.map((run, index) => run[key] / (to[index]?.[key] ?? Number.NaN)));
  return [
    ...rows,
    {
      figure: `${load}, CPU, team ÷ SDK helper`,
      value: ratio(helper, 'cpuMs'),
      unit: '×',
      aim: { atMost: 1.3 },
    },
    { figure: `${load}, CPU, team ÷ SDK raw events`, value: ratio(raw, 'cpuMs'), unit: '×' },
    { figure: `${load}, wall time, team ÷ SDK helper`, value: ratio(helper, 'wallMs'), unit: '×' },
  ];
}
