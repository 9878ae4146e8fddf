import * as z from 'zod';
import { teamMessage } from '../protocol';
import { at, callRef } from './recordParts';
import { acceptanceShape, REVIEW_OUTCOMES } from './worktree';

/**
 * The lines of the journal about worktrees. What git does stands between two of them: what was begun is
 * written before, so that a crash in between is taken up at the next start.
 */

const by = z.string();

export const worktreeRecords = [
  z.object({
    t: z.literal('worktree_begun'),
    task_id: z.string(),
    path: z.string(),
    branch: z.string(),
    base: z.string(),
    base_name: z.string(),
    by,
    call: callRef.optional(),
    at,
  }),
  z.object({
    t: z.literal('worktree_made'),
    task_id: z.string(),
    /** What whoever asked for it is answered. */
    text: z.string(),
    call: callRef.optional(),
    at,
  }),
  z.object({ t: z.literal('worktree_leaving'), task_id: z.string(), by, at }),
  /** It could not be made, or it was removed. */
  z.object({
    t: z.literal('worktree_gone'),
    task_id: z.string(),
    reason: z.string(),
    /** Tells the lead, where the task came with the order to make it. */
    message: teamMessage.optional(),
    at,
  }),
  z.object({ t: z.literal('accept_begun'), task_id: z.string(), acceptance: acceptanceShape, at }),
  z.object({
    t: z.literal('accept_ended'),
    task_id: z.string(),
    id: z.string(),
    outcome: z.enum(REVIEW_OUTCOMES),
    at,
  }),
  /** The task is under way again, with its last owner where that one can take it. */
  z.object({
    t: z.literal('sent_back'),
    task_id: z.string(),
    comments: z.string(),
    to: z.object({ member: z.string(), incarnation: z.number().int() }).optional(),
    message: teamMessage.optional(),
    by,
    at,
  }),
] as const;

const worktreeRecord = z.discriminatedUnion('t', worktreeRecords);

export type WorktreeRecord = z.infer<typeof worktreeRecord>;
