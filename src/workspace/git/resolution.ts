import { changedEntries, type TreeEntry } from './diff';
import { isSame, type Landing } from './landing';
import { type Conflict, mergeTrees } from './merge';
import { gitLine } from './run';

/**
 * How the conflicts of a landing are resolved in a tree. git's merged tree holds our version of a file that it cannot
 * put marks in, and a path that was taken back is as ours too: only theirs says by itself that the work is there.
 */
export interface Resolution {
  /** Whether the files that were merged without conflicts are all there, and whether there are any. */
  readonly plain: 'none' | 'all' | 'missing';
  /** Paths with our version, as if nothing had been merged. */
  readonly ours: readonly string[];
  /** Paths with another version than ours and theirs. */
  readonly other: readonly string[];
}

export async function resolutionIn(root: string, tree: string, landing: Landing): Promise<Resolution> {
  const { from, to, conflicts } = landing;
  const conflicted = new Set(conflicts.map(({ path }) => path));
  const merged = [...(await changedEntries(root, from, to)).keys()].filter((path) => !conflicted.has(path));
  const missing = await changedEntries(root, tree, to);
  const isThere = !merged.some((path) => missing.has(path));
  const since = await changedEntries(root, from, tree);
  const ours: string[] = [];
  const other: string[] = [];
  for (const conflict of conflicts) {
    const [mine, theirs] = [entryOf(conflict, 2), entryOf(conflict, 3)];
    // Where a file was renamed on both sides, its old name disagrees in nothing.
    if (isSame(mine, theirs)) continue;
    const entry = since.get(conflict.path);
    if (entry === undefined) ours.push(conflict.path);
    else if (!isSame(entry.after, theirs)) other.push(conflict.path);
  }
  return { plain: merged.length === 0 ? 'none' : isThere ? 'all' : 'missing', ours, other };
}

/**
 * Whether the user has committed how the conflicts are resolved: with the next commit, for git makes none while there
 * are any. Only a merge that was staged and not taken back brings its other files into it; without any, what stands
 * in the conflicts' own places has to say it.
 * @param isSure whether another version than theirs is not enough by itself
 */
export async function isCommitted(root: string, landing: Landing, isSure: boolean): Promise<boolean> {
  if (landing.head === undefined) return false;
  // One that was rebased away since may not be there any more.
  const args = ['rev-list', '--reverse', '--first-parent', '--ignore-missing', 'HEAD', `^${landing.head}`];
  const [next = ''] = (await gitLine(root, args)).split('\n');
  if (next === '') return false;
  const { plain, ours, other } = await resolutionIn(root, next, landing);
  if (plain === 'missing') return false;
  const isShown = landing.staged && plain === 'all';
  if (!isShown && (ours.length > 0 || (isSure && other.length > 0))) return false;
  return isResolved(root, next, landing, other);
}

/** Whether the very places that were in conflict were changed, and not others of the same file. */
async function isResolved(
  root: string,
  commit: string,
  { from, to }: Landing,
  other: readonly string[],
): Promise<boolean> {
  if (other.length === 0) return true;
  const marked = await changedEntries(root, from, to);
  const now = await changedEntries(root, from, commit);
  const open = other.filter(
    (path) => marked.has(path) && !isSame(marked.get(path)?.after, now.get(path)?.after),
  );
  if (open.length === 0) return true;
  const tree = await gitLine(root, ['rev-parse', '--verify', `${commit}^{tree}`]);
  const { conflicts } = await mergeTrees(root, from, tree, to);
  const again = new Set(conflicts.map(({ path }) => path));
  return open.every((path) => again.has(path));
}

function entryOf({ stages }: Conflict, stage: number): TreeEntry | undefined {
  return stages.find((one) => one.stage === stage)?.entry;
}
