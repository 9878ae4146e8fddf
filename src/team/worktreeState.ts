import type { TeamEvent } from './events';
import type { Task, TaskChange } from './task';
import type { TaskBook } from './taskBook';
import type { TaskHost } from './taskState';
import type { Acceptance, TaskWorktree } from './worktree';
import type { WorktreeRecord } from './worktreeRecords';

type Changes<K extends WorktreeRecord['t']> = Extract<WorktreeRecord, { t: K }>;

/** What the journal's lines about worktrees add up to; a line that does not fit any more changes nothing. */
export class WorktreeState {
  constructor(
    private readonly book: TaskBook,
    private readonly host: Pick<TaskHost, 'note' | 'deliver'>,
  ) {}

  apply(record: Exclude<WorktreeRecord, { t: 'sent_back' }>): TeamEvent[] {
    const task = this.book.get(record.task_id);
    if (!task) return [];
    switch (record.t) {
      case 'worktree_begun':
        return this.#begin(task, record);
      case 'worktree_made':
        this.host.note(record.call, record.text);
        return this.#change(
          { ...task, worktreeDue: undefined, keptFor: undefined },
          (worktree) => ({ ...worktree, state: 'ready' }),
          'worktree',
        );
      case 'worktree_leaving':
        return this.#change(task, (worktree) => ({ ...worktree, state: 'removing' }), 'worktree');
      case 'worktree_gone':
        return this.#gone(task, record);
      case 'accept_begun':
        return this.#change(task, (worktree) => withAcceptance(worktree, record.acceptance), 'review');
      case 'accept_ended':
        return this.#change(task, (worktree) => ended(worktree, record), 'review');
    }
  }

  #begin(task: Task, record: Changes<'worktree_begun'>): TeamEvent[] {
    if (task.worktree !== undefined) return [];
    this.host.note(
      record.call,
      `Making worktree ${record.path} for ${task.id}; get_task says when it is there.`,
    );
    const worktree: TaskWorktree = {
      state: 'creating',
      path: record.path,
      branch: record.branch,
      base: record.base,
      baseName: record.base_name,
      createdAt: record.at,
      accepted: [],
      sentBack: 0,
    };
    // From now on it is done there or nowhere.
    return this.#put({ ...task, isolated: true, worktree }, 'worktree');
  }

  #gone(task: Task, { message }: Changes<'worktree_gone'>): TeamEvent[] {
    if (task.worktree === undefined && task.worktreeDue !== true) return [];
    // Still kept for whoever was to begin with it: it may be made yet.
    const events = this.#put({ ...task, worktree: undefined, worktreeDue: undefined }, 'worktree');
    return [...events, ...(message === undefined ? [] : this.host.deliver(message))];
  }

  #change(task: Task, change: (worktree: TaskWorktree) => TaskWorktree, what: TaskChange): TeamEvent[] {
    if (task.worktree === undefined) return [];
    return this.#put({ ...task, worktree: change(task.worktree) }, what);
  }

  #put(task: Task, change: TaskChange): TeamEvent[] {
    this.book.put(task);
    return [{ type: 'task', id: task.id, change }];
  }
}

function withAcceptance(worktree: TaskWorktree, acceptance: Acceptance): TaskWorktree {
  if (worktree.accepted.some(({ id }) => id === acceptance.id)) return worktree;
  return { ...worktree, accepted: [...worktree.accepted, acceptance] };
}

function ended(worktree: TaskWorktree, { id, outcome }: Changes<'accept_ended'>): TaskWorktree {
  const accepted = worktree.accepted.map((one) => {
    // Conflicts are resolved by the human, and known to be later.
    const isOpen = one.outcome === undefined || (one.outcome === 'conflicts' && outcome === 'merged');
    return one.id === id && isOpen ? { ...one, outcome } : one;
  });
  return { ...worktree, accepted };
}
