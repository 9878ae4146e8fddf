import * as z from 'zod';
import { grantedRole, teamMessage } from '../protocol';
import { adoptionShape } from './lineage';
import { at, callRef, requestBase, via } from './recordParts';

/**
 * The lines that take the place of all lines before them when the journal is compacted: `snapshot` first,
 * then one line for every request there ever was, every unread message, and every call that may be cut off.
 */
export const snapshotRecords = [
  z.object({
    t: z.literal('snapshot'),
    team_id: z.string(),
    team_name: z.string(),
    adoption: adoptionShape.optional(),
    conversation: z.number().int(),
    members: z.array(
      z.object({
        name: z.string(),
        role: z.string(),
        incarnation: z.number().int().positive(),
        prompt: z.string(),
        model: z.string().optional(),
        roleFile: grantedRole.optional(),
        spawnedBy: z.string(),
        spawnedAt: at,
        requirePlan: z.boolean(),
        status: z.enum(['idle', 'shutdown', 'failed']),
        statusReason: z.string().optional(),
        taskId: z.string(),
        workVersion: z.number().int(),
        planRequired: z.boolean(),
        betweenTasks: z.boolean().optional(),
        lostTask: z.string().optional(),
      }),
    ),
    /** The newest incarnation of every name ever. */
    incarnations: z.array(z.tuple([z.string(), z.number().int()])),
    /** Every message id ever. */
    message_ids: z.array(z.string()),
    shutdown_granted: z.array(z.string()),
    overdue: z.array(z.string()),
    asked_again: z.array(z.string()),
    /** How many requests, oldest first, were there when permits were last voided. */
    voided: z.number().int(),
    /** The highest number that a task of the board ever had. */
    last_task: z.number().int().default(0),
  }),
  z.object({
    t: z.literal('kept_request'),
    request: requestBase.extend({
      status: z.enum(['pending', 'approved', 'rejected', 'cancelled']),
      decidedAt: at.optional(),
      decidedBy: z.string().optional(),
      via: via.optional(),
      feedback: z.string().optional(),
      accepted: z.unknown().optional(),
      cancelReason: z.string().optional(),
    }),
  }),
  z.object({ t: z.literal('kept_mail'), message: teamMessage }),
  z.object({
    t: z.literal('kept_call'),
    call: callRef,
    tool: z.string(),
    turn: z.number().int(),
    done: z.array(z.string()),
  }),
] as const;
