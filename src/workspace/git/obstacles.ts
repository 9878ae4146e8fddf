/** What keeps an acceptance from being begun; nothing has been changed then. */
import { dirname, join } from 'node:path';
import { statsOf } from '../stats';
import { changedEntries } from './diff';
import { type Landing, progressOf, stagedAmong, stagedPaths } from './landing';
import type { Conflict } from './merge';
import { isText, shownName } from './names';
import { ReviewRefusal } from './refusal';
import { gitPath, type Head } from './repository';
import { gitHolds, gitLine, gitList, gitNames } from './run';
import type { Taken } from './selection';
import { workingTree } from './snapshot';

/** git writes none of these files, and the change would look like a deletion of the user's. */
export async function refuseSkipped(root: string, files: ReadonlySet<string>): Promise<void> {
  const entries = await gitNames(root, ['ls-files', '-t', '-z']);
  const marked = new Set(entries.flatMap((entry) => (entry.startsWith('S ') ? [entry.slice(2)] : [])));
  const isSparse =
    (await gitLine(root, ['config', '--bool', 'core.sparseCheckout'], { accept: [1] })) === 'true';
  const skipped: string[] = [];
  for (const file of files) {
    // What is new has no entry yet; outside of a sparse checkout its folder is not there either.
    const isOutside = isSparse && (await statsOf(dirname(join(root, file)))) === undefined;
    if (marked.has(file) || isOutside) skipped.push(shownName(file));
  }
  if (skipped.length === 0) return;
  const names = skipped.join(', ');
  throw new ReviewRefusal(
    'git',
    isSparse
      ? `The main folder is a sparse checkout without ${names}. Take that in with "git sparse-checkout add" (in cone mode its folder), then accept again.`
      : `In the main folder git is told to leave ${names} alone (skip-worktree). Take the mark off with "git update-index --no-skip-worktree", and commit or stash what you have changed there; or accept the other files.`,
    skipped,
  );
}

/** Such a name can be neither shown nor opened; one that only goes is no trouble. */
export function refuseNames(paths: readonly string[]): void {
  const odd = [...new Set(paths)].filter((path) => !isText(path)).map(shownName);
  if (odd.length === 0) return;
  throw new ReviewRefusal(
    'git',
    `Names that are not UTF-8 are not merged: ${odd.join(', ')}. Rename them in the worktree, or accept the other files.`,
    odd,
  );
}

/**
 * A file on one side and a folder on the other: git would leave the file under a made-up name, and the merge editor
 * has nothing to open.
 */
export async function refuseFolders(root: string, to: string, conflicts: readonly Conflict[]): Promise<void> {
  for (const { path, stages } of conflicts) {
    const [, name] = /^(.+)~[0-9a-f]{40,64}(?:_\d+)?$/s.exec(path) ?? [];
    if (name === undefined || !(await gitHolds(root, ['ls-tree', `${to}:${name}`]))) continue;
    const isOurs = !stages.some(({ stage }) => stage === 3);
    const [here, there] = isOurs ? ['file', 'folder'] : ['folder', 'file'];
    throw new ReviewRefusal(
      'git',
      `In the main folder, ${name} is a ${here}, and in the work a ${there}. Rename it on one side and commit that, then review again; or accept the other files.`,
      [name],
    );
  }
}

export function refuseSubmodules(taken: readonly Taken[]): void {
  const paths = taken.filter(({ change }) => change.status === 'submodule').map(({ change }) => change.path);
  if (paths.length === 0) return;
  throw new ReviewRefusal(
    'submodule',
    `A submodule is not merged: ${paths.join(', ')}. Push its commit and update it in the main folder yourself, and accept the other files.`,
    paths,
  );
}

/** What git has in the administration of a checkout while something is not finished; the first one says it best. */
const UNFINISHED = [
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'git am'],
  ['rebase-apply', 'rebase'],
  // Between two commits of several.
  ['sequencer', 'cherry-pick or revert of several commits'],
  ['BISECT_LOG', 'bisect'],
] as const;

/** @throws {ReviewRefusal} while a merge, rebase, cherry-pick or the like is not finished */
export async function refuseUnfinished(root: string): Promise<void> {
  const unmerged = await unmergedPaths(root);
  if (unmerged.length > 0) {
    throw new ReviewRefusal(
      'merge_in_progress',
      `Conflicts are not resolved yet in the main folder: ${unmerged.join(', ')}. Resolve and commit them first.`,
      unmerged,
    );
  }
  for (const [name, what] of UNFINISHED) {
    if ((await statsOf(await gitPath(root, name))) === undefined) continue;
    throw new ReviewRefusal(
      'merge_in_progress',
      `A ${what} is not finished in the main folder. Finish or abort it first.`,
    );
  }
}

export function unmergedPaths(root: string): Promise<string[]> {
  return gitList(root, ['diff', '--name-only', '-z', '--diff-filter=U']);
}

export async function refuseLocalChanges(
  root: string,
  landing: Landing,
  head: Head,
  files: ReadonlySet<string>,
): Promise<void> {
  const progress = await progressOf(root, landing);
  const changed = progress.at === 'changed' ? progress.paths : [];
  const conflicted = landing.conflicts.map(({ path }) => path);
  if (conflicted.length > 0) return refuseWithConflicts(root, head, conflicted, changed);
  const staged = landing.staged ? await stagedAmong(root, files, head.commit) : [];
  const paths = [...new Set([...changed, ...staged])].sort();
  if (paths.length === 0) return;
  const instead = landing.staged ? ', or accept the changes uncommitted' : '';
  throw new ReviewRefusal(
    'local_changes',
    `You have changes of your own that are not committed in ${paths.join(', ')}. Commit or stash them first${instead}.`,
    paths,
  );
}

/**
 * `git reset --merge`, which takes back a merge with conflicts, takes what is staged with it wherever it is, and what
 * stands in the files with conflicts: none of it may be the user's own. A file that git ignores counts as well.
 * @param changed what is in the way besides
 */
async function refuseWithConflicts(
  root: string,
  head: Head,
  conflicted: readonly string[],
  changed: readonly string[],
): Promise<void> {
  const staged = await stagedPaths(root, head.commit);
  const now = await changedEntries(root, head.commit, await workingTree(root, conflicted));
  const loose = conflicted.filter((path) => now.has(path));
  const paths = [...new Set([...changed, ...staged.map(shownName), ...loose.map(shownName)])].sort();
  if (paths.length === 0) return;
  throw new ReviewRefusal(
    'local_changes',
    `Merging leaves conflicts in ${conflicted.map(shownName).join(', ')}, and you have changes of your own that are not committed in ${paths.join(', ')}: should you take the merge back, git would throw them away with it. Commit, stash or move them away first.`,
    paths,
  );
}
