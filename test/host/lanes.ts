import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { countsSchema } from './counts';
import { messageOf } from './errors';
import { makeTempFolder, removeFolder, root } from './paths';
import { run } from './processes';
import type { RunSettings, SuiteName } from './suites';
import type { Result } from './summary';

/** Where a run that was started beside another one leaves its results. */
export const RESULTS_VARIABLE = 'HANDSHAKE_RESULTS_FILE';

const results = z.array(
  z.object({
    suite: z.string(),
    where: z.string(),
    counts: countsSchema.optional(),
    problems: z.array(z.string()),
  }),
);

/**
 * Runs suites that are built already in a process of their own, beside what this one does, and shows what it
 * printed once it has ended. Windows mostly wait; so the suites without one cost a run hardly any time.
 */
export async function runBeside(suites: readonly SuiteName[], settings: RunSettings): Promise<Result[]> {
  const temp = await makeTempFolder('lane');
  const file = join(temp, 'results.json');
  const options = [
    '--built',
    ...(settings.host === undefined ? [] : ['--host', settings.host]),
    ...(settings.grep === undefined ? [] : ['--grep', settings.grep]),
  ];
  try {
    const shown = await run(process.execPath, [join(root, 'out', 'host', 'test.js'), ...suites, ...options], {
      cwd: root,
      env: { ...process.env, [RESULTS_VARIABLE]: file },
      keepFailed: true,
    });
    console.log(`\n━━ beside: ${suites.join(', ')}\n${shown}`);
    return results.parse(JSON.parse(await readFile(file, 'utf8'))).map(({ counts, ...result }) => ({
      ...result,
      ...(counts === undefined ? {} : { counts }),
    }));
  } catch (error) {
    return [{ suite: suites.join(', '), where: 'beside', problems: [messageOf(error)] }];
  } finally {
    await removeFolder(temp);
  }
}
