import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../failures';
import { callMark, endMarked, goneWithin } from '../markedProcesses';
import { changedEntries, diffTrees, type FileChange } from './diff';
import { type AcceptedPart, keep, partsThere } from './kept';
import { type Landing, progressOf, stagedAmong } from './landing';
import { clearLeftovers } from './leftovers';
import { mergeTrees } from './merge';
import { shownName } from './names';
import {
  refuseFolders,
  refuseLocalChanges,
  refuseNames,
  refuseSkipped,
  refuseSubmodules,
  refuseUnfinished,
  unmergedPaths,
} from './obstacles';
import { ReviewRefusal } from './refusal';
import { gitPath, type Head, headOf, repositoryOf, teamsFolder, treeOf } from './repository';
import { isCommitted, resolutionIn } from './resolution';
import { GitError, gitHolds, gitLine } from './run';
import { type Taken, treeWith } from './selection';
import { workingTree, workTree } from './snapshot';

export type MergeMode = 'commit' | 'uncommitted';

/** The work of a task at one moment, as trees of the repository. */
export interface Work {
  /** Root of the main checkout. */
  readonly root: string;
  readonly head: Head;
  /** What it began with, and what of it was accepted since. */
  readonly base: string;
  readonly work: string;
  /** The commit that is checked out in the worktree. */
  readonly tip: string;
  /** The workspace's own folder `.team` is never part of it. */
  readonly changes: readonly FileChange[];
  /** Whether the changes are all that is different between the two trees. */
  readonly isWhole: boolean;
}

/** An acceptance, fully worked out; nothing of the user's has changed yet. */
export interface Acceptance {
  readonly landing: Landing;
  /** The base of what is left. */
  readonly tree: string;
  /** Paths that change in the main checkout. */
  readonly files: readonly string[];
}

/** What writes files or the index is let come to its end: ended in the middle it leaves files half written. */
const FINISH_MS = 10_000;
const END_GRACE_MS = 2000;

/** Names what git does for an acceptance, on this machine. */
export function callOf(id: string): string {
  return `accept work ${id}`;
}

/** How work comes from a worktree into the checkout that the user has open. */
export class GitReview {
  /**
   * @param folder the workspace folder in the main checkout
   * @param finishMs milliseconds for what {@link settle} waits for
   */
  constructor(
    private readonly folder: string,
    private readonly finishMs = FINISH_MS,
  ) {}

  /**
   * Reads the worktree as it is, committed or not.
   * @param worktree absolute path of its checkout
   * @param accepted what was accepted of it, oldest first
   * @param isSure whether what was accepted counts only where it stands in the main checkout unchanged, as when
   * the worktree is about to be removed
   */
  async read(worktree: string, accepted: readonly AcceptedPart[], isSure = false): Promise<Work> {
    const { root, prefix } = await repositoryOf(this.folder);
    const teams = teamsFolder(prefix);
    const [head, own] = [await headOf(root), await headOf(worktree)];
    const shared = await sharedCommit(root, head, own);
    const held = await this.#acceptedBase(root, head, shared, accepted, isSure);
    const base = held ?? (await treeOf(root, shared));
    const work = await workTree(worktree);
    const all = await diffTrees(root, base, work);
    const changes = all.filter(({ path, oldPath }) => ![path, oldPath].some((one) => one?.startsWith(teams)));
    return { root, head, base, work, tip: own.commit, changes, isWhole: changes.length === all.length };
  }

