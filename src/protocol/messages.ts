import * as z from 'zod';

/** Messages between members, as they stand in the journal and, one object a line, in `.team/inbox/`. */

export const MESSAGE_TYPES = [
  'message',
  'broadcast',
  'shutdown_request',
  'shutdown_response',
  'plan_request',
  'plan_approval_request',
  'plan_approval_response',
  'permission_request',
  'permission_response',
  'result',
  'idle_notification',
  'error',
] as const;

export type MessageType = (typeof MESSAGE_TYPES)[number];

export const teamMessage = z.object({
  id: z.string().min(1),
  type: z.enum(MESSAGE_TYPES),
  from: z.string().min(1),
  to: z.string().min(1),
  /** The incarnation it is meant for; a later namesake does not get it. */
  toIncarnation: z.number().int().nonnegative(),
  content: z.string(),
  /** Seconds since the epoch. */
  timestamp: z.number(),
  request_id: z.string().optional(),
  approve: z.boolean().optional(),
  plan: z.string().optional(),
  feedback: z.string().optional(),
  /** True for a line another program put into the inbox file. */
  external: z.boolean().optional(),
});

export type TeamMessage = z.infer<typeof teamMessage>;

/**
 * The line of a message in `.team/inbox/<name>.jsonl`, without its line end.
 * @param team whose line it is
 */
export function inboxLine(message: TeamMessage, team: string): string {
  const { id, type, from, content, timestamp, request_id, approve, plan, feedback, external } = message;
  return JSON.stringify({
    id,
    type,
    from,
    content,
    timestamp,
    request_id,
    approve,
    plan,
    feedback,
    external,
    team_id: team,
  });
}

const foreignMessage = z.object({
  type: z.string().default('message'),
  from: z.string().default('external'),
  content: z.string(),
});

export type ForeignLine =
  | { kind: 'message'; from: string; content: string }
  | { kind: 'control'; type: string; from: string }
  /** A line that Handshake itself wrote, for another team in this folder: not for this one. */
  | { kind: 'mirrored' }
  | { kind: 'damaged'; reason: string };

/**
 * Reads a line that another program put into an inbox. Only `message` is taken; every other type would be
 * control, and control never comes through a file: the registry is the authority.
 * @param teams what lines of this team are marked with; other programs leave the mark out
 */
export function readForeignLine(line: string, teams: readonly string[]): ForeignLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { kind: 'damaged', reason: error instanceof Error ? error.message : 'not JSON' };
  }
  const typed = z.object({ type: z.unknown() }).safeParse(value);
  if (typed.success && typed.data.type !== undefined && typed.data.type !== 'message') {
    const from = z.object({ from: z.string() }).safeParse(value);
    return {
      kind: 'control',
      type: typeof typed.data.type === 'string' ? typed.data.type : JSON.stringify(typed.data.type),
      from: from.success ? from.data.from : 'external',
    };
  }
  const parsed = foreignMessage.safeParse(value);
  if (!parsed.success) {
    return {
      kind: 'damaged',
      reason: 'no text in "content"; expected {"type":"message","from":…,"content":…}',
    };
  }
  // Two windows on one folder would otherwise hand each other's mirrors back and forth without end.
  const marked = z.object({ team_id: z.string() }).safeParse(value);
  if (marked.success && !teams.includes(marked.data.team_id)) return { kind: 'mirrored' };
  return { kind: 'message', from: parsed.data.from, content: parsed.data.content };
}

/** Whether a message asks for, or gives, a decision; everything else is what somebody says. */
export function isProtocol({ type }: TeamMessage): boolean {
  return type.endsWith('_request') || type.endsWith('_response');
}

/** An idle notice informs; it never starts a turn by itself. Everything else does. */
export function wakes(message: TeamMessage): boolean {
  return message.type !== 'idle_notification';
}
