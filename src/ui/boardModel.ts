import { compareTasks, type Task } from '../team/task';
import { l10n } from './l10n';
import { plainLine } from './plainText';
import type { RowIcon } from './requestsModel';

/** Where a task stands in the Board view, in the order of the groups. */
export const TASK_PHASES = ['review', 'in_progress', 'ready', 'blocked', 'completed'] as const;
export type TaskPhase = (typeof TASK_PHASES)[number];

export interface TaskRow {
  /** Stable over refreshes, and in whatever group the task stands. */
  id: string;
  taskId: string;
  phase: TaskPhase;
  label: string;
  description: string;
  /** For screen readers. */
  spoken: string;
  icon: RowIcon;
  /** `task.<phase>.<status>`, with `.owned`, `.worktree` and `.changed` where they hold; `shown.` before it in a read-only window. */
  contextValue: string;
}

export interface TaskGroup {
  phase: TaskPhase;
  label: string;
  /** How many there are; more than are listed where there are too many. */
  count: number;
  rows: TaskRow[];
  omitted: number;
}

/** Finished tasks that the folded group lists. */
export const COMPLETED_MAX = 200;

/** As much of a board as its rows need. */
export interface BoardState {
  tasks: readonly Task[];
  readOnly: boolean;
}

/** The groups that hold something, in their order. */
export function arrangeBoard({ tasks, readOnly }: BoardState): TaskGroup[] {
  const done = completedIds(tasks);
  const groups = new Map<TaskPhase, Task[]>(TASK_PHASES.map((phase) => [phase, []]));
  for (const task of tasks) groups.get(phaseOf(task, done))?.push(task);
  return TASK_PHASES.flatMap((phase) => {
    const members = [...(groups.get(phase) ?? [])].sort(ORDER[phase]);
    if (members.length === 0) return [];
    const listed = phase === 'completed' ? members.slice(0, COMPLETED_MAX) : members;
    return {
      phase,
      label: phaseText(phase),
      count: members.length,
      rows: listed.map((task) => taskRow(task, phase, done, readOnly)),
      omitted: members.length - listed.length,
    };
  });
}

/** How many tasks stand where, done ones left out; empty where nothing is open. */
export function boardSummary(tasks: readonly Task[]): string {
  const counts = arrangeBoard({ tasks, readOnly: false })
    .filter(({ phase }) => phase !== 'completed')
    .map(({ label, count }) => `${label}: ${count}`);
  return counts.length === 0 ? '' : l10n.t('Board · {0}', counts.join(' · '));
}

export function completedIds(tasks: readonly Task[]): ReadonlySet<string> {
  return new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id));
}

/** The dependencies that keep a task from being begun. */
export function openDependencies(task: Task, done: ReadonlySet<string>): string[] {
  return task.blockedBy.filter((id) => !done.has(id));
}

/** True for finished work that stands in a worktree and has not come home whole. */
export function isToReview({ status, worktree, completedAt = 0 }: Task): boolean {
  if (status !== 'completed' || worktree?.state !== 'ready') return false;
  const last = worktree.accepted.at(-1);
  // Finished once more since then: there is something new.
  if (last === undefined || completedAt > last.at) return true;
  return last.outcome !== 'merged' || (last.remaining ?? 0) > 0;
}

export function phaseOf(task: Task, done: ReadonlySet<string>): TaskPhase {
  if (task.status === 'completed') return isToReview(task) ? 'review' : 'completed';
  if (task.status === 'in_progress') return 'in_progress';
  if (task.status === 'blocked' || openDependencies(task, done).length > 0 || lacksPlace(task)) {
    return 'blocked';
  }
  return 'ready';
}

/** It is to be done in a worktree that is not there yet. */
function lacksPlace({ isolated, worktree }: Task): boolean {
  return worktree === undefined ? isolated === true : worktree.state !== 'ready';
}

