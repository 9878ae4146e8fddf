import { shorten } from '../protocol';
import { compareTasks, type Task, type TaskStatus } from './task';
import type { TaskBook } from './taskBook';

/** Lines of a list of tasks unless more are asked for; the whole board of a big team would flood a model. */
export const DEFAULT_TASK_LINES = 30;
export const MAX_TASK_LINES = 100;

/** What is to be listed: `open` is all that is not completed, `ready` what anybody may claim now. */
export const TASK_FILTERS = [
  'open',
  'ready',
  'pending',
  'in_progress',
  'blocked',
  'completed',
  'all',
] as const;
export type TaskFilter = (typeof TASK_FILTERS)[number];

export interface TaskQuery {
  status?: TaskFilter;
  owner?: string;
  /** How many lines at most. */
  limit?: number;
}

/** The board in words: how many of which kind, then a line a task, those that matter now first. */
export function describeTasks(book: TaskBook, query: TaskQuery = {}): string {
  const all = book.all();
  if (all.length === 0) return 'The board is empty.';
  const owner = query.owner?.trim().toLowerCase();
  const status = query.status ?? (owner === undefined ? 'open' : 'all');
  const fitting = all.filter(
    (task) => fits(book, task, status) && (owner === undefined || task.owner === owner),
  );
  const limit = Math.min(query.limit ?? DEFAULT_TASK_LINES, MAX_TASK_LINES);
  const shown = fitting.sort((a, b) => inOrder(book, a, b)).slice(0, limit);
  const lines = [countsLine(book, all), ...shown.map((task) => taskLine(book, task))];
  if (shown.length < fitting.length) {
    lines.push(
      `… and ${fitting.length - shown.length} more; narrow the list by status or owner, or ask for one task.`,
    );
  } else if (fitting.length === 0) lines.push('None of them fits.');
  return lines.join('\n');
}

/** Such as `t3 [pending, priority 2, waits for t1] Write the parser`. */
export function taskLine(book: TaskBook, task: Task): string {
  const marks: string[] = [kindOf(book, task)];
  if (task.owner !== undefined) marks.push(task.owner);
  if (task.priority !== 0) marks.push(`priority ${task.priority}`);
  const waits = task.status === 'completed' ? [] : book.waitsFor(task);
  if (waits.length > 0) {
    const more = waits.length > 8 ? `, and ${waits.length - 8} more` : '';
    marks.push(`waits for ${waits.slice(0, 8).join(', ')}${more}`);
  }
  if (task.blockedReason) marks.push(shorten(task.blockedReason, 80));
  return `${task.id} [${marks.join(', ')}] ${shorten(task.subject, 120)}`;
}

/** A task's status, with `ready` for one that anybody may claim. */
export function kindOf(book: TaskBook, task: Task): TaskStatus | 'ready' {
  return book.isReady(task.id) ? 'ready' : task.status;
}

function countsLine(book: TaskBook, all: readonly Task[]): string {
  const counts = new Map<string, number>();
  for (const task of all) {
    const kind = kindOf(book, task);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const parts = ['in_progress', 'ready', 'pending', 'blocked', 'completed'].flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [`${count} ${kind}`];
  });
  return `Board: ${all.length} task${all.length === 1 ? '' : 's'} (${parts.join(', ')}).`;
}

function fits(book: TaskBook, task: Task, filter: TaskFilter): boolean {
  if (filter === 'all') return true;
  if (filter === 'open') return task.status !== 'completed';
  return filter === 'ready' ? book.isReady(task.id) : task.status === filter;
}

const RANK = { in_progress: 0, ready: 1, pending: 2, blocked: 3, completed: 4 };

function inOrder(book: TaskBook, a: Task, b: Task): number {
  return RANK[kindOf(book, a)] - RANK[kindOf(book, b)] || compareTasks(a, b);
}
