import { acceptedOf, changeLine, changesOf, type HandshakeRequest, proposalPayload } from '../protocol';
import type { TeamEvent } from './events';

/** A teammate of an approved proposal that could not be started, and why. */
export interface LeftOut {
  name: string;
  reason: string;
}

/** What came of an approved proposal besides the teammates that started. */
export interface StartedTeam {
  left_out?: readonly LeftOut[] | undefined;
  tasks?: readonly { of: string; id: string }[] | undefined;
}

/** What the lead's model is told of the answer to its proposal: who started, which tasks there are, what was changed. */
export function proposalAnswer(request: HandshakeRequest, start: StartedTeam): string {
  const feedback = request.feedback ? [`Feedback: ${request.feedback}`] : [];
  if (request.status === 'rejected') {
    return ['Your team proposal is rejected; nobody was started.', ...feedback].join('\n');
  }
  const changes = changesOf(proposalPayload.parse(request.payload), acceptedOf(request));
  const changed =
    changes.length === 0
      ? []
      : ['The human changed your proposal:', ...changes.map((one) => `- ${changeLine(one)}`)];
  return [...startedLines(request, start), ...changed, ...feedback].join('\n');
}

function startedLines(request: HandshakeRequest, { left_out = [], tasks = [] }: StartedTeam): string[] {
  const accepted = acceptedOf(request);
  const out = new Set(left_out.map(({ name }) => name));
  const started = accepted.members
    .filter(({ name }) => !out.has(name))
    .map(({ name, role }) => `${name} (role: ${role})`);
  const owners = new Map(
    accepted.members.flatMap(({ name, task }) =>
      task === undefined || out.has(name) ? [] : [[task, name] as const],
    ),
  );
  const lines = [
    started.length === 0
      ? 'Your team proposal is approved, but nobody could start.'
      : `Started: ${started.join(', ')}.`,
    ...left_out.map(({ name, reason }) => `Left out: ${name}: ${reason}`),
  ];
  for (const { of, id } of tasks) {
    const { subject = '', isolated } = accepted.tasks.find((task) => task.of === of) ?? {};
    const owner = owners.get(of);
    const whose = owner === undefined ? [] : [isolated ? `${owner} has it then` : `${owner} has it`];
    const facts = [...(isolated ? ['its worktree is being made'] : []), ...whose].join('; ');
    lines.push(`Task ${of} is ${id} on the board: ${subject}${facts === '' ? '' : ` (${facts})`}`);
  }
  return lines;
}

/** Told to the human, who may have closed the panel by then. */
export function leftOutNotices(left_out: readonly LeftOut[] = []): TeamEvent[] {
  return left_out.map(({ name, reason }) => ({
    type: 'notice',
    level: 'warning',
    text: `${name} was left out of the team that was approved: ${reason}`,
  }));
}
