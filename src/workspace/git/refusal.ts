import { WorkspaceError } from '../port';

export type ReviewRefusalCode =
  /** The task has no worktree, or it cannot be worked in. */
  | 'no_worktree'
  | 'broken'
  /** A member still works in it. */
  | 'at_work'
  /** What was shown is no longer what is there. */
  | 'changed_meanwhile'
  | 'nothing_to_accept'
  /** Uncommitted changes of the user's stand in the way. */
  | 'local_changes'
  /** A merge, rebase or the like is not finished. */
  | 'merge_in_progress'
  /** No branch is checked out that could take a commit. */
  | 'no_branch'
  | 'submodule'
  /** The team is not this window's any more. */
  | 'closing'
  /** git itself failed. */
  | 'git';

/** Why work cannot come home now, in words for the user: what stands in the way, and what to do. Nothing was changed. */
export class ReviewRefusal extends WorkspaceError {
  constructor(
    readonly code: ReviewRefusalCode,
    message: string,
    /** Paths from the root of the checkout. */
    readonly files: readonly string[] = [],
  ) {
    super(message);
  }
}
