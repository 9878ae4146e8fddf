import { HUMAN, LEAD, RUNTIME, type TeamMessage } from '../protocol';
import { resolveAlive, resolveMember } from './addressing';
import { BoardChecks, checkedSubject, checkNumber, type Taker } from './boardChecks';
import { workLock } from './decisions';
import { type Ledger, messageOf } from './ledger';
import type { KeyedLock } from './locks';
import type { Clock } from './ports';
import type { CallRef } from './recordParts';
import type { TeamRecord } from './records';
import { nameLock } from './recruiting';
import { isUnderWay, type NewTask, type Task, type TaskEdit } from './task';
import type { TaskBook } from './taskBook';
import type { TaskRecord } from './taskRecords';
import { givenText, sentBackText, takenText } from './taskTexts';
import { TeamError } from './teamError';

export type { Taker } from './boardChecks';

/** Edits of who waits for whom are made one at a time, so that two of them cannot close a circle. */
const GRAPH_LOCK = 'board';

export interface BoardHooks {
  /** Runs what gives a member a task. From then on it has something to do, unless it fails. */
  give(name: string, work: () => Promise<void>): Promise<void>;
  /** It has not what {@link give} was to give it. */
  takeBack(name: string): void;
  /** Whether a teammate has nothing to do, so that the runtime may give it a task. */
  isFree(name: string): boolean;
  isFenced(name: string, incarnation: number): boolean;
}

/** Who would take what next. */
export interface Pair {
  readonly task: Task;
  readonly taker: Taker;
}

/** The shared board, and every command that changes it. Whoever calls it answers for who may. */
export class Board {
  #reserved = 0;
  #pairs: (tasks: readonly Task[]) => readonly Pair[] = () => [];
  readonly #checks: BoardChecks;

