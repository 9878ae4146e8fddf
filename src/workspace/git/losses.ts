import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { statsOf } from '../stats';
import { gitLine, gitList } from './run';

/** What of a worktree's files is not committed in it, from its root. */
export interface LooseFiles {
  /** Changed, staged or new. */
  readonly uncommitted: string[];
  /** Ignored by git, not in the main checkout, and nothing that a program makes anew; a folder ends with `/`. */
  readonly ignored: string[];
}

/** What programs fetch or keep for themselves, and make again; where git ignores it. */
const FETCHED_FOLDERS: ReadonlySet<string> = new Set([
  '.cache',
  '.dart_tool',
  '.eggs',
  '.gradle',
  '.mypy_cache',
  '.parcel-cache',
  '.pytest_cache',
  '.ruff_cache',
  '.terraform',
  '.tox',
  '.turbo',
  '.venv',
  '.vscode-test',
  'Pods',
  '__pycache__',
  'bower_components',
  'node_modules',
  'venv',
]);
/** What programs make of the project's files, and make again; people put keys beside it. */
const BUILT_FOLDERS: ReadonlySet<string> = new Set([
  '.next',
  '.nuxt',
  '.nyc_output',
  '.svelte-kit',
  'DerivedData',
  'build',
  'coverage',
  'dist',
  'obj',
  'out',
  'playwright-report',
  'target',
  'test-results',
]);
const MADE_FILES =
  /(^|\/)(\.DS_Store|Thumbs\.db|\.eslintcache|\.stylelintcache)$|\.(py[co]|class|o|obj|a|so|log|tmp|swp|tsbuildinfo)$/;
/** What no program makes: settings of this machine, and keys. */
const KEPT_FILES = /^(\.env(\..+)?|\.envrc|.+\.(key|p12|pem|pfx))$/;
/** A larger file is not compared, and counts as another one. */
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;

/**
 * @param worktree root of the worktree's checkout
 * @param main root of the main checkout
 * @param left a folder that does not count: from the root, with `/` at its end
 */
export async function looseFiles(worktree: string, main: string, left?: string): Promise<LooseFiles> {
  const args = ['--untracked-files=all', '--ignored=matching', '--no-renames'];
  const entries = await gitList(worktree, ['status', '--porcelain', '-z', ...args]);
  const uncommitted: string[] = [];
  const ignored: string[] = [];
  for (const entry of entries) {
    const path = entry.slice(3);
    if (left !== undefined && path.startsWith(left)) continue;
    if (!entry.startsWith('!! ')) {
      uncommitted.push(path);
      continue;
    }
    for (const one of await kept(worktree, path))
      if (!(await isSame(join(worktree, one), join(main, one)))) ignored.push(one);
  }
  return { uncommitted, ignored };
}

/**
 * The subjects of the commits that would be gone with a branch, newest first: they are on no other branch, no tag and
 * no remote.
 * @param root of the main checkout
 * @param head what is checked out in the branch's worktree, where that can be told
 * @param accepted commits whose work is in the main checkout, with all before them
 */
export async function lostCommits(
  root: string,
  branch: string,
  head: string | undefined,
  accepted: readonly string[],
): Promise<string[]> {
  const tip = await gitLine(root, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], {
    accept: [1],
  });
  const own = [tip, head ?? ''].filter((one) => one !== '');
  if (own.length === 0) return [];
  const others = ['HEAD', `--exclude=${branch}`, '--branches', '--tags', '--remotes', ...accepted];
  // One that was accepted and rebased away since may not be there any more.
  const log = ['log', '-z', '--format=%s', '--no-show-signature', '--ignore-missing'];
  return gitList(root, [...log, ...own, '--not', ...others]);
}

/** What of an ignored file or folder no program makes anew: itself, nothing, or some files of a folder. */
async function kept(root: string, path: string): Promise<string[]> {
  const names = path.split('/').filter((name) => name !== '');
  if (names.some((name) => FETCHED_FOLDERS.has(name))) return [];
  if (!names.some((name) => BUILT_FOLDERS.has(name))) return MADE_FILES.test(path) ? [] : [path];
  if (!path.endsWith('/')) return KEPT_FILES.test(names.at(-1) ?? '') ? [path] : [];
  return keptFiles(root, path);
}

/** @param folder with `/` at its end */
async function keptFiles(root: string, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) {
      if (KEPT_FILES.test(entry.name)) found.push(path);
    } else if (!FETCHED_FOLDERS.has(entry.name)) found.push(...(await keptFiles(root, `${path}/`)));
  }
  return found;
}

/** Whether the main checkout has the same file or link; folders are not compared. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([statsOf(one), statsOf(other)]);
  if (a?.isSymbolicLink() && b?.isSymbolicLink()) return (await readlink(one)) === (await readlink(other));
  if (!a?.isFile() || !b?.isFile() || a.size !== b.size || a.size > MAX_COMPARED_BYTES) return false;
  return (await readFile(one)).equals(await readFile(other));
}
