import {
  type Answer,
  acceptedOf,
  acceptedProposal,
  computeGate,
  type DecisionContext,
  type Gate,
  type HandshakeRequest,
  HUMAN,
  isReachableByCode,
  LEAD,
  makeRequestId,
  type OpenInput,
  Refusal,
  type RequestKind,
  refusalWhileForeign,
  type Way,
  type WorkRef,
} from '../protocol';
import type { Ledger } from './ledger';
import type { KeyedLock } from './locks';
import { isGone, LEAD_WORK, workOf } from './member';
import type { Clock } from './ports';
import type { CallRef } from './recordParts';
import { nameLock, type Recruiting } from './recruiting';
import { standInMessage } from './responses';
import type { CoreSettings } from './settings';

/** Opens, decides and withdraws requests: the registry's checks, made durable. */
export class Decisions {
  readonly #opening = new Set<string>();
  #foreignCalls = 0;
  readonly #waiting = new Map<string, Set<(request: HandshakeRequest) => void>>();

  constructor(
    private readonly ledger: Ledger,
    private readonly locks: KeyedLock,
    private readonly clock: Clock,
    private readonly settings: () => CoreSettings,
    /** True once force stop has fenced an incarnation; nothing of it counts any more. */
    private readonly isFenced: (member: string, incarnation: number) => boolean,
    private readonly recruiting: Recruiting,
  ) {
    ledger.events.on((event) => {
      if (event.type === 'request' && event.change !== 'opened' && event.change !== 'overdue') {
        this.#settle(event.request);
      }
    });
  }

  get registry() {
    return this.ledger.state.registry;
  }

  currentWork(member: string): WorkRef | undefined {
    if (member === LEAD) return LEAD_WORK;
    const present = this.ledger.state.member(member);
    if (!present || isGone(present) || this.isFenced(member, present.incarnation)) return undefined;
    return workOf(present);
  }

  gateOf(name: string): Gate {
    const member = this.ledger.state.member(name);
    if (!member) return 'not_required';
    return computeGate(this.registry.plansOf(name), workOf(member), member.planRequired);
  }

