import {
  describeOutcome,
  type HandshakeRequest,
  HUMAN,
  KINDS,
  LEAD,
  permissionPayload,
  shorten,
} from '../protocol';
import type { Team } from './team';

/**
 * The roster in words: `Team: NAME`, then a line a teammate.
 * @param waiting who waits for the human's word since a restart; the lead has a line only then
 */
export function describeTeam(
  team: Team,
  teamName = team.state.teamName,
  waiting: readonly string[] = [],
): string {
  const word = 'waits for your word to go on';
  const members = team.state.members();
  const head = [`Team: ${teamName}`, ...(waiting.includes(LEAD) ? [`  ${LEAD}: ${word}`] : [])];
  if (members.length === 0) return [...head, 'No teammates.'].join('\n');
  const lines = members.map((member) => {
    const gate = team.decisions.gateOf(member.name);
    const plan = gate === 'not_required' || member.status === 'shutdown' ? '' : `, plan ${gate}`;
    const reason = member.statusReason ? ` (${shorten(member.statusReason, 200)})` : '';
    const task = team.board.book.underWay(member.name);
    const has = task === undefined ? '' : `, task ${task.id}`;
    const held = waiting.includes(member.name) ? `, ${word}` : '';
    return `  ${member.name} (${member.role}): ${member.status}${held}${has}${plan}${reason}`;
  });
  return [...head, ...lines].join('\n');
}

/** What waits: pending requests, then unread messages of each member. */
export function describeInbox(team: Team): string {
  const pending = team.decisions.registry.pending();
  const lines =
    pending.length === 0
      ? ['No request is waiting.']
      : ['Waiting for a decision:', ...pending.map((request) => `  ${describeRequest(request)}`)];
  const names = ['lead', ...team.state.members().map((member) => member.name)];
  const mail = names.flatMap((name) => {
    const unread = team.unread(name);
    if (unread.length === 0) return [];
    const senders = [...new Set(unread.map((message) => `${message.type} from ${message.from}`))];
    return [`  ${name}: ${unread.length} unread (${senders.slice(0, 5).join(', ')})`];
  });
  lines.push(...(mail.length === 0 ? ['No unread messages.'] : ['Unread messages:', ...mail]));
  return lines.join('\n');
}

/** One line for a pending request, such as `a1b2c3d4 Plan of bob, for lead to answer`. */
export function describeRequest(request: HandshakeRequest): string {
  const label = KINDS[request.kind].label;
  if (request.status !== 'pending') return describeOutcome(request);
  const to = request.to === HUMAN ? 'you' : request.to;
  if (request.kind === 'tool_permission') {
    const payload = permissionPayload.parse(request.payload);
    return `${request.requestId} ${label}: ${request.from} wants ${payload.tool} ${shorten(payload.subject, 120)}`;
  }
  if (request.kind === 'shutdown')
    return `${request.requestId} ${label} of ${request.to}, asked by ${request.from}`;
  return `${request.requestId} ${label} of ${request.from}, for ${to} to answer`;
}
