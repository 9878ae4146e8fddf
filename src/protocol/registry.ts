import { sameWork } from './gate';
import { type ApprovalPolicy, KINDS, type ResponseType } from './kinds';
import { HUMAN, LEAD, shorten } from './names';
import { Refusal } from './refusal';
import {
  type HandshakeRequest,
  type RequestKind,
  type RequestStatus,
  roleOf,
  type Via,
  type WorkRef,
} from './request';

/** The whole machine: nothing leaves a terminal state. */
const TRANSITIONS: Readonly<Record<RequestStatus, readonly RequestStatus[]>> = {
  pending: ['approved', 'rejected', 'cancelled'],
  approved: [],
  rejected: [],
  cancelled: [],
};

export interface OpenInput {
  requestId: string;
  kind: RequestKind;
  from: string;
  to: string;
  payload: unknown;
  work: WorkRef;
  createdAt: number;
  deadlineAt: number;
}

export interface Answer {
  requestId: string;
  /** The type of the response, where the caller's tool has one; the human's click fits every kind. */
  response?: ResponseType;
  approve: boolean;
  feedback?: string;
  /** What is approved in place of what was asked for; the human's alone to say. */
  accepted?: unknown;
  /** Who answers, as the dispatcher knows it: never taken from what a model says. */
  by: string;
  /** The incarnation of a teammate that answers. */
  incarnation?: number;
  via: Via;
  /** It came through a notification or a quick pick, which VS Code's own commands can accept as well as a person. */
  prompted?: true;
  /** To whom the response goes; the request's sender where it is not said. */
  to?: string;
}

export interface Decision {
  requestId: string;
  status: 'approved' | 'rejected';
  decidedBy: string;
  via: Via;
  feedback?: string;
  accepted?: unknown;
  decidedAt: number;
}

export interface Cancellation {
  requestId: string;
  reason: string;
  at: number;
}

/** What a decision is checked against besides the requests themselves. */
export interface DecisionContext {
  /** The present work of a member, or undefined when that member has left. */
  currentWork(member: string): WorkRef | undefined;
  policy: ApprovalPolicy;
  /** A tool that is not Handshake's own is running; what it can call may not decide. */
  foreignRuns: boolean;
}

/** A record asked for a move the machine does not have; on replay it is reported and not applied. */
export class InvalidTransition extends Error {
  override readonly name = 'InvalidTransition';
}

/**
 * Every request there ever was, and the only code that changes a status. Checks (`prepareOpen`,
 * `checkAnswer`) change nothing and give the record to be written; `apply*` makes a written record true.
 * Pure: the caller brings ids, times and durability.
 */
export class RequestRegistry {
  readonly #requests = new Map<string, HandshakeRequest>();
  readonly #plansOf = new Map<string, string[]>();
  readonly #pending = new Set<string>();

