import * as z from 'zod';
import { worktreeShape } from './worktree';

/** Items of the shared board. */

export const TASK_STATUSES = ['pending', 'in_progress', 'completed', 'blocked'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const taskNote = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  by: z.string(),
  text: z.string(),
});

/** A task as it stands in the journal's snapshots. */
export const taskShape = z.object({
  /** Such as `t1`; never used twice in a team. */
  id: z.string(),
  subject: z.string(),
  description: z.string(),
  status: z.enum(TASK_STATUSES),
  /** Higher first. */
  priority: z.number(),
  /** The place among tasks of one priority, lower first; what a person moves. */
  order: z.number(),
  /** Ids of the tasks that have to be completed first. */
  blockedBy: z.array(z.string()).readonly(),
  /** Whoever works on it, or has completed it: `lead`, or a teammate. */
  owner: z.string().optional(),
  /** 0 for the lead. */
  ownerIncarnation: z.number().int().optional(),
  /** Why it is `blocked`. */
  blockedReason: z.string().optional(),
  /** What came of it, once it is completed. */
  result: z.string().optional(),
  /** Oldest first. */
  notes: z.array(taskNote).readonly(),
  /** It is to be done in a working tree of its own. */
  isolated: z.boolean().optional(),
  worktree: worktreeShape.optional(),
  /** It came with the order to make its worktree, which is neither made nor given up yet. */
  worktreeDue: z.boolean().optional(),
  /** Who is to have it as soon as its worktree is there. */
  keptFor: z.object({ member: z.string(), incarnation: z.number().int() }).optional(),
  /** From whom it was taken last: the runtime does not give it back to that member by itself. */
  takenFrom: z.string().optional(),
  createdBy: z.string(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  startedAt: z.number().optional(),
  completedAt: z.number().optional(),
});

export type TaskNote = Readonly<z.infer<typeof taskNote>>;
export type Task = Readonly<z.infer<typeof taskShape>>;

export type TaskChange = 'created' | 'updated' | 'claimed' | 'released' | 'completed' | 'worktree' | 'review';

/** What is said when a task is made. */
export interface NewTask {
  subject: string;
  description: string;
  /** Default 0; higher first. */
  priority?: number;
  blockedBy?: readonly string[];
  isolated?: boolean;
}

/** What may be changed of a task; a field that is left out stays. */
export interface TaskEdit {
  subject?: string;
  description?: string;
  priority?: number;
  order?: number;
  blockedBy?: readonly string[];
  isolated?: boolean;
  /** `pending` takes a task back: from its owner, from `blocked`, or from `completed`. */
  status?: 'blocked' | 'pending';
  /** Why it is blocked. */
  reason?: string;
}

/** True while somebody works on it. */
export function isUnderWay(task: Task): boolean {
  return task.status === 'in_progress';
}

/** Which of two tasks is to be done first: priority, then the place given by a person, then age. */
export function compareTasks(a: Task, b: Task): number {
  return b.priority - a.priority || a.order - b.order || taskNumber(a.id) - taskNumber(b.id);
}

/** The number in a task's id, or 0 where it is no id of ours. */
export function taskNumber(id: string): number {
  const [, digits] = /^t([1-9]\d{0,8})$/.exec(id) ?? [];
  return digits === undefined ? 0 : Number(digits);
}
