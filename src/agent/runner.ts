import { type CallCounts, needsKey } from '../model/port';
import { describeWait, type WaitState } from '../model/waitState';
import { HUMAN, type TeamMessage, wakes } from '../protocol';
import type { TurnError } from '../team/events';
import { messageOf } from '../team/ledger';
import type { MemberRunner } from '../team/ports';
import type { OfferedTools } from '../tools';
import type { Ended } from './afterTurn';
import { describeCall } from './describeCall';
import { type DispatchContext, Suspended } from './dispatch';
import { type Doing, describeDoing, isSameWait } from './doing';
import { turnErrorOf } from './errors';
import { HeldConversation } from './heldConversation';
import { type Hold, holdOf, refuseBeyondBudget } from './hold';
import { Nudges } from './nudges';
import { progressOf } from './progress';
import { pathIn } from './projectInstructions';
import type { RunnerDeps, RunnerProfile } from './runnerDeps';
import { ShownMail } from './shownMail';
import { answerCalls, runTurn, type TurnHost } from './turn';
import { type Interruption, TurnSignals } from './turnSignals';
import { TurnWaiters } from './turnWaiters';
import { Waits } from './waits';

/** One member's loop: sleeps until there is mail, runs a turn, and again, until it is shut down or stopped. */
export class Runner implements MemberRunner {
  doing: Doing | undefined;
  lastError: TurnError | undefined;
  /** What the member waits for since its last turn, that only the human can give. */
  hold: Hold | undefined;
  isBusy = false;
  /** Set after a restart, when the transcript ends in the middle of work. */
  cutOff = false;
  readonly #nudges: Nudges;
  readonly #waits: Waits;
  /** Who waits for the turn of a message. */
  readonly waiters = new TurnWaiters();
  readonly #loop: Promise<void>;
  readonly #whenStopped: Promise<void>;
  #tellStopped: () => void = () => undefined;
  readonly #conversation: HeldConversation;
  readonly #signals = new TurnSignals();
  #parked: boolean;
  #retry = false;
  #ended = false;
  #suspended = false;
  #interrupted = false;
  /** The human stopped it: it begins nothing by itself until it is spoken to. */
  #isHeld = false;
  #endBatch: string | undefined;
  readonly #mail: ShownMail;
  #alarm: (() => void) | undefined;

