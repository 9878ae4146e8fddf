import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { countsSchema } from './counts';
import { messageOf } from './errors';
import { type HostName, hostNames } from './hosts';
import { makeTempFolder, removeFolder, root } from './paths';
import { run } from './processes';
import { type RunSettings, runSuite, runsOnServer, type SuiteName } from './suites';
import type { Result } from './summary';

/** Where a run that was started beside another one leaves its results. */
export const RESULTS_VARIABLE = 'HANDSHAKE_RESULTS_FILE';

const resultsSchema = z.array(
  z.object({
    suite: z.string(),
    where: z.string(),
    counts: countsSchema.optional(),
    problems: z.array(z.string()),
  }),
);

/** What is run as a whole: a suite, or a suite on one of its hosts. */
export interface Part {
  suite: SuiteName;
  host: HostName | undefined;
}

/** The longest first, so that no lane is left alone with it at the end; `ui` is shown while it runs. */
const LONGEST_FIRST: readonly SuiteName[] = ['ui', 'unit', 'crash', 'extension', 'electron'];

export function partsOf(suites: readonly SuiteName[], settings: RunSettings): Part[] {
  return LONGEST_FIRST.filter((suite) => suites.includes(suite)).flatMap((suite): Part[] =>
    suite === 'extension' && runsOnServer && settings.host === undefined
      ? hostNames.map((host) => ({ suite, host }))
      : [{ suite, host: settings.host }],
  );
}

/**
 * Runs parts that are built already, two at a time: windows mostly wait, so what needs none costs a run hardly
 * any time. The first lane shows what it prints at once; the other, in a process for each part, when it has ended.
 */
export async function runInLanes(parts: readonly Part[], settings: RunSettings): Promise<Result[]> {
  const waiting = [...parts];
  const results = new Map<Part, Result[]>();
  const work = async (runPart: (part: Part) => Promise<Result[]>): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const begun = performance.now();
      const ended = await runPart(part);
      const seconds = Math.round((performance.now() - begun) / 1000);
      results.set(
        part,
        ended.map((result) => ({ ...result, seconds })),
      );
    }
  };
  await Promise.all([
    work(({ suite, host }) => runSuite(suite, { ...settings, host })),
    work((part) => runBeside(part, settings)),
  ]);
  return parts.flatMap((part) => results.get(part) ?? []);
}

async function runBeside({ suite, host }: Part, { grep, desktop }: RunSettings): Promise<Result[]> {
  const temp = await makeTempFolder('lane');
  const file = join(temp, 'results.json');
  const options = [
    '--built',
    ...['--vscode', desktop],
    ...(host === undefined ? [] : ['--host', host]),
    ...(grep === undefined ? [] : ['--grep', grep]),
  ];
  try {
    const shown = await run(process.execPath, [join(root, 'out', 'host', 'test.js'), suite, ...options], {
      cwd: root,
      env: { ...process.env, [RESULTS_VARIABLE]: file },
      keepFailed: true,
    });
    console.log(`\n━━ beside: ${suite}\n${shown}`);
    return resultsSchema.parse(JSON.parse(await readFile(file, 'utf8'))).map(({ counts, ...result }) => ({
      ...result,
      ...(counts === undefined ? {} : { counts }),
    }));
  } catch (error) {
    return [{ suite, where: 'beside', problems: [messageOf(error)] }];
  } finally {
    await removeFolder(temp);
  }
}
