import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import * as z from 'zod';
import { addCounts, type Counts, type Report, readReport } from './counts';
import { messageOf } from './errors';
import type { HostName } from './hosts';
import {
  copySample,
  makeTempFolder,
  makeTestHome,
  removeFolder,
  root,
  testEnvironmentChanges,
} from './paths';
import { testFiles } from './run-mocha';
import { writeUserSettings } from './user-settings';

/**
 * How the window of one test file is opened. A file `X.test.ts` that wants anything but the defaults has
 * an `X.launch.json` beside it.
 */
const launchSchema = z.strictObject({
  /** `none`: a window without a folder. */
  folder: z.enum(['sample', 'none']).default('sample'),
  /** Files put into the folder before the window opens, by their paths in it. */
  files: z.record(z.string(), z.string()).default({}),
  /** Environment variables of the extension host. */
  env: z.record(z.string(), z.string()).default({}),
  /** User settings, there before the window opens. */
  settings: z.record(z.string(), z.unknown()).default({}),
  /** Which server hosts can run it; the desktop counts as the newest. */
  hosts: z.array(z.enum(['newest', 'oldest'])).default(['newest', 'oldest']),
  /** Folders beside the test files with extensions that are loaded as well. */
  extensions: z.array(z.string()).default([]),
  /** `forgotten`: SecretStorage does not last (server host only). */
  secrets: z.enum(['kept', 'forgotten']).default('kept'),
});

type Launch = z.infer<typeof launchSchema>;

/** Where the tests are run: an executable to start, or a version for `runTests` to download. */
export interface Target {
  host: HostName;
  executable?: string;
  version?: string;
  /** Flags for this VS Code beyond those that `runTests` passes. */
  flags?: readonly string[];
}

/** The server host as an executable that `runTests` can start. */
export const serverExecutable = join(root, 'out', 'host', 'server-host.js');

export interface ExtensionRun {
  counts: Counts;
  /** What went wrong besides failing tests. */
  problems: string[];
  /** The VS Code that ran them, as it names itself. */
  ranOn: string | undefined;
}

/** Runs every extension test file, each in a window, workspace and home of its own. */
export async function runExtensionTests(target: Target, grep: string | undefined): Promise<ExtensionRun> {
  const all: Report[] = [];
  const problems: string[] = [];
  for (const file of await testFiles(join(root, 'out', 'extension'))) {
    const name = basename(file, '.test.js');
    const launch = await readLaunch(name);
    if (!launch.hosts.includes(target.host)) continue;
    console.log(`\n— extension/${name}${launch.folder === 'none' ? ' (no folder open)' : ''}`);
    try {
      all.push(await runFile(file, name, launch, target, grep));
    } catch (error) {
      problems.push(`extension/${name}: ${messageOf(error)}`);
    }
  }
  return { counts: addCounts(all), problems, ranOn: all[0]?.ranOn };
}

async function readLaunch(name: string): Promise<Launch> {
  const file = join(root, 'test', 'extension', `${name}.launch.json`);
  if (!existsSync(file)) return launchSchema.parse({});
  const parsed = launchSchema.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new Error(`${file}:\n${z.prettifyError(parsed.error)}`);
}

async function runFile(
  file: string,
  name: string,
  launch: Launch,
  target: Target,
  grep: string | undefined,
): Promise<Report> {
  const temp = await makeTempFolder('ext');
  const userData = join(temp, 'data');
  const folder = join(temp, 'sample');
  const result = join(temp, 'result.json');
  try {
    await mkdir(userData);
    await writeUserSettings(userData, launch.settings);
    if (launch.folder === 'sample') await copySample(folder);
    for (const [path, content] of Object.entries(launch.files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    const failure = await failureOf(
      runTests({
        vscodeExecutablePath: target.executable,
        version: target.version,
        extensionDevelopmentPath: [
          root,
          ...launch.extensions.map((each) => join(root, 'test', 'extension', each)),
        ],
        extensionTestsPath: join(root, 'out', 'extension', 'index.js'),
        launchArgs: [
          ...(launch.folder === 'sample' ? [folder] : []),
          `--user-data-dir=${userData}`,
          `--extensions-dir=${join(temp, 'extensions')}`,
          ...(target.flags ?? []),
        ],
        extensionTestsEnv: testEnvironmentChanges(await makeTestHome(temp), {
          ...launch.env,
          HANDSHAKE_TEST_HOST: target.host,
          HANDSHAKE_TEST_NAME: name,
          HANDSHAKE_TEST_FILE: file,
          HANDSHAKE_TEST_RESULT: result,
          HANDSHAKE_TEST_SECRETS: launch.secrets,
          ...(grep ? { HANDSHAKE_TEST_GREP: grep } : {}),
        }),
      }),
    );
    if (!existsSync(result)) throw failure ?? new Error('VS Code ended without running the tests.');
    const report = await readReport(result);
    // Failing tests make VS Code exit with an error, and are counted; any other failure is one of its own.
    if (failure !== undefined && report.failed === 0) throw failure;
    return report;
  } finally {
    await removeFolder(temp);
  }
}

async function failureOf(run: Promise<unknown>): Promise<unknown> {
  try {
    await run;
    return undefined;
  } catch (error) {
    return error;
  }
}
