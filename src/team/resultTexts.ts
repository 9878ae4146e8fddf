import type { GrantedRole, HandshakeRequest, TeamMessage } from '../protocol';
import { roleLines } from './roleTexts';

/**
 * What the control tools answer. Said in one place, so that a call that was cut off after it took effect is
 * answered with the very words it would have had.
 */

export function spawnedText(name: string, role: string, file?: GrantedRole): string {
  return [`Spawned '${name}' (role: ${role})`, ...(file === undefined ? [] : roleLines(file))].join('\n');
}

export function sentText(message: TeamMessage): string {
  return message.type === 'broadcast' ? `Broadcast to ${message.to}` : `Sent message to ${message.to}`;
}

/** The answer of the tool that opened a request. */
export function openedText(request: HandshakeRequest): string | undefined {
  const { requestId, to, status } = request;
  switch (request.kind) {
    case 'shutdown':
      return `Shutdown request ${requestId} sent to '${to}' (status: ${status})`;
    case 'plan_approval':
      return `Plan submitted (request_id=${requestId}). Waiting for lead approval.`;
    case 'team_proposal':
      return `Team proposed (request_id=${requestId}). Waiting for the human's decision.`;
    case 'tool_permission':
      // Asked by the dispatcher in front of a call, which answers for itself.
      return undefined;
  }
}

/** The answer of the tool that decided a request. */
export function decidedText(request: HandshakeRequest): string {
  switch (request.kind) {
    case 'shutdown':
      return `Shutdown ${request.status}`;
    case 'plan_approval':
      return `Plan ${request.status} for '${request.from}'`;
    case 'tool_permission':
      return `Permission ${request.status} for '${request.from}'`;
    case 'team_proposal':
      return `Team proposal ${request.status}`;
  }
}