  /** Oldest first. */
  all(): HandshakeRequest[] {
    return [...this.#requests.values()];
  }

  /** Oldest first. */
  pending(): HandshakeRequest[] {
    return [...this.#pending].flatMap((id) => this.#requests.get(id) ?? []);
  }

  get(requestId: string): HandshakeRequest | undefined {
    return this.#requests.get(requestId);
  }

  isUsed(requestId: string): boolean {
    return this.#requests.has(requestId);
  }

  /** The plans a member ever submitted, oldest first. */
  plansOf(member: string): HandshakeRequest[] {
    return (this.#plansOf.get(member) ?? []).flatMap((id) => this.#requests.get(id) ?? []);
  }

  /**
   * Checks that a request may be opened.
   * @returns the request, and the ids of older pending plans of the same member that it supersedes
   * @throws {Refusal} `invalid_request` with what is wrong
   */
  prepareOpen(input: OpenInput): { request: HandshakeRequest; supersedes: string[] } {
    const rule = KINDS[input.kind];
    if (this.isUsed(input.requestId)) {
      throw new Refusal('invalid_request', `Request id ${input.requestId} was used before.`, input.requestId);
    }
    if (!rule.askedBy.includes(roleOf(input.from))) {
      throw new Refusal('invalid_request', `${input.from} may not open a ${input.kind} request.`);
    }
    if (roleOf(input.to) !== rule.answeredBy) {
      throw new Refusal(
        'invalid_request',
        `A ${input.kind} request goes to the ${rule.answeredBy}, not to ${input.to}.`,
      );
    }
    const payload = rule.payload.safeParse(input.payload);
    if (!payload.success) {
      const issue = payload.error.issues[0];
      throw new Refusal(
        'invalid_request',
        `The ${input.kind} request is malformed: ${issue?.path.join('.') || 'payload'}: ${issue?.message ?? 'invalid'}.`,
      );
    }
    const supersedes =
      input.kind === 'plan_approval'
        ? this.plansOf(input.from)
            .filter((plan) => plan.status === 'pending')
            .map((plan) => plan.requestId)
        : [];
    return { request: { ...input, payload: payload.data, status: 'pending' }, supersedes };
  }

  /** @throws {InvalidTransition} when the id is taken */
  applyOpen(request: HandshakeRequest): void {
    if (this.isUsed(request.requestId) || request.status !== 'pending') {
      throw new InvalidTransition(`Request ${request.requestId} cannot be opened again.`);
    }
    // A copy of the work too: its owner goes on to the next task with the same object.
    const work = Object.freeze({ ...request.work });
    this.#requests.set(request.requestId, Object.freeze({ ...request, work }));
    this.#pending.add(request.requestId);
    if (request.kind === 'plan_approval') {
      const plans = this.#plansOf.get(request.from);
      if (plans) plans.push(request.requestId);
      else this.#plansOf.set(request.from, [request.requestId]);
    }
  }

  /** Puts back a request as a snapshot kept it. @throws {InvalidTransition} when the id is taken */
  restore(request: HandshakeRequest): void {
    this.applyOpen({ ...request, status: 'pending' });
    if (request.status === 'pending') return;
    this.#requests.set(
      request.requestId,
      Object.freeze({ ...request, work: Object.freeze({ ...request.work }) }),
    );
    this.#pending.delete(request.requestId);
  }

  /**
   * The six checks, in their order; the first that fails refuses.
   * @returns the decision to be written
   * @throws {Refusal}
   */
  checkAnswer(answer: Answer, context: DecisionContext, now: number): Decision {
    const request = this.#known(answer.requestId);
    const rule = KINDS[request.kind];
    if (answer.response !== undefined && answer.response !== rule.responseType) {
      throw new Refusal(
        'wrong_kind',
        `Request ${request.requestId} is a ${request.kind} request; a ${answer.response} cannot answer it.`,
        request.requestId,
      );
    }
    this.#checkResponder(answer, request);
    if (request.status !== 'pending') {
      throw new Refusal('already_decided', describeOutcome(request), request.requestId);
    }
    this.#checkFresh(request, context);
    if (answer.by !== HUMAN && !rule.allows(roleOf(answer.by), context.policy)) {
      throw new Refusal(
        'not_allowed',
        `The settings let only the human decide this ${request.kind} request (${request.requestId}). It waits in the Requests view.`,
        request.requestId,
      );
    }
    if (context.foreignRuns && isReachableByCode(answer)) {
      throw refusalWhileForeign(
        `request ${request.requestId} is not decided`,
        'Decide it in the Requests view.',
        request.requestId,
      );
    }
    const decision: Decision = {
      requestId: request.requestId,
      status: answer.approve ? 'approved' : 'rejected',
      decidedBy: answer.by,
      via: answer.via,
      decidedAt: now,
    };
    if (answer.feedback !== undefined && answer.feedback !== '') decision.feedback = answer.feedback;
    const accepted = readAccepted(answer, request);
    if (accepted !== undefined) decision.accepted = accepted;
    return decision;
  }

  /** @throws {InvalidTransition} when the request is unknown or no longer pending */
  applyDecision(decision: Decision): HandshakeRequest {
    const { requestId, status, decidedBy, via, feedback, accepted, decidedAt } = decision;
    return this.#move(requestId, status, {
      decidedBy,
      via,
      decidedAt,
      ...(feedback === undefined ? {} : { feedback }),
      ...(accepted === undefined ? {} : { accepted }),
    });
  }