  /**
   * Works out what accepting a part means for the main checkout.
   * @param message of the commit
   * @throws {ReviewRefusal}
   */
  async prepare(work: Work, taken: readonly Taken[], mode: MergeMode, message: string): Promise<Acceptance> {
    const { root, head, base } = work;
    refuseSubmodules(taken);
    await refuseUnfinished(root);
    if (mode === 'commit' && head.branch === undefined) {
      throw new ReviewRefusal(
        'no_branch',
        'No branch is checked out in the main folder (detached HEAD). Check out a branch, or accept the changes uncommitted.',
      );
    }
    const tree = await partOf(work, taken);
    const ours =
      mode === 'commit'
        ? await treeOf(root, head.commit)
        : await workingTree(root, [...(await changedEntries(root, base, tree)).keys()]);
    const { tree: to, conflicts } = await mergeTrees(root, base, ours, tree);
    const changed = await changedEntries(root, ours, to);
    const conflicted = conflicts.map(({ path }) => path);
    const come = [...changed].flatMap(([path, { after }]) => (after === undefined ? [] : [path]));
    refuseNames([...come, ...conflicted]);
    const files = new Set([...changed.keys(), ...conflicted]);
    await refuseSkipped(root, files);
    const isCommit = mode === 'commit' && conflicts.length === 0 && files.size > 0;
    const landing: Landing = {
      from: ours,
      to,
      conflicts,
      staged: mode === 'commit',
      head: head.commit,
      ...(isCommit ? { commit: { id: await commitOn(root, head, to, message), parent: head.commit } } : {}),
    };
    await refuseLocalChanges(root, landing, head, files);
    await refuseFolders(root, to, conflicts);
    return { landing, tree, files: [...files].map(shownName) };
  }

  /**
   * Keeps what accepted parts are made of from being cleared away, as long as the worktree is there.
   * @param branch of the worktree
   * @returns those that could be kept; the others are gone
   */
  async keep(branch: string, parts: readonly AcceptedPart[]): Promise<AcceptedPart[]> {
    const { root } = await repositoryOf(this.folder);
    const there = await partsThere(root, parts);
    if (there.length > 0) await keep(root, branch, there);
    return there;
  }

  /**
   * Before an acceptance that was cut off is looked at: what git still does for it comes to its end, by itself or
   * else by force. Others' git is left alone.
   * @param id of the acceptance, as {@link callOf} has it
   */
  async settle(id: string): Promise<void> {
    const mark = callMark(callOf(id));
    if (!(await goneWithin(mark, this.finishMs))) await endMarked(mark, END_GRACE_MS);
  }

  /**
   * Removes what windows that are gone have left beside the indexes of the repository's checkouts.
   * @returns the names of the files
   */
  async clearLeftovers(): Promise<string[]> {
    const { root } = await repositoryOf(this.folder);
    const common = await gitLine(root, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
    const folders = new Set([dirname(await gitPath(root, 'index')), common]);
    for (const name of await worktreesIn(common)) folders.add(join(common, 'worktrees', name));
    return (await Promise.all([...folders].map(clearLeftovers))).flat();
  }

  /** Whether the branch is where a landing wants it; one without a commit is done when its files are. */
  async hasLanded(root: string, landing: Landing): Promise<boolean> {
    if (landing.commit === undefined) return false;
    return isAncestor(root, landing.commit.id, 'HEAD');
  }

  /** Whether a merge with conflicts has come to its end: all are resolved, and committed where they are to be. */
  async isConcluded(root: string, { from, to, staged, conflicts }: Landing): Promise<boolean> {
    if ((await unmergedPaths(root)).length > 0) return false;
    if (!staged) return true;
    const { commit } = await headOf(root);
    const merged = [...(await changedEntries(root, from, to)).keys(), ...conflicts.map(({ path }) => path)];
    return (await stagedAmong(root, new Set(merged), commit)).length === 0;
  }

  /** What keeps a landing that was cut off from going on, in words, or undefined. */
  async changedSince(root: string, landing: Landing): Promise<string | undefined> {
    const progress = await progressOf(root, landing);
    if (progress.at === 'changed') return `these files have changed: ${progress.paths.join(', ')}`;
    const { commit } = landing;
    if (commit === undefined || (await headOf(root)).commit === commit.parent) return undefined;
    return 'another commit is checked out';
  }

  /** The newest acceptance that still holds: the user may have taken one back with git. */
  async #acceptedBase(
    root: string,
    head: Head,
    shared: string,
    parts: readonly AcceptedPart[],
    isSure: boolean,
  ): Promise<string | undefined> {
    for (const { tree, landing } of (await partsThere(root, parts)).reverse()) {
      // Merged back into the worktree's branch since: what both have in common holds it.
      if (await isIn(root, shared, landing)) return undefined;
      if (await stillHolds(root, head, landing, isSure).catch(isBlocked)) return tree;
    }
    return undefined;
  }
}

