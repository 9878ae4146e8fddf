import {
  type HandshakeRequest,
  HUMAN,
  KINDS,
  LEAD,
  type MessageType,
  type PlanPayload,
  permissionPayload,
  planPayload,
  type RequestKind,
  shutdownPayload,
  type TeamMessage,
} from '../protocol';
import { proposalAnswer, type StartedTeam } from './proposalTexts';

/**
 * The messages that a request and its decision put into mailboxes. They are computed from the request alone,
 * ids included, so that a replay of the journal makes the same ones.
 */

/** The message that asks, or undefined where the addressee has no mailbox (the human reads the list). */
export function askingMessage(request: HandshakeRequest): TeamMessage | undefined {
  if (request.to === HUMAN) return undefined;
  const message: TeamMessage = {
    id: `${request.requestId}-ask`,
    type: KINDS[request.kind].requestType,
    from: request.from,
    to: request.to,
    toIncarnation: request.kind === 'shutdown' ? request.work.incarnation : 0,
    content: askingText(request),
    timestamp: request.createdAt / 1000,
    request_id: request.requestId,
  };
  if (request.kind === 'plan_approval') message.plan = planPayload.parse(request.payload).plan;
  return message;
}

/**
 * The message that tells the lead of a permission it may decide in the human's place. Whether it may stands in
 * the settings and not in the request, so this message is journaled with the request and not made from it.
 */
export function standInMessage(request: HandshakeRequest): TeamMessage {
  return {
    id: `${request.requestId}-ask`,
    type: 'permission_request',
    from: request.from,
    to: LEAD,
    toIncarnation: 0,
    content: permissionText(request),
    timestamp: request.createdAt / 1000,
    request_id: request.requestId,
  };
}

/** The contract's list of message types has none for proposals; what the human permits comes nearest. */
const ANSWER_TYPES: Readonly<Record<RequestKind, MessageType>> = {
  shutdown: 'shutdown_response',
  plan_approval: 'plan_approval_response',
  tool_permission: 'permission_response',
  team_proposal: 'permission_response',
};

/** The message that answers, or undefined where the asker has no mailbox or waits in its own tool call. */
export function answeringMessage(
  request: HandshakeRequest,
  start: StartedTeam = {},
): TeamMessage | undefined {
  if (request.from === HUMAN || request.kind === 'tool_permission') return undefined;
  if (request.status !== 'approved' && request.status !== 'rejected') return undefined;
  const message: TeamMessage = {
    id: `${request.requestId}-answer`,
    type: ANSWER_TYPES[request.kind],
    from: request.decidedBy ?? request.to,
    to: request.from,
    toIncarnation: request.kind === 'plan_approval' ? request.work.incarnation : 0,
    content: request.kind === 'team_proposal' ? proposalAnswer(request, start) : answerText(request),
    timestamp: (request.decidedAt ?? request.createdAt) / 1000,
    request_id: request.requestId,
    approve: request.status === 'approved',
  };
  if (request.feedback !== undefined) message.feedback = request.feedback;
  return message;
}

function askingText(request: HandshakeRequest): string {
  if (request.kind === 'shutdown') {
    const { reason } = shutdownPayload.parse(request.payload);
    return reason ?? 'Please shut down. Answer with shutdown_response.';
  }
  return request.kind === 'plan_approval' ? planText(planPayload.parse(request.payload)) : '';
}

function planText(payload: PlanPayload): string {
  const lines = [payload.plan];
  if (payload.files?.length) lines.push(`Files: ${payload.files.map(codeSpan).join(', ')}`);
  if (payload.commands?.length) lines.push(`Commands: ${payload.commands.map(codeSpan).join('; ')}`);
  return lines.join('\n\n');
}

function permissionText(request: HandshakeRequest): string {
  const { tool, subject, access, description, preview } = permissionPayload.parse(request.payload);
  const what = access === 'command' ? 'to run' : 'to change';
  const lines = [`${request.from} asks for permission ${what} (${tool}):`, subject];
  if (description) lines.push(`Reason given: ${description}`);
  if (preview) lines.push(preview);
  return lines.join('\n');
}

function answerText(request: HandshakeRequest): string {
  const approved = request.status === 'approved';
  if (request.feedback) return request.feedback;
  if (request.kind === 'shutdown') {
    return approved
      ? `${request.to} agreed to shut down.`
      : `${request.to} keeps working; no reason was given.`;
  }
  return approved
    ? 'Your plan is approved. Go on with the work.'
    : 'Your plan is rejected. Do not change anything; submit a revised plan.';
}

/** As Markdown code, so that stars and backticks in it stay what they are wherever the message is drawn. */
function codeSpan(text: string): string {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${fence}${space}${text.replace(/\r?\n/g, ' ⏎ ')}${space}${fence}`;
}