  /** @throws {InvalidTransition} when the request is unknown or no longer pending */
  applyCancel(cancellation: Cancellation): HandshakeRequest {
    return this.#move(cancellation.requestId, 'cancelled', {
      decidedBy: 'runtime',
      decidedAt: cancellation.at,
      cancelReason: cancellation.reason,
    });
  }

  #known(requestId: string): HandshakeRequest {
    const request = this.#requests.get(requestId);
    if (request) return request;
    const shown = shorten(requestId, 40);
    throw new Refusal('unknown_request', `Unknown request_id '${shown}'. ${this.#pendingHint()}`, shown);
  }

  #pendingHint(): string {
    const ids = this.pending().map((r) => `${r.requestId} (${r.kind} from ${r.from})`);
    return ids.length === 0 ? 'Nothing is pending.' : `Pending: ${ids.slice(0, 5).join(', ')}.`;
  }

  #checkResponder(answer: Answer, request: HandshakeRequest): void {
    const refuse = (why: string): never => {
      throw new Refusal('wrong_responder', `Request ${request.requestId} ${why}`, request.requestId);
    };
    if (answer.to !== undefined && answer.to !== request.from) {
      refuse(`was asked by ${request.from}; the answer cannot go to ${shorten(answer.to, 40)}.`);
    }
    if (answer.by === HUMAN) return;
    const standsIn = answer.by === LEAD && KINDS[request.kind].leadStandsIn && request.from !== LEAD;
    if (answer.by !== request.to && !standsIn) {
      refuse(`is for ${request.to} to answer, not for ${answer.by}.`);
    }
    if (roleOf(answer.by) === 'teammate' && answer.incarnation !== request.work.incarnation) {
      refuse(`was meant for an earlier ${answer.by}.`);
    }
  }

  #checkFresh(request: HandshakeRequest, context: DecisionContext): void {
    const present = context.currentWork(request.work.member);
    const fresh =
      present !== undefined &&
      (KINDS[request.kind].boundTo === 'work'
        ? sameWork(request.work, present)
        : request.work.incarnation === present.incarnation);
    if (!fresh) {
      throw new Refusal(
        'stale_work',
        `Request ${request.requestId} was made for work that ${request.work.member} no longer does.`,
        request.requestId,
      );
    }
  }

  #move(requestId: string, to: RequestStatus, outcome: Partial<HandshakeRequest>): HandshakeRequest {
    const request = this.#requests.get(requestId);
    if (!request) throw new InvalidTransition(`There is no request ${requestId} to become ${to}.`);
    if (!TRANSITIONS[request.status].includes(to)) {
      throw new InvalidTransition(`Request ${requestId} is ${request.status} and cannot become ${to}.`);
    }
    const moved = Object.freeze({ ...request, ...outcome, status: to });
    this.#requests.set(requestId, moved);
    this.#pending.delete(requestId);
    return moved;
  }
}

/** @throws {Refusal} `invalid_request` where it is not for this party or kind, or does not fit what was asked for */
function readAccepted({ accepted, approve, by }: Answer, request: HandshakeRequest): unknown {
  if (accepted === undefined) return undefined;
  const { kind, requestId, payload } = request;
  const read = KINDS[kind].readAccepted;
  if (read === undefined || !approve || by !== HUMAN) {
    throw new Refusal(
      'invalid_request',
      `Only the human changes what is approved, and only of a team proposal (${requestId}).`,
      requestId,
    );
  }
  try {
    return read(payload, accepted);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Refusal(
      'invalid_request',
      `Request ${requestId} cannot be approved like this: ${why}.`,
      requestId,
    );
  }
}

/** The way by which a word of the human's came. */
export type Way = Pick<Answer, 'via' | 'prompted'>;

/** Whether code in the editor could have given this word; it has no way to a row of a tree or into a panel. */
export function isReachableByCode({ via, prompted }: Way): boolean {
  return via === 'command' || via === 'api' || prompted === true;
}

/**
 * @param what is not done, as in "request ab12 is not decided"
 * @param instead a sentence on what to do
 */
export function refusalWhileForeign(what: string, instead: string, requestId?: string): Refusal {
  const text = `While a tool that is not Handshake's own runs, ${what} by a command, the API or a prompt: the tool itself could have sent it. ${instead}`;
  return new Refusal('not_allowed', text, requestId);
}

/** One sentence on how a request ended, for whoever comes second. */
export function describeOutcome(request: HandshakeRequest): string {
  if (request.status === 'pending') return `Request ${request.requestId} is pending.`;
  if (request.status === 'cancelled') {
    return `Request ${request.requestId} was withdrawn: ${request.cancelReason ?? 'no longer needed'}.`;
  }
  const feedback = request.feedback ? ` Feedback: ${request.feedback}` : '';
  return `Request ${request.requestId} was already ${request.status} by ${request.decidedBy}.${feedback}`;
}
