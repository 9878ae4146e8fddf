import { LEAD, type TeamMessage } from '../protocol';
import { definedOnly } from './definedOnly';
import type { TeamEvent } from './events';
import { isGone, type Member } from './member';
import type { CallRef } from './recordParts';
import { isUnderWay, type Task, type TaskChange } from './task';
import { TaskBook } from './taskBook';
import type { TaskRecord } from './taskRecords';
import { claimedReply, completedText, createdText, editedText, givenAwayText } from './taskTexts';
import { WorktreeState } from './worktreeState';

type Changes<K extends TaskRecord['t']> = Extract<TaskRecord, { t: K }>;

/** More of them than anybody reads; the journal has all. */
const MAX_NOTES = 50;

/** What the board needs of the rest of the state. */
export interface TaskHost {
  member(name: string): Member | undefined;
  /**
   * A member's work is another from now on: its plans that wait are withdrawn.
   * @param task what it is about, or undefined when it has no task any more
   */
  moveWork(name: string, task: string | undefined, at: number): TeamEvent[];
  deliver(message: TeamMessage): TeamEvent[];
  note(call: CallRef | undefined, outcome: string): void;
}

/**
 * What the board's lines in the journal add up to. A line that does not fit the board any more (its task was
 * claimed, its member left while it was on its way to the disk) changes nothing, live and on replay.
 */
export class TaskState {
  readonly book = new TaskBook();

  readonly #worktrees: WorktreeState;

  constructor(private readonly host: TaskHost) {
    this.#worktrees = new WorktreeState(this.book, host);
  }

  apply(record: TaskRecord): TeamEvent[] {
    switch (record.t) {
      case 'task_created':
        return this.#create(record);
      case 'task_edited':
        return this.#edit(record);
      case 'task_claimed':
        return this.#claim(record);
      case 'task_released':
        return this.#release(record);
      case 'task_completed':
        return this.#complete(record);
      case 'kept_task':
        this.book.put(record.task);
        return [];
      case 'sent_back':
        return this.#sendBack(record);
      default:
        return this.#worktrees.apply(record);
    }
  }

  /** What a member that has left, or could not go on, had under way is free again. */
  releaseOf(name: string, note: string, at: number): TeamEvent[] {
    const task = this.book.underWay(name);
    if (!task) return [];
    const events = this.#put(freed(withNote(task, at, name, note)), 'released');
    return [...events, ...this.#moveOwner(task, undefined, at)];
  }

  #create(record: Changes<'task_created'>): TeamEvent[] {
    const { task_id: id, subject } = record;
    if (this.book.get(id)) return [];
    this.host.note(record.call, createdText(id, subject));
    return this.#put(taskMade(record, this.book.last + 1), 'created');
  }

  #edit({ task_id, by, change, message, call, at }: Changes<'task_edited'>): TeamEvent[] {
    const task = this.book.get(task_id);
    if (!task || (change.status === 'blocked' && task.status === 'completed')) return [];
    const { status, reason, ...fields } = change;
    if (fields.blockedBy !== undefined && this.book.cycle(task.id, fields.blockedBy)) return [];
    this.host.note(call, editedText(task.id));
    let next: Task = { ...task, ...definedOnly(fields) };
    if (fields.isolated === false) next = { ...next, worktreeDue: undefined, keptFor: undefined };
    if (status !== undefined) {
      const said = reason === undefined || reason === '' ? [] : [`: ${reason}`];
      const was = task.status === 'completed' ? `Reopened (was: ${task.result ?? ''})` : `Set to ${status}`;
      next = { ...freed(withNote(next, at, by, [was, ...said].join(''))), status };
      if (status === 'blocked') next = { ...next, blockedReason: reason ?? '' };
    }
    const taken = status !== undefined && isUnderWay(task);
    if (taken) next = { ...next, takenFrom: task.owner };
    return [
      ...this.#put(next, taken ? 'released' : 'updated'),
      ...(taken ? this.#moveOwner(task, undefined, at) : []),
      ...this.#tell(message),
    ];
  }

  #claim({ task_id, member: name, incarnation, message, call, at }: Changes<'task_claimed'>): TeamEvent[] {
    const task = this.book.get(task_id);
    if (!task || !this.book.isReady(task_id) || this.book.underWay(name)) return [];
    const owner: Task = { ...task, owner: name, ownerIncarnation: incarnation };
    if (!this.isThere(owner)) return [];
    this.host.note(call, call?.member === name ? claimedReply(task) : givenAwayText(task, name));
    const next: Task = {
      ...owner,
      status: 'in_progress',
      startedAt: at,
      takenFrom: undefined,
      keptFor: undefined,
    };
    return [...this.#put(next, 'claimed'), ...this.#moveOwner(next, task_id, at), ...this.#tell(message)];
  }

