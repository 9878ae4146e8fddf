import { acceptAll } from '../src/protocol/proposal';
import { changesOf, type ProposalChange } from '../src/protocol/proposalChanges';
import type { RequestView } from '../src/ui/messages';
import type { RequestStrings } from '../src/ui/webviewStrings';
import { h } from './dom';

type Proposal = NonNullable<RequestView['proposal']>;

/** A proposal that cannot be edited here (any more): what was proposed, and at each place what was made of it. */
export function proposalOutcome({ payload, accepted }: Proposal, strings: RequestStrings): HTMLElement {
  const { members, tasks } = acceptAll(payload);
  const changes = changesOf(payload, accepted);
  const of = (part: ProposalChange['part'], name: string) =>
    changes.filter((change) => change.part === part && change.of === name);
  const now = {
    member: (name: string) => accepted?.members.find((member) => member.of === name),
    task: (key: string) => accepted?.tasks.find((task) => task.of === key),
  };
  const subjects = new Map(tasks.map((task) => [task.of, now.task(task.of)?.subject ?? task.subject]));
  const isolated = new Set(tasks.flatMap((task) => ((now.task(task.of) ?? task).isolated ? [task.of] : [])));
  const subject = (key: string) => subjects.get(key) ?? key;
  const memberRows = members.map((before) => {
    const member = now.member(before.of) ?? before;
    const tags = [
      member.require_plan ? strings.planFirst : undefined,
      member.model === undefined ? undefined : `${strings.model}: ${member.model}`,
      member.task === undefined ? undefined : `${strings.beginsWith}: ${subject(member.task)}`,
      member.task !== undefined && isolated.has(member.task) ? strings.isolated : undefined,
    ];
    return row(member.name, member.role, member.prompt, tags, of('member', before.of), strings, subject);
  });
  const parts = [
    table(strings.team, [strings.memberName, strings.memberRole, strings.memberTask], memberRows, 'members'),
  ];
  if (tasks.length > 0) {
    const taskRows = tasks.map((before) => {
      const task = now.task(before.of) ?? before;
      const waits = task.blocked_by.map(subject).join(', ') || strings.none;
      const tags = [
        task.priority === 0 ? undefined : `${strings.taskPriority}: ${task.priority}`,
        task.isolated ? strings.isolated : undefined,
      ];
      return row(task.subject, waits, task.description, tags, of('task', before.of), strings, subject);
    });
    parts.push(
      table(
        strings.tasks,
        [strings.taskSubject, strings.taskWaits, strings.taskDescription],
        taskRows,
        'tasks',
      ),
    );
  }
  return h('div', { class: 'proposal' }, ...parts);
}

function row(
  first: string,
  second: string,
  text: string,
  tags: readonly (string | undefined)[],
  changes: readonly ProposalChange[],
  strings: RequestStrings,
  subject: (key: string) => string,
): HTMLElement {
  const leftOut = changes.some((change) => 'leftOut' in change);
  const notes = changes.flatMap((change) =>
    'leftOut' in change
      ? [h('span', { class: 'tag' }, strings.nothingTaken)]
      : [h('p', { class: 'was' }, wasText(change, strings, subject))],
  );
  return h(
    'tr',
    { class: leftOut ? 'not-taken' : '' },
    h('th', { scope: 'row' }, first),
    h('td', {}, second),
    h(
      'td',
      {},
      h('p', { class: 'plain' }, text),
      ...tags.flatMap((tag) => (tag === undefined ? [] : [h('span', { class: 'tag' }, tag)])),
      ...notes,
    ),
  );
}

function wasText(
  change: Exclude<ProposalChange, { leftOut: true }>,
  strings: RequestStrings,
  subject: (key: string) => string,
): string {
  const { field, from } = change;
  const labels = {
    name: strings.memberName,
    role: strings.memberRole,
    prompt: strings.memberTask,
    require_plan: strings.planFirst,
    model: strings.model,
    task: strings.beginsWith,
    subject: strings.taskSubject,
    description: strings.taskDescription,
    priority: strings.taskPriority,
    blocked_by: strings.taskWaits,
    isolated: strings.isolated,
  };
  const said = (value: typeof from): string => {
    if (value === undefined) return strings.none;
    if (typeof value === 'boolean') return value ? strings.yes : strings.no;
    if (typeof value === 'object') return value.map(subject).join(', ') || strings.none;
    return field === 'task' ? subject(String(value)) : String(value);
  };
  return `${labels[field]}, ${strings.was.replace('{0}', said(from))}`;
}

function table(caption: string, head: readonly string[], rows: HTMLElement[], kind: string): HTMLElement {
  return h(
    'section',
    {},
    h('h2', {}, caption),
    h(
      'table',
      { class: `members ${kind}`, 'aria-label': caption },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...head.map((text, index) => h('th', { scope: 'col', class: index === 2 ? 'wide' : '' }, text)),
        ),
      ),
      h('tbody', {}, ...rows),
    ),
  );
}
