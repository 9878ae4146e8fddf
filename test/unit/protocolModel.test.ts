import * as assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  type Answer,
  computeGate,
  type DecisionContext,
  InvalidTransition,
  type OpenInput,
  Refusal,
  RequestRegistry,
} from '../../src/protocol';
import {
  firstFailing,
  fresh,
  gateNow,
  type Model,
  type ModelRequest,
  mayOpen,
  newModel,
  type Step,
  steps,
  TEAMMATES,
  workNow,
} from './support/handshakeModel';

const RUNS = 2000;
const seed = Number(process.env.HANDSHAKE_SEED ?? Date.now() & 0x7fffffff);

const PAYLOADS = {
  shutdown: {},
  plan_approval: { plan: 'Do it.' },
  tool_permission: { tool: 'bash', toolUseId: 'c1', subject: 'ls', access: 'command' },
  team_proposal: { members: [{ name: 'zoe', role: 'coder', prompt: 'Work.' }] },
};

/** Plays one sequence against the registry and the model, and compares after every step. */
class Play {
  readonly registry = new RequestRegistry();
  readonly model: Model = newModel();
  readonly reached = new Map<string, number>();
  #ids = 0;
  #now = 1000;

  step(step: Step): void {
    this.#now++;
    if (step.op === 'open') this.#open(step);
    else if (step.op === 'decide') this.#decide(step);
    else if (step.op === 'answer') this.#answer(step);
    else if (step.op === 'cancel') this.#cancel(step.target);
    else if (step.op === 'move') this.#move(step.member, step.planRequired);
    else if (step.op === 'policy')
      Object.assign(this.model, { plan: step.plan, permission: step.permission });
    else this.#leaveOrReturn(step.op, step.member);
    this.#compare();
  }

  #open(step: Extract<Step, { op: 'open' }>): void {
    const { kind, from, to, about, old, reuse } = step;
    const reused = reuse === null ? undefined : this.#pick(reuse)?.id;
    const requestId = reused ?? (this.#ids++).toString(16).padStart(8, '0');
    const present = workNow(this.model, about) ?? {
      member: about,
      incarnation: 1,
      taskId: null,
      workVersion: 1,
    };
    const work = { ...present, workVersion: Math.max(present.workVersion - old, 0) };
    const payload = step.valid ? PAYLOADS[kind] : { plan: 7, members: [], tool: [], reason: 7 };
    const input: OpenInput = {
      requestId,
      kind,
      from,
      to,
      payload,
      work,
      createdAt: this.#now,
      deadlineAt: this.#now + 10,
    };
    if (reused !== undefined || !mayOpen(step)) {
      this.#refused('invalid_request', () => this.registry.prepareOpen(input));
      return;
    }
    const { request, supersedes } = this.registry.prepareOpen(input);
    const older = this.model.requests.filter(
      (other) =>
        kind === 'plan_approval' && other.kind === kind && other.from === from && other.status === 'pending',
    );
    assert.deepEqual(
      supersedes,
      older.map((plan) => plan.id),
    );
    this.registry.applyOpen(request);
    for (const plan of older) this.#end(plan, 'cancelled', 'runtime');
    this.model.requests.push({ id: requestId, kind, from, to, work, status: 'pending' });
    this.#note('opened');
  }

