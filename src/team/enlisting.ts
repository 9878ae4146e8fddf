import { type AcceptedProposal, type AcceptedTask, LEAD } from '../protocol';
import type { Board } from './board';
import type { Clock } from './ports';
import type { CallRef } from './recordParts';
import type { TeamRecord } from './records';
import type { TaskRecord } from './taskRecords';
import { taskMade } from './taskState';
import { givenText } from './taskTexts';

export type MemberRecord = Extract<TeamRecord, { t: 'member' }>;

/** A task of a proposal, and the id that the board gave it. */
export interface MadeTask {
  of: string;
  id: string;
}

/** The tasks of an accepted proposal, and who begins with which, as records that take effect together. */
export class Enlisting {
  readonly made: readonly MadeTask[];
  readonly #created = new Map<string, Extract<TaskRecord, { t: 'task_created' }>>();

  constructor(
    board: Board,
    private readonly clock: Clock,
    { tasks }: AcceptedProposal,
    private readonly call: CallRef | undefined,
  ) {
    // All ids first: a task may wait for one that stands behind it.
    this.made = tasks.map(({ of }) => ({ of, id: board.nextId() }));
    for (const task of tasks) this.#created.set(task.of, this.#record(task));
  }

  /** In an order in which each is made after those that it waits for. */
  taskRecords(): TaskRecord[] {
    return [...this.#created.values()];
  }

  /**
   * The record with which a teammate that is being started takes its first task; none where it has none, or where
   * the task is kept for it until there is a worktree.
   */
  claim({ name, incarnation }: MemberRecord, key: string | undefined): TaskRecord[] {
    const created = key === undefined ? undefined : this.#created.get(key);
    if (created === undefined) return [];
    if (created.worktree_due === true) {
      created.kept_for = { member: name, incarnation };
      return [];
    }
    const at = this.clock.now();
    const task = taskMade(created, 0);
    return [
      {
        t: 'task_claimed',
        task_id: task.id,
        member: name,
        incarnation,
        by: LEAD,
        message: {
          id: this.clock.uuid(),
          type: 'message',
          from: LEAD,
          to: name,
          toIncarnation: incarnation,
          content: givenText(task, LEAD),
          timestamp: at / 1000,
        },
        at,
      },
    ];
  }

  #record(task: AcceptedTask): Extract<TaskRecord, { t: 'task_created' }> {
    const { of, subject, description, priority, blocked_by, isolated } = task;
    return {
      t: 'task_created',
      task_id: this.#idOf(of),
      subject,
      description,
      priority,
      blocked_by: blocked_by.map((key) => this.#idOf(key)),
      ...(isolated ? { isolated, worktree_due: true } : {}),
      by: LEAD,
      call: this.call,
      at: this.clock.now(),
    };
  }

  #idOf(key: string): string {
    const made = this.made.find(({ of }) => of === key);
    if (made === undefined) throw new Error(`The proposal has no task '${key}'.`);
    return made.id;
  }
}