  /**
   * The one point of decision. The first caller that passes the checks holds the request; whoever comes
   * while it is being written waits for that and is checked against the outcome.
   * @param call the tool call that decides, where it is one
   * @returns the decided request, once it is on disk
   * @throws {Refusal} with the first check that fails; it is recorded, nothing else changes
   * @throws the journal's error when the decision could not be written; then the request is still pending
   */
  decide(answer: Answer, call?: CallRef): Promise<HandshakeRequest> {
    const { requestId, approve, accepted } = answer;
    const asked = this.registry.get(requestId);
    const starts = asked?.kind === 'team_proposal' && approve ? namesIn(asked, accepted) : [];
    // All at once: whoever starts somebody holds the name before the work, and would wait for this one the other way round.
    return this.locks.runAll([this.#lockOf(requestId), ...starts.map(nameLock)], async () => {
      const request = this.registry.get(requestId);
      if (request?.kind === 'team_proposal' && approve) await this.#approveTeam(answer, request, call);
      else await this.ledger.commit([{ t: 'decided', decision: this.#checked(answer), call }]);
      return this.#known(requestId);
    });
  }

  /**
   * A tool that is not ours begins: until it ends, no decision is taken by string id.
   * @returns what its end has to call, once
   */
  beginForeignCall(): () => void {
    this.#foreignCalls++;
    return () => {
      this.#foreignCalls--;
    };
  }

  /**
   * For what only the human may do, and is no answer to a request.
   * @param what as {@link refusalWhileForeign} has it
   * @throws {Refusal} `not_allowed` while a foreign tool runs that could have done it; it is recorded
   */
  refuseFromCode(what: string, instead: string, way: Way): void {
    if (this.#foreignCalls === 0 || !isReachableByCode(way)) return;
    const refusal = refusalWhileForeign(what, instead);
    this.refuse(refusal, HUMAN);
    throw refusal;
  }

  /**
   * @param work the work as the caller last saw it; the request is refused when it has moved on meanwhile
   * @throws {Refusal} `invalid_request` | `stale_work`
   */
  async open(input: {
    kind: RequestKind;
    from: string;
    to: string;
    payload: unknown;
    work: WorkRef;
    call?: CallRef;
  }): Promise<HandshakeRequest> {
    const { kind, call, ...rest } = input;
    const open = async (): Promise<HandshakeRequest> => {
      const present = this.currentWork(input.work.member);
      if (present?.incarnation !== input.work.incarnation) {
        throw new Refusal('stale_work', `${input.work.member} is no longer there to be asked or to ask.`);
      }
      const createdAt = this.clock.now();
      const requestId = makeRequestId(
        () => this.clock.uuid(),
        (id) => this.registry.isUsed(id) || this.#opening.has(id),
      );
      const full: OpenInput = {
        ...rest,
        kind,
        requestId,
        work: kind === 'plan_approval' ? present : input.work,
        createdAt,
        deadlineAt: createdAt + this.settings().requestDeadlineMs,
      };
      const { request, supersedes } = this.registry.prepareOpen(full);
      const leadMayDecide =
        kind === 'tool_permission' &&
        input.from !== LEAD &&
        this.settings().approvals.permission === 'either';
      this.#opening.add(requestId);
      try {
        await this.ledger.commit([
          {
            t: 'opened',
            request: { ...request, status: 'pending' },
            cancels: supersedes.map((id) => ({ requestId: id, reason: `superseded by plan ${requestId}` })),
            call,
            at: createdAt,
          },
          ...(leadMayDecide ? [{ t: 'mail' as const, message: standInMessage(request) }] : []),
        ]);
      } finally {
        this.#opening.delete(requestId);
      }
      return this.#known(requestId);
    };
    // Permissions need no order among themselves, so that many members can ask within one sync.
    return kind === 'tool_permission' ? open() : this.locks.run(workLock(input.work.member), open);
  }

  /** Withdraws what is still pending of these; the reason is for people. */
  async cancel(requestIds: readonly string[], reason: string): Promise<void> {
    await Promise.all(
      requestIds.map((requestId) =>
        this.locks.run(this.#lockOf(requestId), async () => {
          if (this.registry.get(requestId)?.status !== 'pending') return;
          await this.ledger.commit([
            { t: 'cancelled', cancels: [{ requestId, reason }], at: this.clock.now() },
          ]);
        }),
      ),
    );
  }

  /** The request once it has ended, however it ends. */
  whenSettled(requestId: string): Promise<HandshakeRequest> {
    const request = this.#known(requestId);
    if (request.status !== 'pending') return Promise.resolve(request);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(requestId) ?? new Set();
      waiting.add(resolve);
      this.#waiting.set(requestId, waiting);
    });
  }

  /** Records a refusal that was not made by a decision, such as a forged line. */
  refuse(refusal: Refusal, by: string): void {
    this.ledger.commitSoon([
      {
        t: 'refused',
        code: refusal.code,
        by,
        text: refusal.message,
        at: this.clock.now(),
        ...(refusal.requestId === undefined ? {} : { request_id: refusal.requestId }),
      },
    ]);
  }

  /** The decision and the teammates it starts, in one append: a crash keeps both or neither. */
  async #approveTeam(answer: Answer, request: HandshakeRequest, call?: CallRef): Promise<void> {
    // Checked here for what is accepted, and again when the names are held.
    const accepted = acceptedOf({ ...request, accepted: this.#checked(answer).accepted });
    await this.recruiting.startProposed(accepted, undefined, async ({ records, leftOut, tasks }) => {
      const decision = this.#checked(answer);
      await this.ledger.commit([
        ...records,
        {
          t: 'decided',
          decision,
          call,
          ...(leftOut.length === 0 ? {} : { left_out: [...leftOut] }),
          ...(tasks.length === 0 ? {} : { tasks: [...tasks] }),
        },
      ]);
    });
  }

  #checked(answer: Answer) {
    const context: DecisionContext = {
      currentWork: (member) => this.currentWork(member),
      policy: this.settings().approvals,
      foreignRuns: this.#foreignCalls > 0,
    };
    try {
      return this.registry.checkAnswer(answer, context, this.clock.now());
    } catch (error) {
      if (error instanceof Refusal) this.refuse(error, answer.by);
      throw error;
    }
  }

  #settle(request: HandshakeRequest): void {
    const waiting = this.#waiting.get(request.requestId);
    this.#waiting.delete(request.requestId);
    for (const resolve of waiting ?? []) resolve(request);
  }

  /** A request shares its lock with everything that moves the member's work on, or ends it. */
  #lockOf(requestId: string): string {
    const request = this.registry.get(requestId);
    return request === undefined ? `request:${requestId}` : workLock(request.work.member);
  }

  #known(requestId: string): HandshakeRequest {
    const request = this.registry.get(requestId);
    if (!request) throw new Refusal('unknown_request', `Unknown request_id '${requestId}'.`, requestId);
    return request;
  }
}

/** Whom the approval of a proposal may start: as they were proposed, and as somebody changed them. */
function namesIn(request: HandshakeRequest, accepted: unknown): string[] {
  const changed = acceptedProposal.safeParse(accepted);
  const all = [...acceptedOf({ ...request, accepted: undefined }).members, ...(changed.data?.members ?? [])];
  return [...new Set(all.map(({ name }) => name))];
}

export function workLock(member: string): string {
  return `work:${member}`;
}