  constructor(
    private readonly ledger: Ledger,
    private readonly locks: KeyedLock,
    private readonly clock: Clock,
    private readonly hooks: BoardHooks,
  ) {
    this.#checks = new BoardChecks(
      () => this.book,
      (name, incarnation) => hooks.isFenced(name, incarnation),
    );
  }

  /** @param pairs who would take these tasks if they were ready now */
  useDealer(pairs: (tasks: readonly Task[]) => readonly Pair[]): void {
    this.#pairs = pairs;
  }

  get book(): TaskBook {
    return this.ledger.state.tasks.book;
  }

  /** @throws {TeamError} that names some of the tasks there are */
  get(raw: string): Task {
    return this.#checks.get(raw);
  }

  /** An id for a task that is about to be made; it is given to nobody else, also where nothing comes of it. */
  nextId(): string {
    this.#reserved = Math.max(this.#reserved, this.book.last) + 1;
    return `t${this.#reserved}`;
  }

  /** @throws {TeamError} an empty subject, or dependencies that do not exist */
  async create(input: NewTask, by: string, call?: CallRef): Promise<Task> {
    const subject = checkedSubject(input.subject);
    const blockedBy = this.#checks.checkedIds(input.blockedBy ?? []);
    checkNumber('priority', input.priority);
    const id = this.nextId();
    await this.#commit({
      t: 'task_created',
      task_id: id,
      subject,
      description: input.description.trim(),
      priority: input.priority ?? 0,
      blocked_by: blockedBy,
      ...(input.isolated === undefined ? {} : { isolated: input.isolated }),
      by,
      call,
      at: this.clock.now(),
    });
    return this.get(id);
  }

  /** @throws {TeamError} unknown tasks, a circle of dependencies, or a change that the task's status does not allow */
  async edit(raw: string, edit: TaskEdit, by: string, call?: CallRef): Promise<Task> {
    const { id } = this.get(raw);
    const { subject, blockedBy, ...rest } = edit;
    checkNumber('priority', edit.priority);
    checkNumber('order', edit.order);
    const locks = blockedBy === undefined ? [] : [GRAPH_LOCK];
    await this.#withTask(id, locks, async (task) => {
      const change = {
        ...rest,
        ...(subject === undefined ? {} : { subject: checkedSubject(subject) }),
        ...(blockedBy === undefined ? {} : { blockedBy: this.#checks.checkedDependencies(task, blockedBy) }),
      };
      this.#checks.checkStatus(task, edit);
      const taken = edit.status !== undefined && isUnderWay(task);
      const why = edit.status === 'blocked' ? 'has blocked' : 'has taken back';
      const message = taken ? this.#toOwner(task, by, why) : undefined;
      await this.#commit({ t: 'task_edited', task_id: id, by, change, message, call, at: this.clock.now() });
    });
    return this.get(id);
  }

  /**
   * A member takes a task by itself. Of two that try in one tick the first one has it.
   * @throws {TeamError} that says who has it, what it waits for, or what the member has to finish first
   */
  async claim(raw: string, taker: Taker, call?: CallRef): Promise<Task> {
    const { id, owner } = this.get(raw);
    if (owner === taker.name && this.book.underWay(taker.name)?.id === id) return this.get(id);
    await this.locks.runAll([taskLock(id), workLock(taker.name)], async () => {
      this.#checks.checkClaim(this.get(id), taker);
      await this.#take(id, taker, taker.name, undefined, call);
    });
    return this.get(id);
  }

  /**
   * The runtime gives a ready task to a teammate that has nothing to do.
   * @returns false when either has changed meanwhile
   */
  deal(id: string, taker: Taker): Promise<boolean> {
    return this.locks.runAll([taskLock(id), workLock(taker.name)], async () => {
      if (!this.book.isReady(id) || !this.#mayHave(taker)) return false;
      const task = this.get(id);
      await this.#take(id, taker, RUNTIME, this.#message(RUNTIME, taker, givenText(task, RUNTIME)));
      return true;
    });
  }

  /**
   * Gives a task to a member, also one that another has under way. Both are told.
   * @throws {TeamError} unknown or departed member, one that has a task, or a task that cannot begin
   */
  async assign(raw: string, member: string, by: string, call?: CallRef): Promise<Task> {
    const { id } = this.get(raw);
    const taker = this.#takerOf(member);
    await this.#withTask(id, [workLock(taker.name)], async (task) => {
      if (isUnderWay(task) && task.owner === taker.name) return;
      const at = this.clock.now();
      const before: TaskRecord[] = [];
      if (isUnderWay(task)) {
        const note = `Taken from ${task.owner} and given to ${taker.name} by ${by}`;
        const message = this.#toOwner(task, by, `has given to ${taker.name}:`);
        before.push({ t: 'task_released', task_id: id, by, note, message, at });
        this.#checks.checkTaker(taker);
      } else this.#checks.checkClaim(task, taker);
      await this.#take(id, taker, by, this.#message(by, taker, givenText(task, by)), call, before);
    });
    return this.get(id);
  }

  /** Takes a task from its owner, who is told. @throws {TeamError} when nobody has it */
  async release(raw: string, by: string, note?: string): Promise<Task> {
    const { id } = this.get(raw);
    await this.#withTask(id, [], async (task) => {
      if (!isUnderWay(task)) throw new TeamError(`Nobody has ${id}: it is ${task.status}.`);
      const text = note?.trim() ? `Released by ${by}: ${note.trim()}` : `Released by ${by}`;
      const message = this.#toOwner(task, by, 'has taken back');
      await this.#commit({
        t: 'task_released',
        task_id: id,
        by,
        note: `${text} (was ${task.owner}'s).`,
        message,
        at: this.clock.now(),
      });
    });
    return this.get(id);
  }

  /**
   * Closes a task. A member closes what it has under way; the human may close any. Whoever would take what waited
   * for it has it with the same record.
   * @returns the task, and those that could begin from then on
   * @throws {TeamError} when it is somebody else's, or completed already
   */
  async complete(
    raw: string,
    by: Taker | typeof HUMAN,
    result: string,
    call?: CallRef,
  ): Promise<{ task: Task; freed: readonly Task[] }> {
    const { id } = this.get(raw);
    let freed: readonly Task[] = [];
    const pairs = this.#pairs(this.book.freedWith(id));
    const locks = pairs.flatMap(({ task, taker }) => [taskLock(task.id), workLock(taker.name)]);
    await this.#withTask(id, locks, async (task) => {
      if (task.status === 'completed') throw new TeamError(`${id} is already completed by ${task.owner}.`);
      if (by !== HUMAN) this.#checks.checkOwner(task, by);
      const name = by === HUMAN ? HUMAN : by.name;
      const message = by === HUMAN && isUnderWay(task) ? this.#toOwner(task, HUMAN, 'has closed') : undefined;
      freed = this.book.freedWith(id);
      const completed: TaskRecord = {
        t: 'task_completed',
        task_id: id,
        by: name,
        result: result.trim(),
        message,
        call,
        at: this.clock.now(),
      };
      const given = pairs.flatMap(({ task: { id: next }, taker }) => {
        const present = freed.find((one) => one.id === next);
        return present !== undefined && this.#mayHave(taker) ? [{ task: present, taker }] : [];
      });
      await this.#giveWith(completed, given);
    });
    return { task: this.get(id), freed };
  }

  /** Writes what makes these tasks ready together with their claims. */
  async #giveWith(record: TaskRecord, pairs: readonly Pair[]): Promise<void> {
    const claims = pairs.map(({ task, taker }) =>
      this.#claimRecord(task.id, taker, RUNTIME, this.#message(RUNTIME, taker, givenText(task, RUNTIME))),
    );
    const write = pairs.reduce<() => Promise<void>>(
      (inner, { taker }) =>
        () =>
          this.hooks.give(taker.name, inner),
      () => this.#commit(record, ...claims),
    );
    await write();
    for (const { task, taker } of pairs) {
      const { owner } = this.get(task.id);
      // It left while the record was on its way to the disk; the task is free, and goes to somebody else.
      if (owner !== taker.name) this.hooks.takeBack(taker.name);
    }
  }

  #mayHave({ name, incarnation }: Taker): boolean {
    return this.hooks.isFree(name) && !this.hooks.isFenced(name, incarnation);
  }

  /**
   * A task's worktree has been made: whoever the task is kept for has it from the same moment on, or is told why not.
   * @param made says so in the journal
   */
  async placed(raw: string, made: Extract<TaskRecord, { t: 'worktree_made' }>): Promise<void> {
    const { id, keptFor } = this.get(raw);
    if (keptFor === undefined) return this.#commit(made);
    const taker: Taker = { name: keptFor.member, incarnation: keptFor.incarnation };
    // Once the proposal that brought both has begun with the member.
    await this.locks.runAll([nameLock(taker.name), taskLock(id), workLock(taker.name)], async () => {
      const task = this.get(id);
      const worktree = task.worktree && { ...task.worktree, state: 'ready' as const };
      const ready: Task = { ...task, worktree, ...(worktree === undefined ? {} : { isolated: true }) };
      const isThere = this.ledger.state.tasks.isThere({
        ...task,
        owner: taker.name,
        ownerIncarnation: taker.incarnation,
      });
      if (task.keptFor === undefined || !isThere) return this.#commit(made);
      const records = ((): TeamRecord[] => {
        try {
          this.#checks.checkClaim(ready, taker);
        } catch (error) {
          const text = `You cannot begin with ${id}: ${messageOf(error)}`;
          return [{ t: 'mail', message: this.#message(RUNTIME, taker, text) }];
        }
        return [this.#claimRecord(id, taker, LEAD, this.#message(LEAD, taker, givenText(ready, LEAD)))];
      })();
      await this.hooks.give(taker.name, () => this.ledger.commit([made, ...records]));
    });
  }

  /**
   * Reviewed, and to be gone on with in the same worktree: by who had it last where that member is there and has
   * nothing else, else by whoever takes it.
   * @throws {TeamError} no comments, or somebody works on it
   */
  async sendBack(raw: string, comments: string, by: string): Promise<Task> {
    const { id } = this.get(raw);
    const text = comments.trim();
    if (text === '') throw new TeamError('Say what is to be done differently.');
    await this.#withTask(id, [], async (task) => {
      const { owner, ownerIncarnation } = task;
      if (isUnderWay(task)) throw new TeamError(`${owner} still works on ${id}. Send a message instead.`);
      const last =
        owner !== undefined && ownerIncarnation !== undefined && this.ledger.state.tasks.isThere(task)
          ? { name: owner, incarnation: ownerIncarnation }
          : undefined;
      const isFree = last !== undefined && !this.book.underWay(last.name);
      const send = (): Promise<void> =>
        this.#commit({
          t: 'sent_back',
          task_id: id,
          comments: text,
          ...(isFree ? { to: { member: last.name, incarnation: last.incarnation } } : {}),
          message: last && this.#message(by, last, sentBackText(task, by, text, isFree)),
          by,
          at: this.clock.now(),
        });
      await (isFree ? this.hooks.give(last.name, send) : send());
    });
    return this.get(id);
  }

  /**
   * For a teammate that is being started with a task: the record that gives it, to be written with the one that
   * starts it, while {@link taskLock} is held.
   * @throws {TeamError} when the task cannot begin
   */
  firstTask(raw: string, taker: Taker, by: string): TaskRecord {
    const task = this.get(raw);
    this.#checks.checkFree(task);
    return this.#claimRecord(task.id, taker, by, this.#message(by, taker, givenText(task, by)));
  }

  /** Gives a task back to one that had failed with it; tells it, where that cannot be. */
  async takeUpAgain(id: string, name: string): Promise<void> {
    const taker = this.#takerOf(name);
    await this.locks.runAll([taskLock(id), workLock(name)], async () => {
      const task = this.book.get(id);
      if (!task || task.owner === name || this.book.underWay(name)) return;
      if (this.book.isReady(id)) {
        await this.#take(id, taker, RUNTIME, undefined);
        return;
      }
      const who = task.owner === undefined ? `is ${task.status}` : `is ${task.owner}'s`;
      const text = `While you could not go on, ${id} was freed; it ${who} now. Leave it alone.`;
      await this.ledger.commit([{ t: 'mail', message: this.#message(RUNTIME, taker, text) }]);
    });
  }

  /** Frees what is under way with somebody who is not there, as after a gap in the journal. @returns what was done */
  async releaseAbsent(): Promise<string[]> {
    const absent = this.book
      .all()
      .filter((task) => isUnderWay(task) && !this.ledger.state.tasks.isThere(task));
    if (absent.length === 0) return [];
    const at = this.clock.now();
    await this.ledger.commit(
      absent.map(({ id, owner }) => ({
        t: 'task_released' as const,
        task_id: id,
        by: RUNTIME,
        note: `${owner} is not in the team any more. How far it came is not known.`,
        at,
      })),
    );
    return absent.map(
      ({ id, owner }) => `${id} was under way with ${owner}, who is not there: it is free again.`,
    );
  }

  #takerOf(raw: string): Taker {
    const target = resolveMember(this.ledger.state, raw);
    if (target === LEAD) return { name: LEAD, incarnation: 0 };
    const { name, incarnation } = resolveAlive(this.ledger.state, target.name);
    return { name, incarnation };
  }

  /** With a task and the work of its owner held still. */
  async #withTask(id: string, locks: readonly string[], work: (task: Task) => Promise<void>): Promise<void> {
    for (let done = false; !done; ) {
      const { owner } = this.get(id);
      const held = [...locks, taskLock(id), ...(owner === undefined ? [] : [workLock(owner)])];
      await this.locks.runAll(held, async () => {
        const task = this.get(id);
        if (task.owner !== owner) return;
        done = true;
        await work(task);
      });
    }
  }

  async #take(
    id: string,
    taker: Taker,
    by: string,
    message: TeamMessage | undefined,
    call?: CallRef,
    before: readonly TaskRecord[] = [],
  ): Promise<void> {
    await this.hooks.give(taker.name, async () => {
      await this.#commit(...before, this.#claimRecord(id, taker, by, message, call));
      const task = this.get(id);
      if (task.owner === taker.name && isUnderWay(task)) return;
      // It left, or another change came first, while the record was on its way to the disk.
      this.#checks.checkClaim(task, taker);
      throw new TeamError(`${taker.name} could not take ${id}: it has left meanwhile.`);
    });
  }

  #claimRecord(
    task_id: string,
    { name: member, incarnation }: Taker,
    by: string,
    message: TeamMessage | undefined,
    call?: CallRef,
  ): TaskRecord {
    return { t: 'task_claimed', task_id, member, incarnation, by, message, call, at: this.clock.now() };
  }

  #commit(...records: TaskRecord[]): Promise<void> {
    return this.ledger.commit(records);
  }

  /** What a task's owner is told that did not make the change itself; the owner is told nothing of its own. */
  #toOwner(task: Task, by: string, why: string): TeamMessage | undefined {
    const { owner, ownerIncarnation } = task;
    if (owner === undefined || owner === by) return undefined;
    const who = by === HUMAN ? 'The human' : by;
    return this.#message(by, { name: owner, incarnation: ownerIncarnation ?? 0 }, takenText(task, who, why));
  }

  #message(from: string, to: Taker, content: string): TeamMessage {
    const timestamp = this.clock.now() / 1000;
    const { name, incarnation } = to;
    return {
      id: this.clock.uuid(),
      type: 'message',
      from,
      to: name,
      toIncarnation: incarnation,
      content,
      timestamp,
    };
  }
}

export function taskLock(id: string): string {
  return `task:${id}`;
}
