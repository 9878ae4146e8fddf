import { join } from 'node:path';
import { findChromium } from './chromium';
import { readReport } from './counts';
import { desktopForTests } from './desktop';
import { messageOf } from './errors';
import { runExtensionTests, serverExecutable, type Target } from './extension-tests';
import { describeHost, type HostName, serverHost } from './hosts';
import { ensureServer } from './install-server';
import { makeTempFolder, makeTestHome, removeFolder, root, testEnvironment } from './paths';
import { run } from './processes';
import { testFiles } from './run-mocha';
import type { Result } from './summary';

/** Of the tests in a browser, which is as busy as the machine: so many may pass at the second try, and are named. */
const SECOND_TRIES = 2;

export const suiteNames = ['lint', 'types', 'unit', 'crash', 'extension', 'ui', 'electron'] as const;
export type SuiteName = (typeof suiteNames)[number];

export interface RunSettings {
  host: HostName | undefined;
  /** A regular expression for the titles of tests. */
  grep: string | undefined;
  /** The desktop VS Code of `electron`: `stable`, a version to download, or the path of an executable. */
  desktop: string;
}

/** Runs one suite; never throws: what goes wrong is in the results. */
export async function runSuite(suite: SuiteName, settings: RunSettings): Promise<Result[]> {
  console.log(`\n━━ ${suite}`);
  switch (suite) {
    case 'lint':
      return [await step('lint', 'biome', () => tool('@biomejs/biome/bin/biome', ['ci']))];
    case 'types':
      return [
        await step('types', 'tsc, extension and tests', () => tool('typescript/bin/tsc', ['-p', '.'])),
        await step('types', 'tsc, webviews', () => tool('typescript/bin/tsc', ['-p', 'webview-ui'])),
      ];
    case 'unit':
    case 'crash':
      return [await mochaSuite(suite, `Node ${process.versions.node}`, settings.grep)];
    case 'ui': {
      const host = serverHost(settings.host ?? 'newest');
      return [await mochaSuite('ui', describeHost(host), settings.grep, host.name)];
    }
    case 'extension':
      if (!runsOnServer) return [await onDesktop(settings)];
      return [await onServer(settings.host ?? 'newest', settings.grep)];
    case 'electron':
      return [await onDesktop(settings)];
  }
}

/** The server host does not run on Windows; there the desktop takes its place. */
export const runsOnServer = process.platform !== 'win32';

export const needsBuild = (suite: SuiteName): boolean => suite !== 'lint' && suite !== 'types';

/** Builds what the suites run. */
export function build(suites: readonly SuiteName[]): Promise<Result> {
  const parts = suites.some((suite) => ['extension', 'ui', 'electron'].includes(suite))
    ? ['--only=product', '--only=tests']
    : ['--only=tests'];
  console.log('\n━━ build');
  return step('build', 'esbuild', () =>
    run(process.execPath, ['esbuild.mjs', ...parts], { cwd: root, show: true }),
  );
}

async function step(suite: string, where: string, work: () => Promise<unknown>): Promise<Result> {
  try {
    await work();
    return { suite, where, problems: [] };
  } catch (error) {
    return { suite, where, problems: [messageOf(error)] };
  }
}

function tool(script: string, args: readonly string[]): Promise<string> {
  return run(process.execPath, [join(root, 'node_modules', script), ...args], { cwd: root, show: true });
}

/** Runs the bundles of `out/<suite>` in a mocha of their own. */
async function mochaSuite(
  suite: 'unit' | 'crash' | 'ui',
  where: string,
  grep: string | undefined,
  host?: HostName,
): Promise<Result> {
  const temp = await makeTempFolder(suite);
  const result = join(temp, 'result.json');
  const empty = { suite, where, counts: { passed: 0, failed: 0, skipped: 0 } };
  try {
    if (host !== undefined) {
      findChromium();
      await ensureServer(serverHost(host));
    }
    const folder = join(root, 'out', suite);
    if ((await testFiles(folder)).length === 0) return { ...empty, problems: [] };
    const env = testEnvironment(await makeTestHome(temp), {
      HANDSHAKE_TEST_RESULT: result,
      ...(grep ? { HANDSHAKE_TEST_GREP: grep } : {}),
      ...(host ? { HANDSHAKE_TEST_HOST: host } : {}),
    });
    const timeout = suite === 'unit' ? '60000' : '180000';
    const args = [
      '--enable-source-maps',
      join(root, 'out', 'host', 'mocha.js'),
      folder,
      '--timeout',
      timeout,
      ...(suite === 'ui' ? ['--second-tries', String(SECOND_TRIES)] : []),
    ];
    const ended = await step(suite, where, () => run(process.execPath, args, { cwd: root, env, show: true }));
    const counts = await readReport(result).catch(() => undefined);
    // Failing tests end the process with an error, and are counted; any other failure is one of its own.
    if (counts === undefined)
      return { ...empty, problems: [`${suite} tests ended early`, ...ended.problems] };
    return { suite, where, counts, problems: counts.failed > 0 ? [] : ended.problems };
  } catch (error) {
    return { ...empty, problems: [messageOf(error)] };
  } finally {
    await removeFolder(temp);
  }
}

async function onServer(name: HostName, grep: string | undefined): Promise<Result> {
  const host = serverHost(name);
  const where = describeHost(host);
  return extensionSuite('extension', where, grep, async () => {
    // Both said before a window is opened, where the message would drown.
    findChromium();
    await ensureServer(host);
    return { host: name, executable: serverExecutable };
  });
}

function onDesktop(settings: RunSettings): Promise<Result> {
  const where = `desktop VS Code (Electron), ${settings.desktop}`;
  return extensionSuite('electron', where, settings.grep, async () => ({
    host: 'newest',
    executable: await desktopForTests(settings.desktop),
    // Secrets in memory: a test must not open the system's key ring.
    flags: ['--use-inmemory-secretstorage', '--disable-gpu'],
  }));
}

async function extensionSuite(
  suite: string,
  where: string,
  grep: string | undefined,
  prepare: () => Promise<Target>,
): Promise<Result> {
  console.log(`\n${suite} tests on ${where}`);
  try {
    const { counts, problems, ranOn } = await runExtensionTests(await prepare(), grep);
    return { suite, where: ranOn ?? where, counts, problems };
  } catch (error) {
    return { suite, where, counts: { passed: 0, failed: 0, skipped: 0 }, problems: [messageOf(error)] };
  }
}
