import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { runChild } from './child';
import { makeFolder } from './folder';
import { activationReport } from './reports';
import { spreadOf } from './statistics';
import type { Row } from './table';

const LOADS = 25;
const BUNDLE = path.resolve(__dirname, '../../dist/extension.js');
/** Loaded together with the bundle. */
const SHARED = path.resolve(__dirname, '../../dist/shared');

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
    const bytes = (await fs.stat(BUNDLE)).size + (await sizeOf(SHARED));
    return [
      {
        figure: 'load + activate()',
        value: spreadOf(loads.map(({ requireMs, activateMs }) => requireMs + activateMs)),
        unit: 'ms',
        aim: { atMost: 30 },
      },
      { figure: '  of it loading', value: spreadOf(loads.map((load) => load.requireMs)), unit: 'ms' },
      { figure: '  of it activate()', value: spreadOf(loads.map((load) => load.activateMs)), unit: 'ms' },
      { figure: '  CPU time of it', value: spreadOf(loads.map((load) => load.cpuMs)), unit: 'ms' },
      { figure: 'bundle without SDK and webviews', value: bytes / 1000, unit: 'KB', aim: { atMost: 600 } },
    ];
  } finally {
    await empty.remove();
  }
}

async function sizeOf(folder: string): Promise<number> {
  const names = await fs.readdir(folder, { recursive: true });
  const scripts = names.filter((name) => name.endsWith('.js'));
  const sizes = await Promise.all(scripts.map(async (name) => (await fs.stat(path.join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