/** Whether a commit has what was accepted: as the commit that was made of it, or by one of the user's own. */
async function isIn(root: string, commit: string, { from, to, ...landing }: Landing): Promise<boolean> {
  if (landing.commit !== undefined) return isAncestor(root, landing.commit.id, commit);
  // Where nothing was changed, the working files had it already, committed or not.
  if (landing.conflicts.length > 0 || from === to) return false;
  const now = await treeOf(root, commit);
  const { tree, conflicts } = await mergeTrees(root, from, now, to);
  return conflicts.length === 0 && tree === now;
}

/** What stands in the place of a file that was accepted is not it. @returns false */
function isBlocked(error: unknown): false {
  if (error instanceof ReviewRefusal && error.code === 'local_changes') return false;
  throw error;
}

/** Whether what was accepted still is in the main checkout: taken back with git, it is to be reviewed again. */
async function stillHolds(root: string, head: Head, landing: Landing, isSure: boolean): Promise<boolean> {
  if (landing.commit !== undefined && (await isAncestor(root, landing.commit.id, head.commit))) return true;
  if (landing.conflicts.length > 0) return conflictsHold(root, landing, isSure);
  const { at } = await progressOf(root, landing);
  if (at !== 'changed') return at === 'after';
  return isContained(root, landing, isSure);
}

/**
 * The same of a merge with conflicts. It holds while the user is at them; then where the user has committed what they
 * are resolved to, or where the files themselves say that they were resolved.
 */
async function conflictsHold(root: string, landing: Landing, isSure: boolean): Promise<boolean> {
  if (await isCommitted(root, landing, isSure)) return true;
  const conflicted = new Set(landing.conflicts.map(({ path }) => path));
  // What is open can still be taken back.
  if ((await unmergedPaths(root)).some((path) => conflicted.has(path))) return !isSure;
  const { from, to, staged } = landing;
  const paths = new Set([...(await changedEntries(root, from, to)).keys(), ...conflicted]);
  const { plain, ours, other } = await resolutionIn(root, await workingTree(root, [...paths]), landing);
  if (isSure && other.length > 0) return false;
  // Taking it back takes the other files back as well, where they are staged: where they are there, ours was chosen.
  if (ours.length > 0) return !isSure && staged && plain === 'all';
  if (other.length === 0 && plain !== 'missing') return true;
  return isContained(root, landing, isSure);
}

/** The user has gone on with the files of a landing: whether merging would change nothing there. */
async function isContained(root: string, { from, to }: Landing, isSure: boolean): Promise<boolean> {
  const now = await workingTree(root, [...(await changedEntries(root, from, to)).keys()]);
  const { tree, conflicts } = await mergeTrees(root, from, now, to);
  return conflicts.length > 0 ? !isSure : tree === now;
}

async function worktreesIn(common: string): Promise<string[]> {
  try {
    return await readdir(join(common, 'worktrees'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function isAncestor(root: string, commit: string, of: string): Promise<boolean> {
  return gitHolds(root, ['merge-base', '--is-ancestor', commit, of]);
}

/** What both branches have in common. */
async function sharedCommit(root: string, head: Head, own: Head): Promise<string> {
  const shared = await gitLine(root, ['merge-base', head.commit, own.commit], { accept: [1] });
  if (shared === '') {
    throw new ReviewRefusal(
      'git',
      'The branch in the main folder and the one of the worktree have no common commit.',
    );
  }
  return shared;
}

async function partOf(
  { root, base, work, changes, isWhole }: Work,
  taken: readonly Taken[],
): Promise<string> {
  const isAll = isWhole && taken.length === changes.length && taken.every(({ hunks }) => hunks === undefined);
  if (isAll) return work;
  try {
    return await treeWith(root, base, taken);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new ReviewRefusal(
      'git',
      `These changes cannot stand without the others of the task. ${error.message}`,
    );
  }
}

function commitOn(root: string, head: Head, tree: string, message: string): Promise<string> {
  return gitLine(root, ['commit-tree', tree, '-p', head.commit, '-F', '-'], { input: message });
}

/** For whoever commits once the conflicts are resolved: git offers it as the message. */
export async function noteConflict(root: string, message: string): Promise<void> {
  await writeFile(await gitPath(root, 'SQUASH_MSG'), message);
}
