import { computeGate, HUMAN, isOpen, LEAD, RequestRegistry, type TeamMessage } from '../protocol';
import { BegunCalls } from './calls';
import { definedOnly } from './definedOnly';
import { refusalEvent, requestEvent, type TeamEvent } from './events';
import { incarnationKey } from './incarnation';
import { LeaseBook } from './leaseBook';
import type { Adoption } from './lineage';
import { Mailboxes } from './mailboxes';
import { durableMember, isGone, type Member, type MemberStatus, movedOn, newMember, workOf } from './member';
import { keptForLead, leftNote, overdueMessage } from './notes';
import { Permits } from './permits';
import { leftOutNotices } from './proposalTexts';
import type { Changes, TeamRecord } from './records';
import { answeringMessage, askingMessage } from './responses';
import { decidedText, openedText, sentText, spawnedText } from './resultTexts';
import { roleNotices } from './roleTexts';
import { Spending } from './spending';
import { TaskState } from './taskState';

/**
 * What the journal's lines add up to. `apply` is the only way anything durable changes, live and on replay;
 * it gives the events to be told afterwards.
 */
export class TeamState {
  teamId = '';
  teamName = '';
  /** Set where this journal went on with a team that was run elsewhere. */
  adoption: Adoption | undefined;
  /** Counts the lead's conversations. */
  conversation = 1;
  readonly registry = new RequestRegistry();
  readonly overdue = new Set<string>();
  /** What a member's model was called once more for: request ids, and tasks without a plan. */
  readonly askedAgain = new Set<string>();
  readonly calls = new BegunCalls();
  readonly leases = new LeaseBook((name) => this.#members.get(name));
  readonly spending = new Spending();
  readonly permits = new Permits(this.registry);
  readonly tasks = new TaskState({
    member: (name) => this.#members.get(name),
    moveWork: (name, task, at) => this.#moveWork(name, task, at),
    deliver: (message) => this.#deliver(message),
    note: (call, outcome) => this.calls.note(call, outcome),
  });
  readonly #members = new Map<string, Member>();
  /** The newest incarnation of every name ever, cleaned-up ones too: none is used twice. */
  readonly #incarnations = new Map<string, number>();
  readonly #mailboxes = new Mailboxes();
  readonly #shutdownGranted = new Set<string>();

  /** In the order they first came. */
  members(): Member[] {
    return [...this.#members.values()];
  }

  member(name: string): Member | undefined {
    return this.#members.get(name);
  }

  lastIncarnation(name: string): number {
    return this.#incarnations.get(name) ?? 0;
  }

  unread(name: string): readonly TeamMessage[] {
    return this.#mailboxes.unread(name);
  }

  knowsMessage(id: string): boolean {
    return this.#mailboxes.knows(id);
  }

  /** True once the shutdown of that incarnation was approved. */
  isShutdownGranted(name: string, incarnation: number): boolean {
    return this.#shutdownGranted.has(incarnationKey(name, incarnation));
  }

  /** Statuses that only a running loop knows; they are not written, since no loop outlives its window. */
  setStatus(name: string, status: MemberStatus, reason?: string): TeamEvent[] {
    const member = this.#members.get(name);
    if (!member || member.status === status || isGone(member)) return [];
    return [this.#change(member, { status, statusReason: reason })];
  }

  apply(record: TeamRecord): TeamEvent[] {
    switch (record.t) {
      case 'team':
        this.teamId = record.team_id;
        this.teamName = record.team_name;
        this.adoption = record.adoption;
        return [];
      case 'member':
        return this.#applyMember(record);
      case 'status':
        return this.#applyStatus(record);
      case 'work':
        return this.#applyWork(record);
      case 'opened':
        return this.#applyOpened(record);
      case 'decided': {
        const decided = this.registry.applyDecision(record.decision);
        this.calls.note(record.call, decidedText(decided));
        if (decided.kind === 'shutdown' && decided.status === 'approved') {
          this.#shutdownGranted.add(incarnationKey(decided.to, decided.work.incarnation));
        }
        return [
          requestEvent(record.decision.status, decided),
          ...leftOutNotices(record.left_out),
          ...this.#deliver(answeringMessage(decided, record)),
          ...this.#memberEvent(decided.work.member),
        ];
      }
      case 'cancelled':
        return this.#cancel(record.cancels, record.at);
      case 'overdue': {
        this.overdue.add(record.request_id);
        const request = this.registry.get(record.request_id);
        // Answered while the note of it was on its way.
        if (request?.status !== 'pending') return [];
        return [requestEvent('overdue', request), ...this.#deliver(overdueMessage(request, record.at))];
      }
      case 'asked_again':
        this.askedAgain.add(record.key);
        return [];
      case 'started':
        this.calls.begin(record.call, record.tool, record.turn);
        return [];
      case 'mail':
        this.calls.note(record.call, sentText(record.message));
        this.#endLeases(record.message);
        return this.#deliver(record.message);
      case 'lease':
      case 'overlap':
      case 'leases_freed':
      case 'kept_lease':
        return this.leases.apply(record);
      case 'shown':
        return this.#applyShown(record);
      case 'refused':
        return [refusalEvent(record)];
      case 'cleaned':
        return record.names.flatMap((name) => {
          const member = this.#members.get(name);
          // Started anew while the clean-up was being written.
          if (!member || !isGone(member)) return [];
          this.#members.delete(name);
          this.#mailboxes.remove(name);
          return [{ type: 'member', name }];
        });
      case 'conversation':
        this.conversation = record.number;
        this.calls.forget(LEAD);
        return [{ type: 'conversation_reset' }];
      case 'usage':
      case 'budget':
        return this.spending.apply(record);
      case 'snapshot':
        this.#restore(record);
        return [];
      case 'kept_request':
        this.registry.restore(definedOnly(record.request));
        return [];
      case 'kept_mail':
        this.#mailboxes.put(record.message);
        return [];
      case 'kept_call':
        this.calls.restore(record);
        return [];
      default:
        return this.tasks.apply(record);
    }
  }

  /**
   * Lines may be missing: what was permitted so far may have been taken back in one of them. Gates that are
   * open shut, and permissions have to be asked for again. Nothing happens where that is so already.
   */
  voidPermits(at: number): TeamEvent[] {
    this.permits.void(at);
    const permissions = this.registry.pending().filter((request) => request.kind === 'tool_permission');
    const events = this.#cancel(
      permissions.map(({ requestId }) => ({ requestId, reason: 'asked again: the journal has a gap' })),
      at,
    );
    for (const member of this.#members.values()) {
      const gate = computeGate(this.registry.plansOf(member.name), workOf(member), member.planRequired);
      if (isGone(member) || !isOpen(gate)) continue;
      const workVersion = member.workVersion + 1;
      const task = this.tasks.book.underWay(member.name);
      const taskId = task?.id ?? `${member.name}-${member.incarnation}.${workVersion}`;
      events.push(this.#change(member, { planRequired: true, workVersion, taskId }));
    }
    return events;
  }

  /** The records that rebuild this state, in place of all that led to it. */
  snapshot(): TeamRecord[] {
    return [
      {
        t: 'snapshot',
        team_id: this.teamId,
        team_name: this.teamName,
        ...(this.adoption === undefined ? {} : { adoption: this.adoption }),
        conversation: this.conversation,
        members: this.members().map(durableMember),
        incarnations: [...this.#incarnations],
        message_ids: this.#mailboxes.ids(),
        shutdown_granted: [...this.#shutdownGranted],
        overdue: [...this.overdue],
        asked_again: [...this.askedAgain],
        voided: this.permits.voided,
        last_task: this.tasks.book.last,
      },
      ...this.registry.all().map((request) => ({ t: 'kept_request' as const, request })),
      ...this.#mailboxes.all().map((message) => ({ t: 'kept_mail' as const, message })),
      ...this.tasks.book.all().map((task) => ({ t: 'kept_task' as const, task })),
      ...this.calls.all().map((begun) => ({ t: 'kept_call' as const, ...begun })),
      ...this.leases.snapshot(),
      ...this.spending.snapshot(),
    ];
  }

  #restore(record: Changes<'snapshot'>): void {
    this.teamId = record.team_id;
    this.teamName = record.team_name;
    this.adoption = record.adoption;
    this.conversation = record.conversation;
    this.permits.restore(record.voided);
    this.tasks.book.skipTo(record.last_task);
    for (const member of record.members) this.#members.set(member.name, definedOnly(member));
    for (const [name, incarnation] of record.incarnations) this.#incarnations.set(name, incarnation);
    for (const id of record.message_ids) this.#mailboxes.note(id);
    for (const key of record.shutdown_granted) this.#shutdownGranted.add(key);
    for (const id of record.overdue) this.overdue.add(id);
    for (const id of record.asked_again) this.askedAgain.add(id);
  }

  #applyOpened({ request, cancels, call, at }: Changes<'opened'>): TeamEvent[] {
    this.registry.applyOpen(request);
    this.calls.note(call, openedText(request));
    const events = [
      ...this.#cancel(cancels, at),
      requestEvent('opened', request),
      ...this.#deliver(askingMessage(request)),
    ];
    const { member: name, incarnation } = request.work;
    const member = this.#members.get(name);
    const isThere = name === LEAD || (member && !isGone(member) && member.incarnation === incarnation);
    // It left while its request was on its way to the disk: nobody is there to be asked or answered.
    if (isThere) return events;
    return [...events, ...this.#cancel([{ requestId: request.requestId, reason: `${name} is gone` }], at)];
  }

  #applyMember(record: Changes<'member'>): TeamEvent[] {
    const { name, role, incarnation, role_file, at } = record;
    this.#incarnations.set(name, incarnation);
    this.#mailboxes.remove(name);
    this.calls.note(record.call, spawnedText(name, role, role_file));
    this.calls.forget(name);
    this.leases.freeOf(name);
    // Only behind a gap in the journal: the line that ended its namesake is missing.
    const freed = this.tasks.releaseOf(name, 'Its owner was started anew. The task is free again.', at);
    this.#members.set(name, newMember(record));
    return [
      ...freed,
      { type: 'member', name, status: 'idle' },
      ...roleNotices(name, role_file),
      ...this.#deliver(record.message),
    ];
  }

  #applyStatus(record: Changes<'status'>): TeamEvent[] {
    const member = this.#members.get(record.name);
    const events = this.#cancel(record.cancels, record.at);
    if (!member || member.incarnation !== record.incarnation) return events;
    // It may be at work by now; that it had failed is all that this record takes back.
    if (record.status === 'idle' && member.status !== 'failed') return events;
    const lostTask = record.status === 'failed' ? this.tasks.book.underWay(record.name)?.id : undefined;
    const { status, reason: statusReason } = record;
    events.push(this.#change(member, { status, statusReason, lostTask }));
    if (status === 'idle') return events;
    // Also what was on its way to the disk when the record was made.
    const isShutdown = record.status === 'shutdown';
    const left = this.registry
      .pending()
      .filter(({ work, kind }) => work.member === record.name && (isShutdown || kind === 'tool_permission'))
      .map(({ requestId }) => ({ requestId, reason: `${record.name} is gone` }));
    events.push(...this.#cancel(left, record.at));
    events.push(...this.tasks.releaseOf(record.name, leftNote(record), record.at));
    if (!isShutdown) return events;
    this.calls.forget(record.name);
    const shown = new Set(record.shown);
    const unread = this.unread(record.name).filter((message) => !shown.has(message.id));
    this.#mailboxes.remove(record.name);
    return [...events, ...unread.flatMap((message) => this.#deliver(keptForLead(message)))];
  }

  #applyWork(record: Changes<'work'>): TeamEvent[] {
    const member = this.#members.get(record.name);
    const events = this.#cancel(record.cancels, record.at);
    if (!member || member.incarnation !== record.incarnation) return events;
    this.calls.note(record.call, sentText(record.message));
    const { task_id: taskId, work_version: workVersion, plan_required: planRequired } = record;
    return [
      ...events,
      this.#change(member, {
        taskId,
        workVersion,
        planRequired,
        betweenTasks: undefined,
        lostTask: undefined,
        // A new assignment leaves a failure behind; what comes of it is seen when it runs.
        ...(member.status === 'failed' ? { status: 'idle', statusReason: undefined } : {}),
      }),
      ...this.#deliver(record.message),
    ];
  }

  #applyShown(record: Changes<'shown'>): TeamEvent[] {
    this.#mailboxes.take(record.name, record.ids);
    return [{ type: 'shown', member: record.name, ids: record.ids }];
  }

  #deliver(message: TeamMessage | undefined): TeamEvent[] {
    if (message === undefined || this.#mailboxes.knows(message.id)) return [];
    this.#mailboxes.note(message.id);
    if (message.to === HUMAN) return [{ type: 'message', message }];
    if (message.to !== LEAD) {
      const member = this.#members.get(message.to);
      if (!member || isGone(member) || member.incarnation !== message.toIncarnation) {
        return this.#deliver(keptForLead(message));
      }
    }
    this.#mailboxes.put(message);
    return [{ type: 'message', message }];
  }

  #cancel(cancels: readonly { requestId: string; reason: string }[], at: number): TeamEvent[] {
    return cancels
      .filter(({ requestId }) => this.registry.get(requestId)?.status === 'pending')
      .flatMap(({ requestId, reason }) => {
        const cancelled = this.registry.applyCancel({ requestId, reason, at });
        return [requestEvent('cancelled', cancelled), ...this.#memberEvent(cancelled.work.member)];
      });
  }

  /** The member is at another piece of work; what it still owes a plan for goes with it. */
  #moveWork(name: string, task: string | undefined, at: number): TeamEvent[] {
    const member = this.#members.get(name);
    if (!member) return [];
    const plans = this.registry.plansOf(name);
    const owesPlan = !isOpen(computeGate(plans, workOf(member), member.planRequired));
    const reason = `superseded: ${name}'s work changed`;
    const pending = plans.filter((plan) => plan.status === 'pending');
    return [
      this.#change(member, movedOn(member, task, owesPlan)),
      ...this.#cancel(
        pending.map(({ requestId }) => ({ requestId, reason })),
        at,
      ),
    ];
  }

  /** The assignment of a teammate ends with its notice that it is idle; a task of the board goes on. */
  #endLeases({ type, from }: TeamMessage): void {
    if (type === 'idle_notification' && this.tasks.book.underWay(from) === undefined)
      this.leases.freeOf(from);
  }

  #change(member: Member, change: Partial<Member>): TeamEvent {
    this.#members.set(member.name, { ...member, ...change });
    // What it changed for other work is free, and so is all of one that has left or could not go on.
    const { name, taskId } = { ...member, ...change };
    const isOver = change.status === 'shutdown' || change.status === 'failed';
    if (isOver) this.leases.freeOf(name);
    else if (taskId !== member.taskId) this.leases.freeOf(name, taskId);
    return {
      type: 'member',
      name: member.name,
      ...(change.status === undefined ? {} : { status: change.status }),
      ...(change.statusReason === undefined ? {} : { reason: change.statusReason }),
    };
  }

  #memberEvent(name: string): TeamEvent[] {
    return this.#members.has(name) ? [{ type: 'member', name }] : [];
  }
}
