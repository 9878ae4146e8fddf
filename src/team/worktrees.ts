import { HUMAN, LEAD, RUNTIME, type TeamMessage } from '../protocol';
import { type Board, taskLock } from './board';
import { type Ledger, messageOf } from './ledger';
import type { KeyedLock } from './locks';
import type { Clock } from './ports';
import type { CallRef } from './recordParts';
import { isUnderWay, type Task } from './task';
import { noPlaceText } from './taskTexts';
import { TeamError } from './teamError';
import type { Acceptance, ReviewOutcome, TaskWorktree, WorktreeGit } from './worktree';

/** git makes one at a time: two that are made at once can take each other's locks. */
const LOCK = 'worktrees';

/** Where a member's tools work now. */
export type Place =
  | { readonly kind: 'main' }
  | { readonly kind: 'worktree'; readonly taskId: string; readonly worktree: TaskWorktree }
  /** In no folder at all, and why. */
  | { readonly kind: 'none'; readonly taskId: string; readonly reason: string };

/** The worktrees of tasks: who works in which, how they come and how they go. */
export class Worktrees {
  constructor(
    private readonly ledger: Ledger,
    private readonly locks: KeyedLock,
    private readonly clock: Clock,
    private readonly board: Board,
    private readonly git: WorktreeGit | undefined,
  ) {}

  /** Follows from the board alone: what the member has under way, and whether that is isolated. */
  placeOf(member: string): Place {
    const task = this.board.book.underWay(member) ?? this.#awaitedBy(member);
    if (!task || (task.worktree === undefined && task.isolated !== true)) return { kind: 'main' };
    const { worktree, id: taskId } = task;
    if (worktree?.state === 'ready') return { kind: 'worktree', taskId, worktree };
    const why =
      worktree === undefined
        ? `is not there${task.worktreeDue === true ? ' yet' : ''}`
        : `is ${worktree.state === 'creating' ? 'being made' : 'being removed'}`;
    return { kind: 'none', taskId, reason: `The worktree of ${taskId} ${why}.` };
  }

  /** Why a member's worktree cannot be worked in just now, or undefined. */
  async problemOf({ path, branch }: TaskWorktree): Promise<string | undefined> {
    return this.#port().problem(path, branch);
  }

  /**
   * Makes a worktree for a task that nobody has under way. From the first record on the task is isolated.
   * @param base commit or branch to begin at, instead of what is checked out
   * @returns what to tell whoever asked
   * @throws {TeamError} there is one, or the task is under way or completed; and git's own errors
   */
  create(raw: string, by: string, base?: string, call?: CallRef): Promise<{ task: Task; text: string }> {
    const git = this.#port();
    return this.locks.run(LOCK, () => this.#create(git, raw, by, base, call));
  }

  /**
   * Makes the worktree that a task came with, if it is still to be made; whoever the task is kept for gets it then.
   * Where git refuses, the lead is told.
   * @returns why it could not be made, or undefined
   * @throws the journal's error; then it is still to be made
   */
  makeDue(id: string): Promise<string | undefined> {
    return this.locks.run(LOCK, () => this.#makeDue(id));
  }

  async #makeDue(id: string): Promise<string | undefined> {
    const isDue = (): boolean => {
      const { worktreeDue, worktree, status } = this.board.get(id);
      return worktreeDue === true && worktree === undefined && status !== 'completed';
    };
    if (!isDue()) return undefined;
    try {
      await this.#create(this.#port(), id, this.board.get(id).createdBy);
      return undefined;
    } catch (error) {
      const { worktree, worktreeDue } = this.board.get(id);
      // What git has made and the journal does not know of is made anew at the next start.
      if (worktree !== undefined) throw error;
      if (worktreeDue === true) await this.#gone(id, `It could not be made: ${messageOf(error)}`);
      return messageOf(error);
    }
  }

  async #create(git: WorktreeGit, raw: string, by: string, base?: string, call?: CallRef) {
    const { id } = this.#free(raw);
    const plan = await git.plan(id, base);
    this.#free(id);
    const { path, branch, base: commit, baseName: base_name } = plan;
    const at = this.clock.now();
    await this.ledger.commit([
      { t: 'worktree_begun', task_id: id, path, branch, base: commit, base_name, by, call, at },
    ]);
    try {
      await git.make(plan);
    } catch (error) {
      await this.#gone(id, `It could not be made: ${messageOf(error)}`);
      throw error;
    }
    const text = [
      `Created worktree ${path} for ${id} on branch ${branch}, from ${base_name}.`,
      ...plan.notes,
    ].join(' ');
    await this.board.placed(id, { t: 'worktree_made', task_id: id, text, call, at: this.clock.now() });
    return { task: this.board.get(id), text };
  }

