import type { ConversationTurn } from '../model/port';
import { LEAD, planPayload } from '../protocol';
import { taskLine } from '../team/describeTasks';
import type { Team } from '../team/team';

/** What a member must not lose with its history, from the runtime's own state: no summary can get it wrong. */
export function factsOf(team: Team, name: string, changedFiles: readonly string[]): string {
  const { state, decisions, board } = team;
  const member = state.member(name);
  const lines = [
    name === LEAD
      ? `You are the lead of the team ${state.teamName}.`
      : `You are ${name} (role: ${member?.role ?? 'unknown'}) of the team ${state.teamName}.`,
  ];
  if (name === LEAD) {
    for (const teammate of state.members())
      if (teammate.status !== 'shutdown')
        lines.push(`Teammate ${teammate.name} (role: ${teammate.role}) is ${teammate.status}.`);
  } else lines.push(`Plan status: ${decisions.gateOf(name)}.`, ...planLines(team, name));
  const tasks = board.book.all().filter(({ owner, status }) => owner === name && status !== 'completed');
  if (tasks.length > 0) lines.push('Your tasks:', ...tasks.map((task) => taskLine(board.book, task)));
  for (const { requestId, kind, from, to } of decisions.registry.pending())
    if (from === name || to === name) lines.push(`Pending: ${kind} ${requestId}, from ${from} to ${to}.`);
  if (changedFiles.length > 0) lines.push(`Files you have changed: ${changedFiles.join(', ')}`);
  return lines.join('\n');
}

function planLines(team: Team, name: string): string[] {
  const { registry } = team.decisions;
  const incarnation = team.state.member(name)?.incarnation;
  const newest = registry
    .all()
    .findLast(
      ({ kind, from, work, status }) =>
        kind === 'plan_approval' &&
        from === name &&
        work.incarnation === incarnation &&
        (status === 'approved' || status === 'pending'),
    );
  const plan = planPayload.safeParse(newest?.payload);
  if (newest === undefined || !plan.success) return [];
  const { plan: text, files = [], commands = [] } = plan.data;
  return [
    `Your plan ${newest.requestId} (${newest.status}):\n${text}`,
    ...(files.length > 0 ? [`It may write: ${files.join(', ')}`] : []),
    ...(commands.length > 0 ? [`It may run: ${commands.join(', ')}`] : []),
  ];
}

/** The files that calls of these turns have changed, by their results, in order. */
export function changedIn(turns: readonly ConversationTurn[]): string[] {
  const asked = new Map<string, string>();
  const changed = new Set<string>();
  for (const { content } of turns) {
    for (const block of content) {
      if (block.type === 'tool_use' && (block.name === 'write_file' || block.name === 'edit_file')) {
        const { input } = block;
        const isNamed = typeof input === 'object' && input !== null && 'path' in input;
        if (isNamed && typeof input.path === 'string') asked.set(block.id, input.path);
      } else if (block.type === 'tool_result' && !block.is_error) {
        const path = asked.get(block.tool_use_id);
        if (path !== undefined) changed.add(path);
      }
    }
  }
  return [...changed];
}