  #answer(step: Extract<Step, { op: 'answer' }>): void {
    const request = this.#pick(step.target);
    if (!request) return;
    const by = step.by === 'addressee' ? request.to : step.by;
    const incarnation = request.work.incarnation;
    this.#check(request, {
      requestId: request.id,
      approve: step.approve,
      by,
      via: 'tool',
      ...(by === 'lead' || by === 'human' ? {} : { incarnation }),
    });
  }

  #decide(step: Extract<Step, { op: 'decide' }>): void {
    const { target, response, by, incarnation, to, approve, feedback, via } = step;
    const request = target === null ? undefined : this.#pick(target);
    const answer: Answer = { requestId: request?.id ?? 'ffffffff', approve, by, via };
    if (response !== undefined) answer.response = response;
    if (incarnation !== undefined) answer.incarnation = incarnation;
    if (to !== undefined) answer.to = to;
    if (feedback !== undefined) answer.feedback = feedback;
    this.#check(request, answer, step.twice);
  }

  #check(request: ModelRequest | undefined, answer: Answer, twice = false): void {
    const { response, by, incarnation, to } = answer;
    const expected = firstFailing(this.model, request, { response, by, incarnation, to });
    if (expected !== undefined || request === undefined) {
      this.#refused(expected ?? 'unknown_request', () =>
        this.registry.checkAnswer(answer, this.#context(), this.#now),
      );
      return;
    }
    const before = this.#picture();
    const decision = this.registry.checkAnswer(answer, this.#context(), this.#now);
    assert.deepEqual(this.#picture(), before, 'a check changes nothing');
    const decided = this.registry.applyDecision(decision);
    assert.equal(decided.decidedBy, answer.by);
    assert.equal(decided.feedback, answer.feedback || undefined);
    if (twice) {
      for (const status of ['approved', 'rejected'] as const) {
        assert.throws(() => this.registry.applyDecision({ ...decision, status }), InvalidTransition);
      }
    }
    this.#end(request, answer.approve ? 'approved' : 'rejected', answer.by);
    this.#note(answer.approve ? 'approved' : 'rejected');
  }

  #cancel(target: number | null): void {
    const request = target === null ? undefined : this.#pick(target);
    const cancellation = { requestId: request?.id ?? 'ffffffff', reason: 'gone', at: this.#now };
    if (request?.status !== 'pending') {
      const before = this.#picture();
      assert.throws(() => this.registry.applyCancel(cancellation), InvalidTransition);
      assert.deepEqual(this.#picture(), before);
      return;
    }
    this.#end(request, 'cancelled', 'runtime');
    this.#note('cancelled');
  }

  #move(name: string, planRequired: boolean): void {
    const party = this.model.members[name];
    if (!party) return;
    party.workVersion++;
    party.taskId = `${name}-${party.incarnation}.${party.workVersion}`;
    party.planRequired = planRequired;
  }

  #leaveOrReturn(op: 'leave' | 'respawn', name: string): void {
    const party = this.model.members[name];
    if (!party) return;
    if (op === 'leave') party.present = false;
    else if (!party.present) this.model.members[name] = fresh(name, party.incarnation + 1);
  }

  /** Ends a request on both sides. */
  #end(request: ModelRequest, status: 'approved' | 'rejected' | 'cancelled', by: string): void {
    if (status === 'cancelled') {
      this.registry.applyCancel({ requestId: request.id, reason: 'gone', at: this.#now });
    }
    assert.equal(request.status, 'pending', 'only a pending request ends');
    request.status = status;
    request.decidedBy = by;
    this.model.ends.set(request.id, (this.model.ends.get(request.id) ?? 0) + 1);
  }

  #refused(code: string, attempt: () => void): void {
    const before = this.#picture();
    assert.throws(attempt, (error: unknown) => {
      assert.ok(error instanceof Refusal);
      assert.equal(error.code, code);
      return error.message !== '';
    });
    assert.deepEqual(this.#picture(), before, 'a refusal changes nothing');
    this.#note(code);
  }

  #compare(): void {
    const seen = this.registry.all();
    assert.deepEqual(
      seen.map(({ requestId: id, kind, from, to, work, status, decidedBy }) => ({
        id,
        kind,
        from,
        to,
        work,
        status,
        ...(decidedBy === undefined ? {} : { decidedBy }),
      })),
      this.model.requests,
    );
    assert.equal(new Set(seen.map((request) => request.requestId)).size, seen.length, 'ids are never reused');
    assert.ok(
      [...this.model.ends.values()].every((count) => count === 1),
      'one end a request',
    );
    assert.deepEqual(
      this.registry.pending(),
      seen.filter((request) => request.status === 'pending'),
    );
    for (const name of TEAMMATES) {
      const party = this.model.members[name];
      assert.ok(party);
      const { incarnation, taskId, workVersion, planRequired } = party;
      const work = { member: name, incarnation, taskId, workVersion };
      const gate = computeGate(this.registry.plansOf(name), work, planRequired);
      assert.equal(gate, gateNow(this.model, name));
      this.#note(`gate ${gate}`);
    }
  }

  #picture(): unknown {
    return structuredClone([
      this.registry.all(),
      this.registry.pending(),
      TEAMMATES.map((name) => this.registry.plansOf(name)),
    ]);
  }

  #context(): DecisionContext {
    const { plan, permission } = this.model;
    return {
      currentWork: (name) => workNow(this.model, name),
      policy: { plan, permission },
      foreignRuns: false,
    };
  }

  #pick(index: number): ModelRequest | undefined {
    const { requests } = this.model;
    return requests.length === 0 ? undefined : requests[index % requests.length];
  }

  #note(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }
}

describe('protocol, model-based', function () {
  this.timeout(120_000);

  it(`keeps the invariants of the design in ${RUNS} random sequences (seed ${seed})`, () => {
    const reached = new Map<string, number>();
    fc.assert(
      fc.property(steps, (sequence) => {
        const play = new Play();
        for (const step of sequence) play.step(step);
        for (const [what, count] of play.reached) reached.set(what, (reached.get(what) ?? 0) + count);
      }),
      { numRuns: RUNS, seed },
    );
    // The sequences have to go everywhere, or they prove little.
    const everything = [
      ...['opened', 'approved', 'rejected', 'cancelled', 'invalid_request'],
      ...['unknown_request', 'wrong_kind', 'wrong_responder', 'already_decided', 'stale_work', 'not_allowed'],
      ...['gate not_required', 'gate required', 'gate pending', 'gate approved', 'gate rejected'],
    ];
    for (const what of everything) assert.ok((reached.get(what) ?? 0) >= 50, `${what}: ${reached.get(what)}`);
  });
});