  #release({ task_id, by, note, message, at }: Changes<'task_released'>): TeamEvent[] {
    const task = this.book.get(task_id);
    if (!task || !isUnderWay(task)) return [];
    const next: Task = { ...freed(withNote(task, at, by, note)), takenFrom: task.owner };
    return [...this.#put(next, 'released'), ...this.#moveOwner(task, undefined, at), ...this.#tell(message)];
  }

  #complete({ task_id, by, result, message, call, at }: Changes<'task_completed'>): TeamEvent[] {
    const task = this.book.get(task_id);
    if (!task || task.status === 'completed') return [];
    const next: Task = {
      ...(by === task.owner ? task : withNote(task, at, by, 'Closed.')),
      status: 'completed',
      result,
      owner: task.owner ?? by,
      completedAt: at,
      blockedReason: undefined,
    };
    const events = this.#put(next, 'completed');
    this.host.note(call, completedText(task, this.freedBy(task.id)));
    if (isUnderWay(task)) events.push(...this.#moveOwner(task, undefined, at));
    return [...events, ...this.#tell(message)];
  }

  /** Reviewed and not accepted as it is: under way again with whoever did it, or free for anybody. */
  #sendBack({ task_id, by, comments, to, message, at }: Changes<'sent_back'>): TeamEvent[] {
    const task = this.book.get(task_id);
    if (!task?.worktree || isUnderWay(task)) return [];
    const worktree = { ...task.worktree, sentBack: task.worktree.sentBack + 1 };
    const open = freed(withNote({ ...task, worktree }, at, by, `Sent back: ${comments}`));
    const events = this.#put(open, 'review');
    if (to === undefined || this.book.underWay(to.member)) return [...events, ...this.#tell(message)];
    const owned: Task = { ...open, owner: to.member, ownerIncarnation: to.incarnation };
    if (!this.isThere(owned)) return [...events, ...this.#tell(message)];
    const next: Task = { ...owned, status: 'in_progress', startedAt: at, takenFrom: undefined };
    return [
      ...events,
      ...this.#put(next, 'claimed'),
      ...this.#moveOwner(next, task_id, at),
      ...this.#tell(message),
    ];
  }

  /** The tasks that wait for nothing now that this one is completed. */
  freedBy(id: string): Task[] {
    return this.book.dependents(id).filter((task) => this.book.isReady(task.id));
  }

  /** Whether a task's owner is still who it was when it took the task. */
  isThere(task: Task): boolean {
    if (task.owner === LEAD) return true;
    const member = this.host.member(task.owner ?? '');
    return member !== undefined && !isGone(member) && member.incarnation === task.ownerIncarnation;
  }

  #moveOwner(task: Task, to: string | undefined, at: number): TeamEvent[] {
    if (task.owner === undefined || task.owner === LEAD || !this.isThere(task)) return [];
    return this.host.moveWork(task.owner, to, at);
  }

  #tell(message: TeamMessage | undefined): TeamEvent[] {
    return message === undefined ? [] : this.host.deliver(message);
  }

  #put(task: Task, change: TaskChange): TeamEvent[] {
    this.book.put(task);
    return [{ type: 'task', id: task.id, change }];
  }
}

/** A task as it is when it is made. */
export function taskMade(record: Changes<'task_created'>, order: number): Task {
  const { task_id: id, subject, description, priority, blocked_by, isolated, by, at } = record;
  const { worktree_due: worktreeDue, kept_for: keptFor } = record;
  return {
    id,
    subject,
    description,
    status: 'pending',
    priority,
    order,
    blockedBy: blocked_by,
    notes: [],
    ...(isolated === undefined ? {} : { isolated }),
    ...(worktreeDue === undefined ? {} : { worktreeDue }),
    ...(keptFor === undefined ? {} : { keptFor }),
    createdBy: by,
    createdAt: at,
  };
}

/** The task as anybody may take it. */
function freed(task: Task): Task {
  return {
    ...task,
    status: 'pending',
    owner: undefined,
    ownerIncarnation: undefined,
    startedAt: undefined,
    completedAt: undefined,
    result: undefined,
    blockedReason: undefined,
  };
}

function withNote(task: Task, at: number, by: string, text: string): Task {
  return { ...task, notes: [...task.notes, { at, by, text }].slice(-MAX_NOTES) };
}
