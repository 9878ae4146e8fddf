import * as z from 'zod';
import { grantedRole, teamMessage } from '../protocol';
import { leaseRecords } from './leaseRecords';
import { adoptionShape } from './lineage';
import { at, callRef, requestBase, via } from './recordParts';
import { snapshotRecords } from './snapshotRecords';
import { taskRecords } from './taskRecords';
import { usageRecords } from './usageRecords';

/**
 * The lines of the journal. A decision and its consequences (the answer in a mailbox, the gate, the roster)
 * follow from the same line, so that a crash can never keep one and lose the other.
 */

const request = requestBase.extend({ status: z.literal('pending') });

const decision = z.object({
  requestId: z.string(),
  status: z.enum(['approved', 'rejected']),
  decidedBy: z.string(),
  via,
  feedback: z.string().optional(),
  /** What was approved in place of what was asked for; the request keeps both. */
  accepted: z.unknown().optional(),
  decidedAt: at,
});

const cancels = z.array(z.object({ requestId: z.string(), reason: z.string() }));

/** The tool call that a change comes from; what a cut call really did is told from the records that name it. */
const call = callRef.optional();

export const teamRecord = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('team'),
    team_id: z.string(),
    team_name: z.string(),
    adoption: adoptionShape.optional(),
    at,
  }),
  z.object({
    t: z.literal('member'),
    name: z.string(),
    role: z.string(),
    incarnation: z.number().int().positive(),
    prompt: z.string(),
    model: z.string().optional(),
    spawned_by: z.string(),
    require_plan: z.boolean(),
    /** What it got from a role file, whatever becomes of the file. */
    role_file: grantedRole.optional(),
    message: teamMessage,
    call,
    at,
  }),
  /** Only the statuses that outlive a window are written: the others are what a running loop says. */
  z.object({
    t: z.literal('status'),
    name: z.string(),
    incarnation: z.number().int(),
    /** `idle` ends a failure: the member was called again. */
    status: z.enum(['shutdown', 'failed', 'idle']),
    reason: z.string().optional(),
    cancels,
    /** Messages of its mailbox that it had been shown. */
    shown: z.array(z.string()).optional(),
    /** How far it came with the task that it had under way. */
    progress: z.string().optional(),
    at,
  }),
  z.object({
    t: z.literal('work'),
    name: z.string(),
    incarnation: z.number().int(),
    task_id: z.string(),
    work_version: z.number().int(),
    plan_required: z.boolean(),
    message: teamMessage,
    cancels,
    call,
    at,
  }),
  z.object({ t: z.literal('opened'), request, cancels, call, at }),
  z.object({
    t: z.literal('decided'),
    decision,
    /** Of an approved proposal: who of it could not start. The others' `member` records stand in the same append. */
    left_out: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
    /** And the tasks that were made of it: the proposal's key, and the board's id. */
    tasks: z.array(z.object({ of: z.string(), id: z.string() })).optional(),
    call,
  }),
  z.object({ t: z.literal('cancelled'), cancels, at }),
  z.object({ t: z.literal('overdue'), request_id: z.string(), at }),
  /** A member's model was called again: for a request (its id), or for the missing plan of a task. */
  z.object({ t: z.literal('asked_again'), key: z.string(), at }),
  z.object({ t: z.literal('mail'), message: teamMessage, call }),
  z.object({ t: z.literal('shown'), name: z.string(), ids: z.array(z.string()), at }),
  z.object({
    t: z.literal('refused'),
    code: z.string(),
    by: z.string(),
    request_id: z.string().optional(),
    text: z.string(),
    at,
  }),
  /** A tool call whose handler is about to run, in the turn of that number: it never runs a second time. */
  z.object({ t: z.literal('started'), call: callRef, tool: z.string(), turn: z.number().int(), at }),
  z.object({ t: z.literal('cleaned'), names: z.array(z.string()), at }),
  z.object({ t: z.literal('conversation'), number: z.number().int().positive(), at }),
  ...usageRecords,
  ...taskRecords,
  ...leaseRecords,
  ...snapshotRecords,
]);

export type TeamRecord = z.infer<typeof teamRecord>;

/** A line of one kind. */
export type Changes<K extends TeamRecord['t']> = Extract<TeamRecord, { t: K }>;
