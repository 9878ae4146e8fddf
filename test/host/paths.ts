import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The project's folder: the nearest one above the running bundle that has the build script. */
export const root = findRoot();

/** Where downloads and installs are kept; `HANDSHAKE_TEST_CACHE` lets several clones share one. */
export const cacheFolder = resolve(root, process.env.HANDSHAKE_TEST_CACHE || '.vscode-test');

/** Screenshots and counts of a run; ignored by git. */
export const resultsFolder = join(root, 'test-results');

const sampleSource = join(root, 'test', 'sample-workspace');

function findRoot(): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'esbuild.mjs'))) return folder;
    if (folder === dirname(folder)) throw new Error(`No project folder above ${__dirname}`);
  }
}

/** A fresh folder below the system's temporary one, by its real path (VS Code compares real paths). */
export async function makeTempFolder(purpose: string): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), `handshake-${purpose}-`)));
}

/** Removes a folder made for a test; one that a dying process still writes to is tried again. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** Copies the sample workspace to `target`, which must not exist or be empty. */
export async function copySample(target: string): Promise<void> {
  await cp(sampleSource, target, { recursive: true });
}

/**
 * A home folder for the extension host under test, so that the developer's own `~/.claude`, git
 * configuration and keys play no part.
 */
export async function makeTestHome(parent: string): Promise<string> {
  const home = join(parent, 'home');
  await mkdir(home, { recursive: true });
  await writeFile(
    join(home, '.gitconfig'),
    '[user]\n\tname = Handshake Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n',
  );
  return home;
}

/** Variables that would let a developer's own model account into a test. */
const modelVariables = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_MODEL',
  'MODEL_ID',
];

/** The environment of an extension host under test: the caller's without its home and model account. */
export function testEnvironment(home: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { ...process.env };
  for (const name of modelVariables) delete environment[name];
  return { ...environment, HOME: home, USERPROFILE: home, ...extra };
}

/** The same as {@link testEnvironment}, as changes to this process's environment (undefined removes). */
export function testEnvironmentChanges(
  home: string,
  extra: Record<string, string> = {},
): Record<string, string | undefined> {
  const removed = Object.fromEntries(modelVariables.map((name) => [name, undefined]));
  return { ...removed, HOME: home, USERPROFILE: home, ...extra };
}
