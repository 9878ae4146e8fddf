// Runs the tests and says what ran where: `npm test -- [SUITE…] [--host newest|oldest] [--grep REGEX]`.
// Suites: lint, types, unit, crash, extension, ui, electron. Without one: all but electron.
// `--built`: nothing is built first, as when another run has done so.
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { messageOf } from './errors';
import { partsOf, RESULTS_VARIABLE, runInLanes } from './lanes';
import { resultsFolder } from './paths';
import { build, needsBuild, type RunSettings, runSuite, type SuiteName, suiteNames } from './suites';
import { type Result, summarize } from './summary';

function readSettings(): { suites: SuiteName[]; settings: RunSettings; built: boolean } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      host: { type: 'string' },
      grep: { type: 'string', short: 'g' },
      vscode: { type: 'string', default: 'stable' },
      built: { type: 'boolean', default: false },
    },
  });
  const named = positionals.map((name) => {
    const suite = suiteNames.find((each) => each === name);
    if (suite === undefined) throw new Error(`Unknown suite '${name}'. Use: ${suiteNames.join(', ')}.`);
    return suite;
  });
  if (values.host !== undefined && values.host !== 'newest' && values.host !== 'oldest') {
    throw new Error(`Unknown host '${values.host}'. Use newest or oldest.`);
  }
  const suites = named.length > 0 ? named : suiteNames.filter((name) => name !== 'electron');
  const settings: RunSettings = { host: values.host, grep: values.grep, desktop: values.vscode };
  return { suites, settings, built: values.built };
}

async function main(): Promise<number> {
  const { suites, settings, built } = readSettings();
  await mkdir(resultsFolder, { recursive: true });
  const results = await runAll(suites, settings, built);
  const file = process.env[RESULTS_VARIABLE];
  if (file !== undefined) await writeFile(file, JSON.stringify(results));
  const { lines, code } = summarize(results, { filtered: settings.grep !== undefined });
  for (const line of lines) console.log(line);
  return code;
}

async function runAll(
  suites: readonly SuiteName[],
  settings: RunSettings,
  built: boolean,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const suite of suites.filter((each) => !needsBuild(each))) {
    results.push(...(await runSuite(suite, settings)));
  }
  const tests = suites.filter(needsBuild);
  if (tests.length > 0 && !built) {
    const outcome = await build(tests);
    results.push(outcome);
    // Yesterday's bundles would say nothing about today's code.
    if (outcome.problems.length > 0) return results;
  }
  return [...results, ...(await runInLanes(partsOf(tests, settings), settings))];
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(messageOf(error));
    process.exit(1);
  },
);