export function taskRow(task: Task, phase: TaskPhase, done: ReadonlySet<string>, readOnly: boolean): TaskRow {
  const subject = plainLine(task.subject, 120);
  const facts = factsOf(task, phase, done);
  const flags = [
    task.owner !== undefined && task.status !== 'completed' ? '.owned' : '',
    task.worktree === undefined ? '' : '.worktree',
  ];
  return {
    id: `task:${task.id}`,
    taskId: task.id,
    phase,
    label: subject,
    description: [task.id, ...facts].join(' · '),
    spoken: l10n.t('Task {0}, {1}, {2}', task.id, subject, [stateText(task, phase), ...facts].join(', ')),
    icon: iconOf(task, phase),
    contextValue: `${readOnly ? 'shown.' : ''}task.${phase}.${task.status}${flags.join('')}`,
  };
}

/** What a task's state is called, the same wherever it is said. */
export function stateText(task: Task, phase: TaskPhase): string {
  if (task.status === 'blocked') return l10n.t('blocked');
  switch (phase) {
    case 'review':
      return l10n.t('finished, waits for your review');
    case 'in_progress':
      return l10n.t('in progress');
    case 'ready':
      return l10n.t('ready');
    case 'blocked':
      return l10n.t('waiting');
    case 'completed':
      return l10n.t('done');
  }
}

function phaseText(phase: TaskPhase): string {
  switch (phase) {
    case 'review':
      return l10n.t('To Review');
    case 'in_progress':
      return l10n.t('In Progress');
    case 'ready':
      return l10n.t('Ready');
    case 'blocked':
      return l10n.t('Waiting');
    case 'completed':
      return l10n.t('Done');
  }
}

function factsOf(task: Task, phase: TaskPhase, done: ReadonlySet<string>): string[] {
  const facts: string[] = [];
  if (task.owner !== undefined) facts.push(task.owner);
  if (task.status === 'blocked') {
    facts.push(
      task.blockedReason ? l10n.t('blocked: {0}', plainLine(task.blockedReason, 80)) : l10n.t('blocked'),
    );
  } else if (phase === 'blocked') {
    const waits = openDependencies(task, done);
    facts.push(
      waits.length > 0 ? l10n.t('after {0}', idList(waits)) : l10n.t('its worktree is not there yet'),
    );
  }
  if (task.priority !== 0 && task.status !== 'completed') facts.push(priorityText(task.priority));
  if (task.worktree !== undefined || task.isolated === true) facts.push(l10n.t('worktree'));
  return facts;
}

export function priorityText(priority: number): string {
  return l10n.t('priority {0}', priority);
}

/** Ids for one row: the first few, and how many more. */
function idList(ids: readonly string[]): string {
  const shown = ids.slice(0, 4).join(', ');
  return ids.length <= 4 ? shown : l10n.t('{0} and {1} more', shown, ids.length - 4);
}

function iconOf(task: Task, phase: TaskPhase): RowIcon {
  if (task.status === 'blocked') return { id: 'warning', color: 'list.warningForeground' };
  switch (phase) {
    case 'review':
      return { id: 'git-pull-request', color: 'list.warningForeground' };
    case 'in_progress':
      return { id: 'pulse', color: 'charts.green' };
    case 'ready':
      return { id: 'circle-outline' };
    case 'blocked':
      return { id: 'ellipsis', color: 'disabledForeground' };
    case 'completed':
      return { id: 'pass', color: 'testing.iconPassed' };
  }
}

const byStart = (a: Task, b: Task): number => (a.startedAt ?? 0) - (b.startedAt ?? 0);
const oldestFirst = (a: Task, b: Task): number => (a.completedAt ?? 0) - (b.completedAt ?? 0);

const ORDER: Readonly<Record<TaskPhase, (a: Task, b: Task) => number>> = {
  review: oldestFirst,
  in_progress: byStart,
  ready: compareTasks,
  blocked: compareTasks,
  completed: (a, b) => oldestFirst(b, a),
};
