import { changedEntries, type TreeEntry } from './diff';
import type { Conflict } from './merge';
import { bytesOf, shownName } from './names';
import { type GitOptions, git, gitNames } from './run';
import { type IndexLine, writeIndex } from './selection';
import {
  addTracked,
  onIndex,
  refuseInPlace,
  type ScratchIndex,
  withScratchIndex,
  writeTree,
} from './snapshot';

/** A change of the user's checkout, fully known before its first step, so that it can be taken up after a crash. */
export interface Landing {
  /** The tree whose files stand there now, as far as it changes them. */
  readonly from: string;
  /** The tree whose files shall stand there. */
  readonly to: string;
  readonly conflicts: readonly Conflict[];
  /** Whether the index takes the change as well; conflicts always stand in it. */
  readonly staged: boolean;
  /** The commit that is checked out before; unknown of older ones. */
  readonly head?: string;
  /** Where the branch shall be moved, and from where. */
  readonly commit?: { readonly id: string; readonly parent: string };
}

/** Where a checkout stands with a landing: not begun, begun, all files there, or changed by others. */
export type Progress =
  | { readonly at: 'before' | 'between' | 'after' }
  | { readonly at: 'changed'; readonly paths: readonly string[] };

type Side = ReadonlyMap<string, TreeEntry | undefined>;

/** Compares the working files of the paths that a landing changes with what they were and shall be. */
export async function progressOf(root: string, { from, to }: Landing): Promise<Progress> {
  const changes = await changedEntries(root, from, to);
  const now = await workingEntries(root, from, sideOf(changes));
  const seen = new Set<string>();
  const paths: string[] = [];
  for (const [path, { before, after }] of changes) {
    const entry = now.has(path) ? now.get(path) : before;
    if (isSame(entry, before)) seen.add('before');
    else if (isSame(entry, after)) seen.add('after');
    else paths.push(path);
  }
  if (paths.length > 0) return { at: 'changed', paths: paths.map(shownName) };
  if (seen.size > 1) return { at: 'between' };
  return { at: seen.has('before') ? 'before' : 'after' };
}

/** Paths of a landing whose index entry is neither what is committed nor what the landing wants. */
export async function stagedAmong(root: string, paths: ReadonlySet<string>, head: string): Promise<string[]> {
  return (await stagedPaths(root, head)).filter((path) => paths.has(path)).map(shownName);
}

/** All paths whose index entry is not what is committed. */
export async function stagedPaths(root: string, head: string): Promise<string[]> {
  const index = await withScratchIndex(root, writeTree);
  return [...(await changedEntries(root, head, index)).keys()];
}

/** How a landing is carried out. */
export interface LandingWay {
  /** Names what git is asked for, so that it is known where it outlives the window (see `GitOptions.call`). */
  readonly call?: string;
  /** Throws where the next step is not this window's any more. */
  mayGoOn?(): void;
}

/**
 * Changes the checkout: working files, then index, then branch. Each step may be done again, and what is not at
 * the paths it changes is left alone, staged or not.
 * @throws {GitError} when a file or the branch changed meanwhile
 */
export async function land(root: string, landing: Landing, way: LandingWay = {}): Promise<void> {
  const changes = await changedEntries(root, landing.from, landing.to);
  const after = sideOf(changes);
  way.mayGoOn?.();
  await moveFiles(root, after, way.call);
  way.mayGoOn?.();
  await moveIndex(root, landing, after, way.call);
  const { commit } = landing;
  if (commit === undefined) return;
  way.mayGoOn?.();
  const args = ['update-ref', '-m', 'handshake: accept the work of a task', 'HEAD', commit.id, commit.parent];
  await git(root, args, callOf(way.call));
}

/**
 * Undoes the steps of a landing whose branch was not moved: working files, then the index where it was written. What
 * is not at the landing's paths is left alone, as are files that {@link progressOf} finds changed: ask it first.
 * @throws {GitError} when git cannot
 */
