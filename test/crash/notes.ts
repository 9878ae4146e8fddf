import * as fs from 'node:fs';
import * as z from 'zod';
import type { TeamEvent } from '../../src/team/events';

/** What was told to have happened. Whatever stands here must be so for ever, whichever crash comes next. */
const note = z.discriminatedUnion('t', [
  z.object({ t: z.literal('opened'), id: z.string(), kind: z.string() }),
  z.object({
    t: z.literal('ended'),
    id: z.string(),
    status: z.enum(['approved', 'rejected', 'cancelled']),
    by: z.string(),
    feedback: z.string(),
  }),
  z.object({
    t: z.literal('sent'),
    id: z.string(),
    to: z.string(),
    incarnation: z.number(),
    type: z.string(),
    content: z.string(),
  }),
  /** A task has come so far. */
  z.object({ t: z.literal('task'), id: z.string(), change: z.string() }),
  /** A handler that changes a file was called. */
  z.object({ t: z.literal('ran'), id: z.string(), file: z.string() }),
]);

export type Note = z.infer<typeof note>;

export function noteOf(event: TeamEvent): Note | undefined {
  if (event.type === 'message') {
    const { id, to, toIncarnation: incarnation, type, content } = event.message;
    return { t: 'sent', id, to, incarnation, type, content };
  }
  if (event.type === 'task') return { t: 'task', id: event.id, change: event.change };
  if (event.type !== 'request' || event.change === 'overdue') return undefined;
  const { requestId: id, kind, decidedBy, feedback } = event.request;
  if (event.change === 'opened') return { t: 'opened', id, kind };
  return { t: 'ended', id, status: event.change, by: decidedBy ?? '', feedback: feedback ?? '' };
}

/** @returns none where a run was killed before anything was told */
export function readNotes(file: string): Note[] {
  if (!fs.existsSync(file)) return [];
  const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => note.parse(JSON.parse(line)));
}
