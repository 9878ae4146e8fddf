import { type HandshakeRequest, LEAD, type MessageType, type TeamMessage, wakes } from '../protocol';
import { resolveAlive, resolveMember } from './addressing';
import { Assignments } from './assignments';
import { Board } from './board';
import { Budgets } from './budgets';
import { Decisions, workLock } from './decisions';
import { incarnationKey } from './incarnation';
import { Leases } from './leases';
import { type Ledger, messageOf } from './ledger';
import { KeyedLock } from './locks';
import { Mailing } from './mailing';
import { Marks } from './marks';
import { isGone, type Member, type MemberStatus, workOf } from './member';
import type { Clock, MemberRunner } from './ports';
import type { CallRef } from './recordParts';
import { Recruiting, type SpawnOrder } from './recruiting';
import type { CoreSettings } from './settings';
import { TeamError } from './teamError';
import { UsageMeter } from './usageMeter';
import type { WorktreeGit } from './worktree';
import { Worktrees } from './worktrees';

export { TeamError } from './teamError';

/** The roster, the mailboxes and the requests of one workspace folder, and every command that changes them. */
export class Team {
  readonly decisions: Decisions;
  readonly marks: Marks;
  readonly leases: Leases;
  readonly recruiting: Recruiting;
  readonly usage: UsageMeter;
  readonly budgets: Budgets;
  readonly board: Board;
  readonly worktrees: Worktrees;
  readonly #assignments = new Assignments();
  readonly #mailing: Mailing;
  readonly #locks = new KeyedLock();
  readonly #runners = new Map<string, MemberRunner>();
  readonly #fenced = new Set<string>();
  #startRunner: (member: Member, waits: boolean) => MemberRunner = () => {
    throw new Error('The team has no runner for teammates.');
  };

  constructor(
    readonly ledger: Ledger,
    private readonly clock: Clock,
    private readonly settings: () => CoreSettings,
    /** Undefined where the team is only shown. */
    git?: WorktreeGit,
  ) {
    this.board = new Board(ledger, this.#locks, clock, {
      give: (name, work) => (name === LEAD ? work() : this.#assignments.give(name, work)),
      takeBack: (name) => this.#assignments.drop(name),
      isFree: (name) => this.isFree(name),
      isFenced: (name, incarnation) => this.isFenced(name, incarnation),
    });
    this.worktrees = new Worktrees(ledger, this.#locks, clock, this.board, git);
    this.recruiting = new Recruiting(ledger, this.#locks, clock, settings, this.board, (name) =>
      this.#begin(name),
    );
    this.#mailing = new Mailing(ledger, this.#locks, clock, this.#assignments);
    this.marks = new Marks(ledger, clock);
    this.leases = new Leases(ledger, clock, (name, incarnation) => this.isFenced(name, incarnation));
    this.usage = new UsageMeter(ledger, clock);
    this.budgets = new Budgets(ledger, clock, settings, this.usage);
    this.decisions = new Decisions(
      ledger,
      this.#locks,
      clock,
      settings,
      (name, incarnation) => this.isFenced(name, incarnation),
      this.recruiting,
    );
    ledger.events.on((event) => {
      if (event.type === 'message' && wakes(event.message)) this.#runners.get(event.message.to)?.wake('mail');
      else if (event.type === 'request') this.#runners.get(event.request.work.member)?.wake('request');
    });
  }

  get state() {
    return this.ledger.state;
  }

  /**
   * @param start begins a teammate's loop; called once for each incarnation. One that `waits` takes nothing up before
   * it is woken.
   */
  useRunners(start: (member: Member, waits: boolean) => MemberRunner): void {
    this.#startRunner = start;
  }

  attachRunner(name: string, runner: MemberRunner): void {
    this.#runners.set(name, runner);
  }

  runner(name: string): MemberRunner | undefined {
    return this.#runners.get(name);
  }

  /** Messages the present incarnation has not been shown. */
  unread(name: string): readonly TeamMessage[] {
    return this.state.unread(name);
  }

  /** The addressee of a name as somebody wrote it; case does not matter. @throws {TeamError} listing the members */
  resolveMember(raw: string): Member | typeof LEAD {
    return resolveMember(this.state, raw);
  }

  /** A teammate that is still there. @throws {TeamError} */
  resolveAlive(raw: string): Member {
    return resolveAlive(this.state, raw);
  }

  /** Starts a teammate. A name whose bearer has shut down may be used again. @throws {TeamError} */
  spawn(order: SpawnOrder, by: string, call?: CallRef): Promise<Member> {
    return this.recruiting.spawn(order, by, call);
  }

  /** True where a proposed team starts without the human's word. */
  get startsUnasked(): boolean {
    return this.settings().approvals.team === 'auto';
  }

  #begin(name: string): Member {
    this.#assignments.begin(name);
    const member = this.#present(name);
    // It is woken with the task it begins with, once there is a place to do it.
    const waits = this.board.book.keptFor(name)?.keptFor?.incarnation === member.incarnation;
    const runner = this.#startRunner(member, waits);
    this.#runners.set(name, runner);
    if (!waits) runner.wake('mail');
    return member;
  }

  /**
   * Sends a plain message. To an idle teammate it begins a new assignment, with a work version of its own.
   * @throws {TeamError} unknown or departed recipient, empty text
   */
  send(
    from: string,
    to: string,
    content: string,
    options: { type?: MessageType; id?: string; call?: CallRef } = {},
  ): Promise<TeamMessage> {
    return this.#mailing.send(from, to, content, options);
  }

  /** Puts a message into a teammate's mailbox, as a new assignment when it was idle. */
  deliver(name: string, message: TeamMessage, call?: CallRef): Promise<void> {
    return this.#mailing.deliver(name, message, call);
  }

  /** The end of an assignment: the result, and the notice that the teammate is idle, in one record. */
  report(name: string, text: string): Promise<void> {
    return this.#mailing.report(name, text);
  }

  /** To everyone but the sender. @returns the names it reached */
  broadcast(from: string, content: string, call?: CallRef): Promise<string[]> {
    return this.#mailing.broadcast(from, content, call);
  }

  /** Asks for a plan: from now on the teammate's present work needs an approved one. @throws {TeamError} */
  requestPlan(from: string, raw: string, topic?: string): Promise<Member> {
    return this.#mailing.requestPlan(from, raw, topic);
  }

  /** Asks a teammate to shut down; while one such request is pending, that one is returned. @throws {TeamError} */
  async requestShutdown(
    from: string,
    raw: string,
    reason?: string,
    call?: CallRef,
  ): Promise<HandshakeRequest> {
    const { name } = this.resolveAlive(raw);
    return this.#locks.run(`shutdown:${name}`, async () => {
      const member = this.resolveAlive(name);
      const already = this.decisions.registry
        .pending()
        .find((r) => r.kind === 'shutdown' && r.to === name && r.work.incarnation === member.incarnation);
      if (already) return already;
      return this.decisions.open({
        kind: 'shutdown',
        from,
        to: name,
        payload: reason === undefined || reason === '' ? {} : { reason },
        work: workOf(member),
        ...(call === undefined ? {} : { call }),
      });
    });
  }

  /** What a running loop says of its member; shown, not written. */
  setStatus(name: string, status: MemberStatus, reason?: string): void {
    for (const event of this.state.setStatus(name, status, reason)) this.ledger.events.fire(event);
  }

  /**
   * The teammate has nothing more to do for what it was given.
   * @param hasMail whether messages wait that were sent while it was still at work: they go on with the same task
   */
  endAssignment(name: string, hasMail: boolean): void {
    this.#assignments.end(name, hasMail);
  }

  /** True until the teammate goes idle, from the moment it was given something to do. */
  isAssigned(name: string): boolean {
    return this.#assignments.isAssigned(name);
  }

  /** A failed member is called again: it has its task back, if nobody else has begun with it. */
  async recovered(name: string): Promise<void> {
    const lost = this.state.member(name)?.lostTask;
    this.marks.recovered(name);
    if (lost === undefined) return;
    try {
      await this.board.takeUpAgain(lost, name);
    } catch (error) {
      this.ledger.events.fire({ type: 'notice', level: 'error', text: messageOf(error), member: name });
    }
  }

  /** Whether a teammate has nothing to do at all, and is not asked to leave. */
  isFree(name: string): boolean {
    return (
      this.#mailing.isIdle(name) &&
      this.board.book.underWay(name) === undefined &&
      !this.isFenced(name, this.state.lastIncarnation(name)) &&
      !this.decisions.registry.pending().some(({ kind, to }) => kind === 'shutdown' && to === name)
    );
  }

  /** After a restart: a teammate that was at work, or waits for a decision, still has its assignment. */
  restoreAssignment(name: string): void {
    this.#assignments.begin(name);
  }

  /**
   * Ends an incarnation: the roster says so, and what it asked or was asked is withdrawn, in one record.
   * @param shown messages of its mailbox that its transcript holds; the others are kept for the lead
   * @param progress how far it came with the task that it has under way, which is free again
   */
  end(
    name: string,
    incarnation: number,
    status: 'shutdown' | 'failed',
    reason: string | undefined,
    shown: readonly string[] = [],
    progress = '',
  ): Promise<void> {
    // In turn with whatever opens or decides for this member, so that nothing is left pending behind it.
    return this.#locks.run(workLock(name), async () => {
      const member = this.state.member(name);
      if (!member || member.incarnation !== incarnation || isGone(member)) return;
      const withdrawn = status === 'shutdown' ? `${name} has shut down` : `${name} failed`;
      const cancels = this.decisions.registry
        .pending()
        .filter((r) => r.work.member === name && (status === 'shutdown' || r.kind === 'tool_permission'))
        .map((r) => ({ requestId: r.requestId, reason: withdrawn }));
      if (status === 'shutdown') this.#assignments.drop(name);
      await this.ledger.commit([
        {
          t: 'status',
          name,
          incarnation,
          status,
          cancels,
          ...(shown.length === 0 ? {} : { shown: [...shown] }),
          ...(progress === '' || !this.board.book.underWay(name) ? {} : { progress }),
          at: this.clock.now(),
          ...(reason === undefined ? {} : { reason }),
        },
      ]);
    });
  }

  /** From this tick on nothing of the incarnation counts: no decision, no tool call. */
  fence(name: string, incarnation: number): void {
    this.#fenced.add(incarnationKey(name, incarnation));
  }

  isFenced(name: string, incarnation: number): boolean {
    return this.#fenced.has(incarnationKey(name, incarnation));
  }

  async newConversation(): Promise<void> {
    const record = { t: 'conversation', number: this.state.conversation + 1, at: this.clock.now() } as const;
    await this.ledger.commit([record]);
  }

  /** Takes those that have shut down off the roster. @throws {TeamError} while somebody is still there */
  async cleanUp(): Promise<string[]> {
    const alive = this.state.members().filter((member) => !isGone(member));
    if (alive.length > 0) {
      const names = alive.map((m) => m.name).join(', ');
      throw new TeamError(`Still in the team: ${names}. Ask for their shutdown or force stop them first.`);
    }
    const names = this.state.members().map((member) => member.name);
    if (names.length > 0) await this.ledger.commit([{ t: 'cleaned', names, at: this.clock.now() }]);
    return names;
  }

  #present(name: string): Member {
    const member = this.state.member(name);
    if (!member) throw new TeamError(`There is no member '${name}'.`);
    return member;
  }
}
