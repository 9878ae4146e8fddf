import { runChild, startServer } from './child';
import { makeFolder, SAMPLE_FILE } from './folder';
import { MEMBERS } from './load';
import { callReport, prefixReport, type StreamReport, streamReport } from './reports';
import { medianOf, spreadOf } from './statistics';
import type { Row } from './table';

const TURNS = 50;
const CALL_RUNS = 5;
const STREAM_RUNS = 3;
/** Pieces of one answer, and the milliseconds between two: 50 a second. */
const PIECES = 400;
const BETWEEN_MS = 20;

/** What the model's side costs: repeated input, CPU of a call, and many slow streams at once. */
export async function measureModel(): Promise<Row[]> {
  return [...(await measurePrefix()), ...(await measureCalls()), ...(await measureStreams())];
}

async function measurePrefix(): Promise<Row[]> {
  const rounds = ['--rounds', String(TURNS - 1), '--tool', 'read_file'];
  const input = ['--input', JSON.stringify({ path: SAMPLE_FILE })];
  const server = await startServer('modelServer', ['--brain', 'bench', ...rounds, ...input]);
  const folder = await makeFolder();
  try {
    const args = [server.url, folder.workspace, folder.storage];
    const { calls, share, ofRepeatable } = await runChild('prefixSide', prefixReport, { args });
    if (calls !== TURNS) throw new Error(`The conversation had ${calls} calls and not ${TURNS}.`);
    return [
      { figure: `input of ${TURNS} calls that repeats the call before`, value: share * 100, unit: '%' },
      {
        figure: '  of what the call before had sent',
        value: ofRepeatable * 100,
        unit: '%',
        aim: { atLeast: 100 },
      },
    ];
  } finally {
    await folder.remove();
    await server.stop();
  }
}

async function measureCalls(): Promise<Row[]> {
  const server = await startServer('modelServer', ['--brain', 'words', '--words', '40']);
  const variants = ['sdk', 'sdk-http', 'adapter'] as const;
  const cpu: Record<(typeof variants)[number], number[]> = { sdk: [], 'sdk-http': [], adapter: [] };
  try {
    for (let run = 0; run < CALL_RUNS; run++)
      for (const variant of variants) {
        const { cpuMsPerCall } = await runChild('callSide', callReport, { args: [server.url, variant] });
        cpu[variant].push(cpuMsPerCall);
      }
  } finally {
    await server.stop();
  }
  const more = (than: readonly number[]) =>
    spreadOf(cpu.adapter.map((ms, run) => ms - (than[run] ?? Number.NaN)));
  return [
    { figure: 'one call, CPU, limiter and adapter', value: spreadOf(cpu.adapter), unit: 'ms' },
    { figure: 'one call, CPU, bare SDK', value: spreadOf(cpu.sdk), unit: 'ms' },
    { figure: 'one call, CPU, bare SDK over our HTTP', value: spreadOf(cpu['sdk-http']), unit: 'ms' },
    { figure: '  more than the bare SDK', value: more(cpu.sdk), unit: 'ms', aim: { atMost: 1 } },
    {
      figure: '  more than that over our HTTP',
      value: more(cpu['sdk-http']),
      unit: 'ms',
      aim: { atMost: 1 },
    },
  ];
}

async function measureStreams(): Promise<Row[]> {
  const words = ['--words', String(PIECES), '--delay', String(BETWEEN_MS)];
  const server = await startServer('modelServer', ['--brain', 'words', ...words]);
  const runs: Record<'team' | 'bare', StreamReport[]> = { team: [], bare: [] };
  try {
    for (let run = 0; run < STREAM_RUNS; run++)
      for (const side of ['team', 'bare'] as const) {
        const folder = await makeFolder();
        const args = [server.url, folder.workspace, folder.storage, side];
        const made = await runChild('streamSide', streamReport, { args });
        await folder.remove();
        if (made.pieces !== MEMBERS * PIECES)
          throw new Error(`${side} saw ${made.pieces} pieces and not ${MEMBERS * PIECES}.`);
        runs[side].push(made);
      }
  } finally {
    await server.stop();
  }
  const title = `${MEMBERS} streams of 50 pieces/s`;
  const row = (side: 'team' | 'bare', label: string, key: 'cpuMs' | 'delayP99Ms'): Row => ({
    figure: `${title}, ${key === 'cpuMs' ? 'CPU' : 'loop delay p99'}, ${label}`,
    value: spreadOf(runs[side].map((run) => run[key])),
    unit: 'ms',
    ...(side === 'team' && key === 'delayP99Ms' ? { aim: { atMost: 20 } } : {}),
  });
  return [
    row('team', 'team', 'delayP99Ms'),
    row('bare', 'bare SDK', 'delayP99Ms'),
    row('team', 'team', 'cpuMs'),
    row('bare', 'bare SDK', 'cpuMs'),
    {
      figure: `${title}, CPU, team ÷ bare SDK`,
      value: medianOf(runs.team.map(({ cpuMs }, run) => cpuMs / (runs.bare[run]?.cpuMs ?? Number.NaN))),
      unit: '×',
    },
  ];
}