  constructor(
    private readonly deps: RunnerDeps,
    private readonly profile: RunnerProfile,
  ) {
    this.#parked = profile.parked;
    this.#conversation = new HeldConversation(deps);
    this.#waits = new Waits(deps, profile.name);
    this.#mail = new ShownMail(
      deps,
      profile.name,
      (id) => this.#conversation.present?.hasShown(id) ?? false,
      () => this.#ended,
    );
    this.#nudges = new Nudges(deps.team, deps.clock, profile.name, profile.incarnation);
    this.#whenStopped = new Promise((resolve) => {
      this.#tellStopped = resolve;
    });
    this.#loop = this.#run();
  }

  get name(): string {
    return this.profile.name;
  }

  get incarnation(): number {
    return this.profile.incarnation;
  }

  get isWaiting(): boolean {
    return this.#waits.any;
  }

  get isParked(): boolean {
    return this.#parked;
  }

  /**
   * Whether its model is to be called again for an answer that needs a tool.
   * @param asked what it was called again for last, when the journal does not know it yet
   */
  owesAnswer(asked: string | undefined): boolean {
    return this.#nudges.isDue(asked);
  }

  get hasMail(): boolean {
    return this.unshown().some(wakes);
  }

  /** What the transcript does not hold yet; the mailbox lags behind it by one write. */
  unshown(): readonly TeamMessage[] {
    return this.#mail.unshown();
  }

  /** What the transcript holds though it is still in the mailbox. */
  shownUnread(): string[] {
    return this.#mail.shownUnread();
  }

  wake(cause: 'mail' | 'request'): void {
    if (cause === 'mail') this.#parked = false;
    if (this.#mustLeave()) this.#cut('leave');
    else if (this.#hasUrgentMail()) this.#endWait('a message came that has to be read first');
    this.#alarm?.();
  }

  /** Lets a parked member go on, and one whose turn failed try again. */
  resume(): void {
    this.#parked = false;
    this.#retry = true;
    this.#alarm?.();
  }

  /** Whether its last turn ended for want of a key; then another key lets it go on. */
  get needsKey(): boolean {
    return !this.isBusy && this.lastError !== undefined && needsKey(this.lastError.kind);
  }

  /** True when the member would take mail or start a turn by itself; one that waits for a permission would not. */
  hasWork(): boolean {
    if (this.#ended || this.#parked || this.isWaiting) return false;
    if (this.deps.team.state.isShutdownGranted(this.name, this.profile.incarnation)) return true;
    return this.#retry || this.cutOff || this.hasMail;
  }

  /** Whether it would begin with a task of the board now. */
  canTake(): boolean {
    if (this.#isHeld || this.#ended || this.#parked || this.isBusy || this.isWaiting) return false;
    // One that could not even begin would only keep the task from others.
    const mayCall = this.hold === undefined && this.deps.team.budgets.exhausted(this.profile) === undefined;
    return mayCall && !this.hasWork();
  }

  /** After a restart that left it nothing to go on with. */
  unpark(): void {
    this.#parked = false;
  }

  /** How far it came with what it works on. */
  progress(): string {
    return progressOf(this.#conversation.present?.turns ?? []);
  }

  /** Stops the model's stream and the running command; the conversation stays valid and mail is taken next. */
  interrupt(): void {
    if (!this.isBusy) return;
    this.#interrupted = true;
    this.#cut('interrupt');
  }

  /** Ends the loop at once. @returns when it has ended */
  stop(): Promise<void> {
    this.#end('stop');
    return this.#loop;
  }

  /**
   * Ends the loop since the window closes or another one takes over. What is asked stays asked, and calls that
   * have not begun stay open: they go on when the team is opened again.
   * @returns when it has ended
   */
  suspend(): Promise<void> {
    this.#suspended = true;
    this.#end('suspend');
    return this.#loop;
  }

  /**
   * Leaves a stopped loop that hangs in a handler or a model call: nothing waits for it any more.
   * @param result for the calls that it did not come to, or undefined to leave them open
   */
  async abandon(result: string | undefined): Promise<void> {
    this.isBusy = false;
    this.deps.activity.giveUp();
    if (result !== undefined) await this.#conversation.present?.answerOpen(result, this.deps.clock.now());
    await this.#conversation.close();
  }

  #end(why: 'stop' | 'suspend'): void {
    this.#ended = true;
    this.#cut(why);
    this.#tellStopped();
    this.#alarm?.();
    this.waiters.rejectAll(new Error(`${this.name} was stopped.`));
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      if (this.#mustLeave()) await this.#leave();
      else if (this.hasWork()) await this.#turn();
      else await new Promise<void>((resolve) => (this.#alarm = resolve));
    }
    await this.#conversation.close();
  }

  async #leave(): Promise<void> {
    this.deps.activity.enter();
    this.#ended = true;
    try {
      await this.#closeConversation();
      await this.deps.leave();
    } finally {
      this.deps.activity.leave();
    }
  }

  /** A transcript stays one that the API would take, also when a closed window had left calls open. */
  async #closeConversation(): Promise<void> {
    try {
      const host = await this.#host();
      await answerCalls(host, host.offeredTools(), true);
    } catch (error) {
      this.deps.emit({ type: 'notice', level: 'error', text: messageOf(error), member: this.name });
    }
  }

  async #turn(): Promise<void> {
    const { activity, emit } = this.deps;
    activity.enter();
    this.isBusy = true;
    // Begun before the status changes: what failed is not listed as failed after a reload.
    const recovering = this.deps.team.recovered(this.name);
    this.#begin();
    let end: Ended;
    try {
      emit({ type: 'turn_started', member: this.name });
      await recovering;
      end = await runTurn(await this.#host());
    } catch (error) {
      end = this.#endOf(error);
    }
    this.#isHeld = end.type === 'interrupted';
    try {
      this.isBusy = false;
      this.doing = end.type === 'failed' && needsKey(end.error.kind) ? { what: 'needs_key' } : undefined;
      this.lastError = 'error' in end ? end.error : undefined;
      this.hold = end.type === 'held' ? end.error : undefined;
      // Mail that cannot even be shown (a full disk) would start the next turn at once, and so for ever.
      if (end.type === 'failed' && this.#mail.inTurn.length === 0) this.#giveUp(end.error);
      if (!this.#suspended) await this.deps.afterTurn(end);
    } catch (error) {
      emit({ type: 'notice', level: 'error', text: messageOf(error), member: this.name });
    } finally {
      this.waiters.settle(this.#mail.inTurn, this.lastError);
      // That it still waits, after nothing but another look at whether it may go on, is no news.
      const isOld = end.type === 'held' && end.again && this.#mail.inTurn.length === 0;
      const error = isOld ? undefined : this.lastError;
      emit({ type: 'turn_ended', member: this.name, ...(error ? { error } : {}) });
      activity.leave();
    }
  }

  #endOf(error: unknown): Ended {
    if (error instanceof Suspended) return { type: 'left' };
    const hold = holdOf(error);
    if (hold) return { type: 'held', error: hold, again: this.hold?.kind === hold.kind };
    return { type: 'failed', error: turnErrorOf(error) };
  }

  /** Waits for new mail or the human's word; who waits for the turn of a message is told why there is none. */
  #giveUp(error: TurnError): void {
    this.#parked = true;
    this.waiters.settle(
      this.unshown().map((message) => message.id),
      error,
    );
  }

  #begin(): void {
    this.#retry = false;
    this.cutOff = false;
    this.#interrupted = false;
    this.#endBatch = undefined;
    this.#mail.beginTurn();
    this.#signals.renew();
    this.deps.team.setStatus(this.name, 'working');
    this.#setDoing({ what: 'thinking' });
  }

  async #host(): Promise<TurnHost> {
    const { deps } = this;
    const { team } = deps;
    const conversation = await this.#conversation.open();
    const { name, model, onlyTools } = this.profile;
    const own = await this.profile.system();
    const { instructions } = this.#conversation;
    await instructions.open();
    return {
      name,
      team,
      get system() {
        return instructions.promptWith(own);
      },
      conversation,
      offeredTools: () => deps.tools.offeredTo(name, deps.settings().approvals, onlyTools),
      ...(model === undefined ? {} : { model }),
      maxCalls: () => deps.settings().maxTurns,
      now: () => deps.clock.now(),
      languageModel: () => deps.languageModel(),
      limiter: deps.limiter,
      onWait: (state) => this.#onCallWait(state),
      onRetry: ({ kind, message }, tries) =>
        deps.emit({ type: 'call_retried', member: name, error: { kind, text: message }, tries }),
      takeForeign: async () => {
        await instructions.settled();
        await deps.takeForeign();
      },
      callSignal: () => {
        this.#setDoing({ what: 'thinking' });
        return this.#signals.nextCall();
      },
      dispatchContext: (taken, offered) => this.#dispatchContext(taken, offered),
      mustLeave: () => this.#ended || this.#mustLeave(),
      wasInterrupted: () => this.#interrupted,
      onShown: (messages) => this.#mail.onShown(messages),
      mayCall: () => refuseBeyondBudget(team, this.profile),
      onCounted: (call) => this.#count(call),
      emit: (event) => deps.emit(event),
      nudge: () => this.#nudges.next(),
      isOpen: (key) => this.#nudges.isOpen(key),
      onNudged: (key) => this.#nudges.noteAsked(key),
    };
  }

  #dispatchContext(
    taken: TeamMessage[],
    offered: OfferedTools,
  ): Omit<DispatchContext, 'turn' | 'resumedSince'> {
    const { team, settings } = this.deps;
    const { name: member, incarnation } = this.profile;
    this.#endBatch = undefined;
    return {
      member,
      incarnation,
      team,
      mode: () => settings().permissionMode,
      offered,
      place: () => this.#conversation.places.hold(),
      toolContext: {
        member,
        incarnation,
        team,
        signal: this.#signals.tools,
        takeMail: async () => {
          await this.deps.takeForeign();
          const unread = this.unshown().filter((message) => !taken.includes(message));
          taken.push(...unread);
          return unread.map((message) => JSON.stringify(message)).join('\n');
        },
      },
      isSuspended: () => this.#suspended,
      hasUrgentMail: () => this.#hasUrgentMail(),
      stopReason: () => this.#stopReason(),
      whenStopped: this.#whenStopped,
      onWaiting: (requestId, waiting) => this.#onWaiting(requestId, waiting),
      emit: (event) => {
        if (event.type === 'tool_started') {
          this.#setDoing({ what: 'call', call: describeCall(event.name, event.input) });
          const file = pathIn(event.input);
          if (file !== undefined) this.#conversation.instructions.at(file);
        }
        this.deps.emit(event);
      },
    };
  }

  #onCallWait(state: WaitState | undefined): void {
    // The time that is left is told again and again; that it waits, and for what, is news once.
    const isNews = state !== undefined && !isSameWait(this.doing, state);
    this.#setDoing(state ? { what: 'waits', for: state } : { what: 'thinking' });
    if (isNews) this.deps.emit({ type: 'call_waits', member: this.name, text: describeWait(state) });
  }

  #onWaiting(requestId: string, waiting: boolean): void {
    if (!waiting) {
      this.#waits.end(requestId);
      return;
    }
    this.#waits.begin(requestId);
    if (this.#hasUrgentMail()) this.#endWait('a message came that has to be read first');
    else if (!this.#suspended && this.#stopReason() !== undefined) this.#waits.cancel();
  }

  /**
   * Mail that may not wait behind a permission: the model takes none before its calls are answered. The human's
   * answer to a request is no new word and can wait.
   */
  #hasUrgentMail(): boolean {
    return this.unshown().some(
      (message) =>
        message.type === 'shutdown_request' ||
        (message.from === HUMAN && !message.external && message.request_id === undefined),
    );
  }

  #endWait(reason: string): void {
    if (!this.#waits.any) return;
    this.#endBatch = reason;
    this.#waits.cancel();
  }

  #cut(why: Interruption): void {
    this.#signals.cut(why);
    if (why !== 'suspend') this.#waits.cancel();
  }

  #mustLeave(): boolean {
    return this.deps.team.state.isShutdownGranted(this.name, this.profile.incarnation);
  }

  #stopReason(): string | undefined {
    if (this.#mustLeave()) return 'the shutdown was approved.';
    if (this.#ended) return 'the member was stopped.';
    if (this.#interrupted) return 'the human interrupted.';
    return this.#endBatch && `${this.#endBatch}.`;
  }

  #count(call: CallCounts & { brokeOff?: true }): void {
    const { usage, model, countedAs = model, estimated = false, brokeOff } = call;
    const { team } = this.deps;
    team.usage.add(this.profile, { ...usage, model: countedAs, estimated, ...(brokeOff && { brokeOff }) });
    team.budgets.warn(this.profile);
  }

  #setDoing(doing: Doing): void {
    const isSame = this.doing !== undefined && describeDoing(this.doing) === describeDoing(doing);
    if (isSame) return;
    this.doing = doing;
    this.deps.emit({ type: 'member', name: this.name });
  }
}
