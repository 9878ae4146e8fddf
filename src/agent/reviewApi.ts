import type { TaskWorktree } from '../team/worktree';
import type { MergeMode } from '../workspace/git/review';

export { ReviewRefusal, type ReviewRefusalCode } from '../workspace/git/refusal';
export type { MergeMode, TaskWorktree };

/** What the UI sees of a task's work: its change file by file, and what can be done with it. */

export type ReviewStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'type_changed' | 'submodule';

/** One stretch of changed lines, as a unified diff has it; numbers count from 1. */
export interface ReviewHunk {
  /** Changes with what it holds. */
  readonly id: string;
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each begins with ` `, `+`, `-` or `\`. */
  readonly lines: readonly string[];
}

export interface ReviewFile {
  /** Changes with what it holds. */
  readonly id: string;
  /** From the root of the checkout, with `/`. */
  readonly path: string;
  /** Where it was renamed from. */
  readonly oldPath?: string;
  readonly status: ReviewStatus;
  readonly binary: boolean;
  /** Too large to be looked at line by line. */
  readonly large?: true;
  /** Lines; 0 for a binary or large file. */
  readonly added: number;
  readonly deleted: number;
  /** For `reviewContent`: what stood there before, and what stands there now. */
  readonly baseBlob?: string;
  readonly workBlob?: string;
  /** Empty where the file can only be taken whole. */
  readonly hunks: readonly ReviewHunk[];
}

export interface Review {
  readonly taskId: string;
  /** Names exactly what is shown. */
  readonly revision: string;
  readonly branch: string;
  /** The branch that is checked out in the main folder; empty on a detached HEAD. */
  readonly into: string;
  /** Absolute root of the worktree's checkout, and of the main one. */
  readonly folder: string;
  readonly mainFolder: string;
  /** Who still works in it; accepting is refused until that member is done. */
  readonly workingMember?: string;
  /** Submodules with changes inside: those are no part of the work, and cannot be accepted. */
  readonly changedSubmodules?: readonly string[];
  readonly files: readonly ReviewFile[];
}

/** Everything that a review showed (its revision), or some files and hunks of it (their ids). */
export type ReviewSelection =
  | { readonly everything: string }
  | { readonly files?: readonly string[]; readonly hunks?: readonly string[] };

/** What came of the project's own check (`handshake.review.checkCommand`), run in the workspace folder. */
export interface CheckOutcome {
  readonly command: string;
  readonly passed: boolean;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The human did not want to wait for it. */
  readonly cancelled: boolean;
  readonly output: string;
}

export interface AcceptOutcome {
  readonly outcome: 'merged' | 'conflicts';
  readonly mode: MergeMode;
  /** The commit that was made. */
  readonly commit?: string;
  /** What changed in the main checkout, from its root; empty where it held everything already. */
  readonly files: readonly string[];
  /** To be opened in the merge editor: their three versions are in the index. */
  readonly conflicts: readonly string[];
  /** How many files are left to review. */
  readonly remaining: number;
  /** Only after a merge without conflicts, where a check is set. */
  readonly check?: CheckOutcome;
}

export interface AcceptOptions {
  /** What `handshake.review.merge` says unless given. */
  mode?: MergeMode;
  /** Ends the check; a merge is carried through. */
  signal?: AbortSignal;
  /** The merge is done, and the check begins. */
  onCheck?(command: string): void;
}

/** What is in a worktree that is nowhere else. */
export interface WorktreeReport {
  readonly taskId: string;
  /** From the workspace folder. */
  readonly path: string;
  readonly branch: string;
  /** Why it cannot be worked in. */
  readonly broken?: string;
  /** Who works in it. */
  readonly boundTo?: string;
  /** Paths that are not committed in it. */
  readonly uncommitted: readonly string[];
  /** Paths inside of its submodules that are not committed there. */
  readonly inSubmodules: readonly string[];
  /** Paths whose change is not in the main checkout. */
  readonly unmerged: readonly string[];
  /** Paths that git ignores, and that no program makes anew; a folder ends with `/`. */
  readonly ignored: readonly string[];
  /**
   * Subjects of the commits that were not accepted and are on no other branch, tag or remote, newest first; of those in
   * a submodule that are on no remote, behind its path.
   */
  readonly commits: readonly string[];
}

/** The worktree was not removed: something would be lost, or somebody works in it. */
export class WorktreeRefusal extends Error {
  override readonly name = 'WorktreeRefusal';
  readonly code = 'not_clean';

  constructor(readonly report: WorktreeReport) {
    super(reasons(report));
  }
}

function reasons({
  taskId,
  broken,
  boundTo,
  uncommitted,
  inSubmodules,
  unmerged,
  ignored,
  commits,
}: WorktreeReport): string {
  const parts: string[] = [];
  if (boundTo !== undefined) parts.push(`${boundTo} works in it`);
  if (uncommitted.length > 0) parts.push(`not committed: ${listed(uncommitted)}`);
  if (inSubmodules.length > 0) parts.push(`not committed in a submodule: ${listed(inSubmodules)}`);
  if (unmerged.length > 0) parts.push(`not merged: ${listed(unmerged)}`);
  if (commits.length > 0) parts.push(`commits on no other branch: ${listed(commits)}`);
  if (ignored.length > 0) parts.push(`ignored by git: ${listed(ignored)}`);
  const isSeen = [uncommitted, unmerged, commits, ignored].some((all) => all.length > 0);
  if (broken !== undefined)
    parts.push(`${isSeen ? 'it may hold more' : 'what it holds cannot be seen'} (${broken})`);
  return `The worktree of ${taskId} was not removed: ${parts.join('; ')}.`;
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).join(', ');
  return paths.length > 5 ? `${shown} and ${paths.length - 5} more` : shown;
}

/** The part of the core that looks after worktrees and brings work home; failures are for the user's eyes. */
export interface ReviewCore {
  /** Gives a task that nobody has under way a worktree, at what is checked out or at `base`. */
  createWorktree(taskId: string, base?: string): Promise<TaskWorktree>;
  inspectWorktree(taskId: string): Promise<WorktreeReport>;
  /**
   * Removes a worktree and its branch. `force` is the human's clear yes to what the report says.
   * @throws {WorktreeRefusal} without it, where something would be lost or somebody works there
   */
  removeWorktree(taskId: string, options?: { force?: boolean }): Promise<void>;
  /** What the task's worktree holds that is not accepted yet. @throws {ReviewRefusal} */
  reviewWork(taskId: string): Promise<Review>;
  /** A file's content as git keeps it, by `baseBlob` or `workBlob`. */
  reviewContent(taskId: string, blob: string): Promise<Uint8Array>;
  /**
   * Merges what is selected into the main checkout, and runs the check; one at a time over the team.
   * @throws {ReviewRefusal} then nothing was changed
   */
  acceptWork(taskId: string, selection: ReviewSelection, options?: AcceptOptions): Promise<AcceptOutcome>;
  /** The task goes on, in the same worktree, with these comments: with who did it last, or whoever takes it. */
  sendBack(taskId: string, comments: string): Promise<void>;
}
