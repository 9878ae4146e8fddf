import * as z from 'zod';

/** The git worktree of a task, and the ways its work came home. */

const treeEntry = z.object({ mode: z.string(), object: z.string() });

/** What an acceptance changes in the main checkout, so that it can be taken up after a crash. */
export const landingShape = z.object({
  from: z.string(),
  to: z.string(),
  conflicts: z
    .array(
      z.object({
        path: z.string(),
        stages: z.array(z.object({ stage: z.number().int(), entry: treeEntry })).readonly(),
      }),
    )
    .readonly(),
  staged: z.boolean(),
  head: z.string().optional(),
  commit: z.object({ id: z.string(), parent: z.string() }).optional(),
});

export const REVIEW_OUTCOMES = ['merged', 'conflicts', 'given_up'] as const;
export type ReviewOutcome = (typeof REVIEW_OUTCOMES)[number];

/** One acceptance of a part of a task's work, or of all of it. */
export const acceptanceShape = z.object({
  id: z.string(),
  mode: z.enum(['commit', 'uncommitted']),
  /** The base of what is left afterwards: a tree. */
  tree: z.string(),
  landing: landingShape,
  /** Paths from the root of the checkout. */
  files: z.array(z.string()).readonly(),
  /** How many changed files it leaves to review. */
  remaining: z.number().int().optional(),
  /** The worktree's commit, where nothing of the work up to it is left to review. */
  tip: z.string().optional(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Undefined while it is being carried out. */
  outcome: z.enum(REVIEW_OUTCOMES).optional(),
});

export const worktreeShape = z.object({
  /** Only one that is `ready` can be worked in. */
  state: z.enum(['creating', 'ready', 'removing']),
  /** From the workspace folder, with `/`. */
  path: z.string(),
  branch: z.string(),
  /** Id of the commit it began at. */
  base: z.string(),
  /** The branch that was checked out then, or the beginning of the id. */
  baseName: z.string(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  /** Oldest first. */
  accepted: z.array(acceptanceShape).readonly(),
  /** How often it was sent back with comments. */
  sentBack: z.number().int(),
});

export type Acceptance = Readonly<z.infer<typeof acceptanceShape>>;
export type TaskWorktree = Readonly<z.infer<typeof worktreeShape>>;

/** What the team needs of git for its worktrees. Failures are errors whose message is for a model and a human. */
export interface WorktreeGit {
  /** Finds a free place and branch; makes nothing. */
  plan(taskId: string, base?: string): Promise<WorktreePlan>;
  /** Makes it, or leaves nothing behind. */
  make(plan: WorktreePlan): Promise<void>;
  /** Takes away what a creation that was cut off has left. */
  clear(plan: Pick<WorktreePlan, 'path' | 'branch' | 'base'>): Promise<void>;
  /** Why it cannot be worked in, or undefined. */
  problem(path: string, branch: string): Promise<string | undefined>;
  remove(path: string, branch: string): Promise<void>;
}

export interface WorktreePlan {
  path: string;
  branch: string;
  base: string;
  baseName: string;
  /** What whoever asked for it should know, a sentence each. */
  notes: string[];
}
