import * as path from 'node:path';
import { runChild } from './child';
import { makeFolder } from './folder';
import { activationReport } from './reports';
import { spreadOf } from './statistics';
import type { Row } from './table';

const LOADS = 25;
const BUNDLE = path.resolve(__dirname, '../../dist/extension.js');

/** Loading and `activate()` of the production bundle, each time in a fresh process, and its size. */
export async function measureActivation(): Promise<Row[]> {
  const empty = await makeFolder();
  const run = () =>
    runChild('activation', activationReport, {
      args: [BUNDLE, empty.storage],
      env: { NODE_PATH: __dirname, BENCH_WORKSPACE: empty.workspace },
    });
  try {
    await run();
    const loads = [];
    for (let n = 0; n < LOADS; n++) loads.push(await run());
    return [
      { figure: 'loading the bundle', value: spreadOf(loads.map((load) => load.requireMs)), unit: 'ms' },
      {
        figure: 'activate(), until the team can be used',
        value: spreadOf(loads.map((load) => load.activateMs)),
        unit: 'ms',
        aim: { atMost: 30 },
      },
      { figure: '  CPU time of both', value: spreadOf(loads.map((load) => load.cpuMs)), unit: 'ms' },
      {
        figure: 'bundle without what is loaded later, and webviews',
        value: (loads[0]?.bytes ?? 0) / 1000,
        unit: 'KB',
        aim: { atMost: 600 },
      },
    ];
  } finally {
    await empty.remove();
  }
}
