import { shorten } from '../protocol';
import { isUnderWay, type Task, type TaskEdit } from './task';
import { hasPlace, type TaskBook } from './taskBook';
import { TeamError } from './teamError';

const MAX_TASKS_NAMED = 12;

/** Who takes a task. */
export interface Taker {
  name: string;
  /** 0 for the lead. */
  incarnation: number;
}

/** What has to hold before the board is changed; what fails says so in words for members and for the human. */
export class BoardChecks {
  constructor(
    private readonly book: () => TaskBook,
    private readonly isFenced: (name: string, incarnation: number) => boolean,
  ) {}

  /** @throws {TeamError} that names some of the tasks there are */
  get(raw: string): Task {
    const id = raw.trim().toLowerCase().replace(/^#/, '');
    const task = this.book().get(id) ?? this.book().get(`t${id}`);
    if (task) return task;
    const ids = this.book()
      .all()
      .map((known) => known.id);
    const more = ids.length > MAX_TASKS_NAMED ? `, … (${ids.length} in all)` : '';
    const known =
      ids.length === 0 ? 'The board is empty.' : `Tasks: ${ids.slice(-MAX_TASKS_NAMED).join(', ')}${more}.`;
    throw new TeamError(`There is no task '${shorten(raw, 40)}'. ${known}`);
  }

  checkClaim(task: Task, taker: Taker): void {
    this.checkFree(task);
    this.checkTaker(taker);
  }

  checkFree(task: Task): void {
    const { id, status, owner } = task;
    if (status === 'completed') throw new TeamError(`${id} is already completed by ${owner}.`);
    if (status === 'in_progress') throw new TeamError(`${id} is already claimed by ${owner}.`);
    if (status === 'blocked')
      throw new TeamError(`${id} is blocked: ${task.blockedReason || 'no reason was given'}.`);
    if (!hasPlace(task))
      throw new TeamError(`${id} cannot begin yet: its worktree is not there (create_worktree).`);
    const waits = this.book().waitsFor(task);
    if (waits.length > 0) throw new TeamError(`${id} cannot begin yet: it waits for ${waits.join(', ')}.`);
  }

  checkTaker({ name, incarnation }: Taker): void {
    if (this.isFenced(name, incarnation)) throw new TeamError(`${name} was stopped.`);
    const open = this.book().underWay(name);
    if (!open) return;
    throw new TeamError(
      `${name} has ${open.id} under way (${shorten(open.subject, 80)}); one task at a time.`,
    );
  }

  checkOwner(task: Task, { name, incarnation }: Taker): void {
    const isOwner = isUnderWay(task) && task.owner === name && task.ownerIncarnation === incarnation;
    if (isOwner && !this.isFenced(name, incarnation)) return;
    const whose = isUnderWay(task)
      ? `it is ${task.owner}'s`
      : `it is ${task.status} and nobody's; claim it first`;
    throw new TeamError(`${task.id} is not yours to complete: ${whose}.`);
  }

  checkStatus(task: Task, { status, reason, isolated }: TaskEdit): void {
    if (isolated === true && task.worktree === undefined && isUnderWay(task)) {
      throw new TeamError(
        `${task.id} is under way with ${task.owner} in the main folder. Take it back first, then isolate it.`,
      );
    }
    if (status === 'blocked' && task.status === 'completed') {
      throw new TeamError(`${task.id} is completed and cannot be blocked. Set it to pending first.`);
    }
    if (status === 'blocked' && !reason?.trim()) {
      throw new TeamError(`Say why ${task.id} is blocked.`);
    }
  }

  /** @throws {TeamError} unknown ids, the task itself, or a circle */
  checkedDependencies(task: Task, raw: readonly string[]): string[] {
    const ids = this.checkedIds(raw);
    if (ids.includes(task.id)) throw new TeamError(`${task.id} cannot wait for itself.`);
    const cycle = this.book().cycle(task.id, ids);
    if (cycle) throw new TeamError(`That would be a circle: ${cycle.join(' waits for ')}.`);
    const open = ids.filter((id) => this.book().get(id)?.status !== 'completed');
    if (open.length > 0 && (isUnderWay(task) || task.status === 'completed')) {
      throw new TeamError(
        `${task.id} is ${task.status}: it cannot be made to wait for ${open.join(', ')}. Set it to pending first.`,
      );
    }
    return ids;
  }

  checkedIds(raw: readonly string[]): string[] {
    return [...new Set(raw.map((id) => this.get(id).id))];
  }
}

/** @throws {TeamError} when it is empty */
export function checkedSubject(subject: string): string {
  const line = subject.trim().replace(/\s+/g, ' ');
  if (line === '') throw new TeamError('A task needs a subject.');
  return shorten(line, 200);
}

/** @throws {TeamError} */
export function checkNumber(what: string, value: number | undefined): void {
  if (value !== undefined && !Number.isFinite(value)) throw new TeamError(`The ${what} is not a number.`);
}
