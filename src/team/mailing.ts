import { LEAD, type MessageType, type TeamMessage } from '../protocol';
import { membersHint, resolveAlive, resolveMember } from './addressing';
import type { Assignments } from './assignments';
import { workLock } from './decisions';
import { type Ledger, messageOf } from './ledger';
import type { KeyedLock } from './locks';
import { isGone, type Member } from './member';
import type { Clock } from './ports';
import type { CallRef } from './recordParts';
import { TeamError } from './teamError';

/** How messages come into mailboxes, and what a message begins for an idle teammate. */
export class Mailing {
  constructor(
    private readonly ledger: Ledger,
    private readonly locks: KeyedLock,
    private readonly clock: Clock,
    private readonly assignments: Assignments,
  ) {}

  get #state() {
    return this.ledger.state;
  }

  /**
   * Sends a plain message. To an idle teammate it begins a new assignment, with a work version of its own.
   * @throws {TeamError} unknown or departed recipient, empty text
   */
  async send(
    from: string,
    to: string,
    content: string,
    options: { type?: MessageType; id?: string; call?: CallRef } = {},
  ): Promise<TeamMessage> {
    if (content.trim() === '') throw new TeamError('The message is empty.');
    const target = resolveMember(this.#state, to);
    const [name, incarnation] = target === LEAD ? [LEAD, 0] : [target.name, target.incarnation];
    const { call } = options;
    const message = this.#message(options.type ?? 'message', from, name, incarnation, content);
    if (options.id !== undefined) message.id = options.id;
    if (target !== LEAD && isGone(target)) await this.#refuseGone(message);
    if (target === LEAD) await this.ledger.commit([{ t: 'mail', message, call }]);
    else await this.deliver(name, message, call);
    return message;
  }

  /** Puts a message into a teammate's mailbox, as a new assignment when it was idle and has no task. */
  async deliver(name: string, message: TeamMessage, call?: CallRef): Promise<void> {
    await this.assignments.whileArriving(name, () => this.#deliver(name, message, call));
  }

  async #deliver(name: string, message: TeamMessage, call: CallRef | undefined): Promise<void> {
    const startsWork = (message.type === 'message' || message.type === 'broadcast') && this.isIdle(name);
    if (!startsWork) {
      await this.ledger.commit([{ t: 'mail', message, call }]);
      return;
    }
    await this.assignments.give(name, () =>
      this.#moveWorkOn(name, message, (member) => member.requirePlan, call),
    );
  }

  /** The end of an assignment: the result, and the notice that the teammate is idle, in one record. */
  async report(name: string, text: string): Promise<void> {
    const result = this.#message('result', name, LEAD, 0, text);
    const idle = this.#message('idle_notification', name, LEAD, 0, `${name} is idle.`);
    await this.ledger.commit([
      { t: 'mail', message: result },
      { t: 'mail', message: idle },
    ]);
  }

  /** To everyone but the sender. @returns the names it reached */
  async broadcast(from: string, content: string, call?: CallRef): Promise<string[]> {
    if (content.trim() === '') throw new TeamError('The message is empty.');
    const names = this.#state
      .members()
      .filter((member) => !isGone(member) && member.name !== from)
      .map((member) => member.name);
    if (from !== LEAD) names.unshift(LEAD);
    const sent = await Promise.allSettled(
      names.map((name) =>
        this.send(from, name, content, { type: 'broadcast', ...(call === undefined ? {} : { call }) }),
      ),
    );
    const failed = sent.flatMap((outcome, index) =>
      // One that left meanwhile has not been missed by the others.
      outcome.status === 'rejected' && !(outcome.reason instanceof TeamError)
        ? [`${names[index]}: ${messageOf(outcome.reason)}`]
        : [],
    );
    const reached = names.filter((_, index) => sent[index]?.status === 'fulfilled');
    if (failed.length > 0) {
      throw new TeamError(
        `The broadcast reached ${reached.join(', ') || 'nobody'}, and failed for ${failed.join('; ')}`,
      );
    }
    return reached;
  }

  /** Asks for a plan: from now on the teammate's present work needs an approved one. @throws {TeamError} */
  async requestPlan(from: string, raw: string, topic?: string): Promise<Member> {
    const member = resolveAlive(this.#state, raw);
    const about = topic?.trim() ? ` about: ${topic.trim()}` : '';
    const text = `Submit a plan with plan_approval${about}. Change nothing before it is approved.`;
    const message = this.#message('plan_request', from, member.name, member.incarnation, text);
    await this.assignments.give(member.name, () => this.#moveWorkOn(member.name, message, () => true));
    return resolveAlive(this.#state, member.name);
  }

  /** @throws {TeamError} always, once the text is kept for the lead */
  async #refuseGone(message: TeamMessage): Promise<never> {
    // The lead's own words are in its conversation; anybody else's would be lost with the refusal.
    const kept = message.from !== LEAD;
    if (kept) await this.ledger.commit([{ t: 'mail', message }]);
    const where = kept ? ' The text was kept for the lead.' : '';
    throw new TeamError(
      `'${message.to}' has shut down and cannot be reached.${where} ${membersHint(this.#state)}`,
    );
  }

  #message(type: MessageType, from: string, to: string, toIncarnation: number, content: string): TeamMessage {
    return {
      id: this.clock.uuid(),
      type,
      from,
      to,
      toIncarnation,
      content,
      timestamp: this.clock.now() / 1000,
    };
  }

  #moveWorkOn(
    name: string,
    message: TeamMessage,
    planRequired: (member: Member) => boolean,
    call?: CallRef,
  ): Promise<void> {
    return this.locks.run(workLock(name), async () => {
      const member = resolveMember(this.#state, name);
      if (member === LEAD || isGone(member) || member.incarnation !== message.toIncarnation) {
        return this.#refuseGone(message);
      }
      const task = this.#state.tasks.book.underWay(name);
      if (task && message.type !== 'plan_request') {
        // A message to one that has a task is about that task.
        await this.ledger.commit([{ t: 'mail', message, call }]);
        return;
      }
      const version = member.workVersion + 1;
      const cancels = this.#state.registry
        .plansOf(name)
        .filter((plan) => plan.status === 'pending')
        .map((plan) => ({ requestId: plan.requestId, reason: `superseded: ${name}'s work changed` }));
      await this.ledger.commit([
        {
          t: 'work',
          name,
          incarnation: member.incarnation,
          task_id: task?.id ?? `${name}-${member.incarnation}.${version}`,
          work_version: version,
          plan_required: planRequired(member),
          message,
          cancels,
          call,
          at: this.clock.now(),
        },
      ]);
    });
  }

  /** Whether a teammate has ended what it was given, and waits for something else. */
  isIdle(name: string): boolean {
    const member = this.#state.member(name);
    if (!member || isGone(member)) return false;
    // One that failed goes on with what it had, and with its plan.
    return member.status === 'idle' && !this.assignments.isAssigned(name);
  }
}