  /**
   * Removes a task's worktree and its branch, with whatever is in them: the caller has asked the human.
   * @param evenFrom a member from whom it is taken, should that one work in it; `*` from anybody
   * @throws {TeamError} where there is none, or somebody has begun to work in it; and git's own errors, then it is
   * still there
   */
  remove(raw: string, evenFrom?: string): Promise<void> {
    const git = this.#port();
    return this.locks.run(LOCK, async () => {
      const { id } = this.board.get(raw);
      const worktree = this.ready(id);
      await this.locks.run(taskLock(id), async () => {
        const task = this.board.get(id);
        if (isUnderWay(task) && evenFrom !== '*' && task.owner !== evenFrom) {
          throw new TeamError(
            `${task.owner} has begun to work in the worktree of ${id}. Nothing was removed.`,
          );
        }
        await this.ledger.commit([{ t: 'worktree_leaving', task_id: id, by: HUMAN, at: this.clock.now() }]);
      });
      await git.remove(worktree.path, worktree.branch);
      await this.#gone(id, 'It was removed.');
    });
  }

  /** A worktree that is not being made at this moment. @throws {TeamError} */
  ready(raw: string): TaskWorktree {
    const { id, worktree } = this.board.get(raw);
    if (worktree === undefined) throw new TeamError(`${id} has no worktree.`);
    if (worktree.state === 'creating') throw new TeamError(`The worktree of ${id} is being made.`);
    return worktree;
  }

  /**
   * After a restart: what was being made is made anew, and what was being removed is removed.
   * @returns what could not be done, a sentence each
   */
  recover(): Promise<string[]> {
    return this.locks.run(LOCK, async () => {
      const failed: string[] = [];
      for (const task of this.board.book.all()) {
        const { worktree } = task;
        if (worktree === undefined ? task.worktreeDue !== true : worktree.state === 'ready') continue;
        try {
          if (worktree !== undefined) await this.#takeUp(task.id, worktree);
          else {
            const why = await this.#makeDue(task.id);
            if (why !== undefined) throw new TeamError(why);
          }
        } catch (error) {
          const what = worktree?.state === 'removing' ? 'removed' : 'made';
          failed.push(`The worktree of ${task.id} could not be ${what}: ${messageOf(error)}`);
        }
      }
      return failed;
    });
  }

  /** Written before the first step of an acceptance. */
  beginAccept(id: string, acceptance: Acceptance): Promise<void> {
    return this.ledger.commit([{ t: 'accept_begun', task_id: id, acceptance, at: this.clock.now() }]);
  }

  endAccept(task_id: string, id: string, outcome: ReviewOutcome): Promise<void> {
    return this.ledger.commit([{ t: 'accept_ended', task_id, id, outcome, at: this.clock.now() }]);
  }

  async #takeUp(id: string, worktree: TaskWorktree): Promise<void> {
    const git = this.#port();
    if (worktree.state === 'removing') {
      await git.remove(worktree.path, worktree.branch);
      await this.#gone(id, 'It was removed.');
      return;
    }
    try {
      // Nobody has worked in it before it was said to be ready.
      await git.clear(worktree);
    } catch (error) {
      const left = `What was begun could not be cleared away: look at ${worktree.path} and the branch ${worktree.branch}.`;
      const why = `${messageOf(error)} ${left}`;
      await this.#gone(id, `It could not be made: ${why}`);
      throw new TeamError(why, { cause: error });
    }
    try {
      await git.make({ ...worktree, notes: [] });
    } catch (error) {
      await this.#gone(id, `It could not be made: ${messageOf(error)}`);
      throw error;
    }
    const text = `Created worktree ${worktree.path} for ${id} on branch ${worktree.branch}, from ${worktree.baseName}.`;
    await this.board.placed(id, { t: 'worktree_made', task_id: id, text, at: this.clock.now() });
  }

  async #gone(id: string, reason: string): Promise<void> {
    const at = this.clock.now();
    const task = this.board.get(id);
    const message: TeamMessage = {
      id: this.clock.uuid(),
      type: 'message',
      from: RUNTIME,
      to: LEAD,
      toIncarnation: 0,
      content: noPlaceText(task, reason),
      timestamp: at / 1000,
    };
    await this.ledger.commit([
      { t: 'worktree_gone', task_id: id, reason, at, ...(task.worktreeDue ? { message } : {}) },
    ]);
  }

  /** A task that the member begins with: until its worktree is there, or given up, the member works nowhere. */
  #awaitedBy(member: string): Task | undefined {
    const task = this.board.book.keptFor(member);
    const isItsOwn = task?.keptFor?.incarnation === this.ledger.state.lastIncarnation(member);
    return task?.worktreeDue === true && isItsOwn ? task : undefined;
  }

  #free(raw: string): Task {
    const task = this.board.get(raw);
    const { id, owner, worktree } = task;
    if (worktree !== undefined) throw new TeamError(`${id} already has a worktree: ${worktree.path}.`);
    if (task.status === 'completed') throw new TeamError(`${id} is completed.`);
    if (isUnderWay(task)) {
      const who = owner === LEAD ? 'the lead' : owner;
      throw new TeamError(
        `${id} is under way with ${who} in the main folder. Take it back first (update_task with status pending).`,
      );
    }
    return task;
  }

  #port(): WorktreeGit {
    if (this.git === undefined) throw new TeamError('This window only shows the team.');
    return this.git;
  }
}
