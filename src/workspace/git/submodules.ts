import { join } from 'node:path';
import { type LooseFiles, looseFiles } from './losses';
import { headOf } from './repository';
import { gitLine, gitList } from './run';
import { exists } from './worktreeState';

/** What of a worktree stands in its submodules alone; paths are from the worktree's root. */
export interface SubmoduleLosses extends LooseFiles {
  /** Subjects of commits that are on no remote, each behind the submodule's path. */
  readonly commits: readonly string[];
}

/**
 * Looks into the submodules that are checked out in a worktree, and into those in them: their repositories are a part
 * of the worktree, and go with it.
 * @param worktree root of the worktree's checkout
 * @param main root of the main checkout
 */
export async function submoduleLosses(worktree: string, main: string): Promise<SubmoduleLosses> {
  const uncommitted: string[] = [];
  const ignored: string[] = [];
  const commits: string[] = [];
  for (const path of await checkedOut(worktree)) {
    const folder = join(worktree, path);
    const twin = join(main, path);
    const within = (name: string): string => `${path}/${name}`;
    const [own, nested] = [await looseFiles(folder, twin), await submoduleLosses(folder, twin)];
    uncommitted.push(...own.uncommitted.map(within), ...nested.uncommitted.map(within));
    ignored.push(...own.ignored.map(within), ...nested.ignored.map(within));
    const subjects = await unpushed(folder, await recorded(main, path));
    commits.push(...subjects.map((subject) => `${path}: ${subject}`), ...nested.commits.map(within));
  }
  return { uncommitted, ignored, commits };
}

/** Paths of the submodules of a checkout in which something is changed or new; of those in them the outer one. */
export async function changedSubmodules(root: string): Promise<string[]> {
  const changed: string[] = [];
  for (const path of await checkedOut(root)) {
    const entries = await gitList(join(root, path), [
      'status',
      '--porcelain',
      '-z',
      '--ignore-submodules=none',
    ]);
    if (entries.length > 0) changed.push(path);
  }
  return changed;
}

/** Paths of the submodules that are not empty. */
async function checkedOut(root: string): Promise<string[]> {
  const entries = await gitList(root, ['ls-files', '--stage', '-z']);
  const paths = entries.flatMap((entry) =>
    entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : [],
  );
  const found: string[] = [];
  for (const path of new Set(paths)) if (await exists(join(root, path, '.git'))) found.push(path);
  return found;
}

/** The commit of a submodule that is committed in the main checkout, so that it can be had again. */
async function recorded(main: string, path: string): Promise<string[]> {
  if (!(await exists(join(main, '.git')))) return [];
  const id = await gitLine(main, ['rev-parse', '--verify', '--quiet', `HEAD:${path}`], {
    accept: [1, 128],
  });
  return id === '' ? [] : [id];
}

/** Subjects of the commits and stashes that are on no remote, newest first. */
async function unpushed(folder: string, known: readonly string[]): Promise<string[]> {
  const refs = await gitLine(folder, ['for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/stash']);
  const own = [(await headOf(folder)).commit, ...refs.split('\n').filter((id) => id !== '')];
  const log = ['log', '-z', '--format=%s', '--no-show-signature', '--ignore-missing'];
  return gitList(folder, [...log, ...own, '--not', '--remotes', ...known]);
}
