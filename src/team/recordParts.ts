import * as z from 'zod';
import { REQUEST_KINDS } from '../protocol';

/** Shapes that several kinds of journal lines share. */

/** Milliseconds since the epoch. */
export const at = z.number();

export const workRef = z.object({
  member: z.string(),
  incarnation: z.number().int(),
  taskId: z.string().nullable(),
  workVersion: z.number().int(),
});

export const requestBase = z.object({
  requestId: z.string(),
  kind: z.enum(REQUEST_KINDS),
  from: z.string(),
  to: z.string(),
  payload: z.unknown(),
  work: workRef,
  createdAt: at,
  deadlineAt: at,
});

export const via = z.enum(['tool', 'ui', 'command', 'api']);

/** A tool call: whose, and the id that the model gave it. */
export const callRef = z.object({ member: z.string(), incarnation: z.number().int(), id: z.string() });

export type CallRef = z.infer<typeof callRef>;