export async function takeBack(root: string, landing: Landing, way: LandingWay = {}): Promise<void> {
  const { from, to, staged, conflicts } = landing;
  const changes = await changedEntries(root, from, to);
  const before: Side = new Map([...changes].map(([path, entries]) => [path, entries.before]));
  way.mayGoOn?.();
  await moveFiles(root, before, way.call);
  const own = new Set([...(staged ? before.keys() : []), ...conflicts.map(({ path }) => path)]);
  // What keeps the index from being written may keep it still: one that was not written needs nothing.
  const args = ['diff-index', '--cached', '--name-only', '-z', '--no-renames', 'HEAD'];
  const written = (await gitNames(root, args)).filter((path) => own.has(path));
  if (written.length === 0) return;
  way.mayGoOn?.();
  const reset = ['--literal-pathspecs', 'reset', '--quiet', '--pathspec-from-file=-', '--pathspec-file-nul'];
  await git(root, reset, {
    ...callOf(way.call),
    input: bytesOf(written.map((path) => `${path}\0`).join('')),
  });
}

function callOf(call: string | undefined): GitOptions {
  return call === undefined ? {} : { call };
}

/** git writes the files itself: links, line endings, filters and names that differ in case are its business. */
async function moveFiles(root: string, after: Side, call?: string): Promise<void> {
  const move = async (index: ScratchIndex): Promise<void> => {
    await addSides(index, after);
    const now = await writeTree(index);
    const target = await withScratchIndex(root, async (other) => {
      await git(root, ['read-tree', now], onIndex(other));
      await writeIndex(other, linesOf(after));
      return writeTree(other);
    });
    if (now !== target) await git(root, ['read-tree', '-m', '-u', now, target], onIndex(index));
  };
  await withScratchIndex(root, move, call);
}

/** In one write: the index is as before or as it shall be. */
async function moveIndex(
  root: string,
  { staged, conflicts }: Landing,
  after: Side,
  call?: string,
): Promise<void> {
  const conflicted = new Set(conflicts.map(({ path }) => path));
  const plain = new Map([...after].filter(([path]) => staged && !conflicted.has(path)));
  const lines = [
    ...linesOf(plain),
    ...conflicts.flatMap(({ path, stages }) => [{ path }, ...stages.map((one) => ({ path, ...one }))]),
  ];
  if (lines.length === 0) return;
  await writeIndex({ root, ...callOf(call) }, lines);
  // Exit code 1: something differs from the index, which is no news here.
  await git(root, ['update-index', '-q', '--refresh'], { ...callOf(call), accept: [1] });
}

function linesOf(side: Side): IndexLine[] {
  const gone = [...side].flatMap(([path, entry]) => (entry === undefined ? [{ path }] : []));
  const come = [...side].flatMap(([path, entry]) => (entry === undefined ? [] : [{ path, entry }]));
  // First those that go: a folder may take the place of a file.
  return [...gone, ...come];
}

/** What a landing makes of the paths that it changes. */
function sideOf(changes: Awaited<ReturnType<typeof changedEntries>>): Side {
  return new Map([...changes].map(([path, { after }]) => [path, after]));
}

/** @throws {ReviewRefusal} where something stands in the way that would be lost */
async function addSides(index: ScratchIndex, shall: Side): Promise<void> {
  const standing = await addTracked(index, [...shall.keys()]);
  const isComing = (path: string) => shall.get(path) !== undefined;
  const [files, folders] = [[...shall.keys()].filter(isComing), standing.filter(isComing)];
  await refuseInPlace(index, { files, folders, changed: shall });
}

/** What the working files of some paths are, where that is not as in the tree. */
async function workingEntries(root: string, tree: string, shall: Side): Promise<Side> {
  const now = await withScratchIndex(root, async (index) => {
    await addSides(index, shall);
    return writeTree(index);
  });
  return new Map([...(await changedEntries(root, tree, now))].map(([path, { after }]) => [path, after]));
}

export function isSame(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.object === b?.object && a?.mode === b?.mode;
}
