import { isOpen, LEAD, type TeamMessage } from '../protocol';
import type { Clock } from '../team/ports';
import type { Team } from '../team/team';

export interface Nudge {
  /** By which it is known whether it was asked for again. */
  key: string;
  message: TeamMessage;
  forceTool?: string;
}

/** Something that a prose answer leaves open. */
interface Open extends Nudge {
  /** For the human, when asking again did not help either. */
  complaint: string;
}

/**
 * What a teammate is told when its model ends in prose where a tool is needed: once for each request or work
 * version. After that the lead and the human are told, and nothing is decided by silence.
 */
export class Nudges {
  readonly #asked = new Set<string>();
  readonly #told = new Set<string>();

  constructor(
    private readonly team: Team,
    private readonly clock: Clock,
    private readonly name: string,
    private readonly incarnation: number,
  ) {}

  /**
   * Whether the model would be called again if it ended its turn now.
   * @param asked what it was called again for besides what the journal says
   */
  isDue(asked: string | undefined): boolean {
    const open = this.#open();
    return open !== undefined && open.key !== asked && !this.#wasAsked(open.key);
  }

  isOpen(key: string): boolean {
    return this.#open()?.key === key;
  }

  next(): Nudge | undefined {
    const open = this.#open();
    if (open === undefined) return undefined;
    if (this.#wasAsked(open.key)) {
      this.#tellOnce(open.key, open.complaint);
      return undefined;
    }
    return open;
  }

  /** The model has replied to it. */
  noteAsked(key: string): void {
    this.#asked.add(key);
    this.team.marks.askedAgain(key);
  }

  #open(): Open | undefined {
    return this.#unansweredShutdown() ?? this.#missingPlan() ?? this.#unfinishedTask();
  }

  /** The journal's note of it may still be on its way. */
  #wasAsked(key: string): boolean {
    return this.#asked.has(key) || this.team.state.askedAgain.has(key);
  }

  #unansweredShutdown(): Open | undefined {
    const request = this.team.decisions.registry
      .pending()
      .find((r) => r.kind === 'shutdown' && r.to === this.name && r.work.incarnation === this.incarnation);
    if (!request) return undefined;
    const { requestId } = request;
    const text = `Answer the shutdown request ${requestId} now, with the tool shutdown_response.`;
    return {
      key: requestId,
      message: this.#note(text, requestId),
      forceTool: 'shutdown_response',
      complaint: `${this.name} answered the shutdown request ${requestId} in prose, not with shutdown_response, although asked again. The request stays pending: approve it in ${this.name}'s place, reject it, or use Force Stop.`,
    };
  }

  #missingPlan(): Open | undefined {
    const member = this.team.state.member(this.name);
    if (!member || member.betweenTasks || this.team.decisions.gateOf(this.name) !== 'required')
      return undefined;
    const text =
      'A plan is required for this work. Submit it with the tool plan_approval; prose is not a plan.';
    return {
      key: `${member.taskId}#plan`,
      message: this.#note(text),
      complaint: `${this.name} ended its turn without submitting a plan, although asked again. It may change nothing; send it a message, or ask for a plan again.`,
    };
  }

  #unfinishedTask(): Open | undefined {
    const task = this.team.board.book.underWay(this.name);
    if (!task || task.ownerIncarnation !== this.incarnation || this.name === LEAD) return undefined;
    const gate = this.team.decisions.gateOf(this.name);
    // It waits for a decision, or has been told what it is to do first.
    if (!isOpen(gate)) return undefined;
    const { id } = task;
    const text = `You still have ${id} under way. Go on with it, and call complete_task when it is done. If you cannot go on, end your turn with what is missing.`;
    const version = this.team.state.member(this.name)?.workVersion ?? 0;
    return {
      key: `${this.name}-${this.incarnation}.${version}#${id}`,
      message: { ...this.#note(text), type: 'message' },
      complaint: `${this.name} ended its turn with ${id} still under way, although asked again. The task stays with it: send it a message, or release the task.`,
    };
  }

  #tellOnce(key: string, text: string): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.team.ledger.events.fire({ type: 'notice', level: 'warning', text, member: this.name });
  }

  #note(content: string, requestId?: string): TeamMessage {
    return {
      id: this.clock.uuid(),
      type: requestId === undefined ? 'plan_request' : 'shutdown_request',
      from: 'runtime',
      to: this.name,
      toIncarnation: this.incarnation,
      content,
      timestamp: this.clock.now() / 1000,
      ...(requestId === undefined ? {} : { request_id: requestId }),
    };
  }
}
