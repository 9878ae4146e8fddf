import * as z from 'zod';
import { teamMessage } from '../protocol';
import { at, callRef } from './recordParts';
import { taskShape } from './task';
import { worktreeRecords } from './worktreeRecords';

/**
 * The lines of the journal about the board. What follows from one (the owner's work version, withdrawn plans)
 * is computed when it is applied, so that a crash can never keep one and lose the other.
 */

const call = callRef.optional();
const by = z.string();
/** What a member that did not make the change itself is told of it. */
const message = teamMessage.optional();

export const taskRecords = [
  z.object({
    t: z.literal('task_created'),
    task_id: z.string(),
    subject: z.string(),
    description: z.string(),
    priority: z.number(),
    blocked_by: z.array(z.string()),
    isolated: z.boolean().optional(),
    /** Its worktree is to be made right after. */
    worktree_due: z.boolean().optional(),
    /** Who begins with it then. */
    kept_for: z.object({ member: z.string(), incarnation: z.number().int() }).optional(),
    by,
    call,
    at,
  }),
  z.object({
    t: z.literal('task_edited'),
    task_id: z.string(),
    by,
    change: z.object({
      subject: z.string().optional(),
      description: z.string().optional(),
      priority: z.number().optional(),
      order: z.number().optional(),
      blockedBy: z.array(z.string()).optional(),
      isolated: z.boolean().optional(),
      status: z.enum(['blocked', 'pending']).optional(),
      reason: z.string().optional(),
    }),
    message,
    call,
    at,
  }),
  z.object({
    t: z.literal('task_claimed'),
    task_id: z.string(),
    member: z.string(),
    incarnation: z.number().int().nonnegative(),
    by,
    message,
    call,
    at,
  }),
  z.object({
    t: z.literal('task_released'),
    task_id: z.string(),
    by,
    note: z.string(),
    message,
    call,
    at,
  }),
  z.object({
    t: z.literal('task_completed'),
    task_id: z.string(),
    by,
    result: z.string(),
    message,
    call,
    at,
  }),
  z.object({ t: z.literal('kept_task'), task: taskShape }),
  ...worktreeRecords,
] as const;

const taskRecord = z.discriminatedUnion('t', taskRecords);

export type TaskRecord = z.infer<typeof taskRecord>;
