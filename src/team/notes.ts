import { type HandshakeRequest, KINDS, LEAD, type MessageType, RUNTIME, type TeamMessage } from '../protocol';

/**
 * Messages that follow from other records, for the lead. They are computed, ids included, so that a replay of
 * the journal makes the same ones.
 */

/** What a person or a model wrote; notices and answers mean nothing to anybody else. */
const KEPT_TYPES: readonly MessageType[] = ['message', 'broadcast', 'result', 'error'];

/** The copy for the lead of a message whose addressee has left; undefined where there is no text to keep. */
export function keptForLead(message: TeamMessage): TeamMessage | undefined {
  // What the runtime says of a member's own work is for that member alone.
  if (!KEPT_TYPES.includes(message.type) || message.from === RUNTIME) return undefined;
  return {
    ...message,
    id: `${message.id}-kept`,
    to: LEAD,
    toIncarnation: 0,
    content: `(Not delivered: ${message.to} has left the team. It is kept for you.)\n${message.content}`,
  };
}

/** Tells the lead, once, that a request has passed its deadline. */
export function overdueMessage(request: HandshakeRequest, at: number): TeamMessage {
  const { requestId, kind, from, to, createdAt } = request;
  const seconds = Math.round((at - createdAt) / 1000);
  return {
    id: `${requestId}-overdue`,
    type: 'message',
    from: RUNTIME,
    to: LEAD,
    toIncarnation: 0,
    content: `${KINDS[kind].label} request ${requestId} (asked by ${from}, for ${to} to answer) is overdue: no answer for ${seconds} s. It stays pending; the human sees it too.`,
    timestamp: at / 1000,
    request_id: requestId,
  };
}

/** What a task is left with whose owner has left, or could not go on. */
export function leftNote({ status, reason, progress }: LeftTask): string {
  const why = status === 'failed' ? 'Could not go on' : 'Left the team';
  const how = progress ? ` How far it came: ${progress}` : '';
  return `${why}${reason ? ` (${reason})` : ''}. The task is free again.${how}`;
}

interface LeftTask {
  status: 'shutdown' | 'failed' | 'idle';
  reason?: string | undefined;
  progress?: string | undefined;
}
