import * as assert from 'node:assert/strict';
import {
  type Answer,
  type DecisionContext,
  InvalidTransition,
  KINDS,
  makeRequestId,
  type OpenInput,
  REQUEST_KINDS,
  Refusal,
  type RefusalCode,
  type RequestKind,
  RequestRegistry,
  toSnapshot,
} from '../../src/protocol';
import {
  answer,
  context,
  openIn,
  permissionInput,
  planInput,
  proposalInput,
  shutdownInput,
  work,
} from './support/requests';

/** The refusal of an answer, after proving that it changed nothing. */
function refused(registry: RequestRegistry, given: Answer, at: DecisionContext = context()): Refusal {
  const before = structuredClone(registry.all());
  try {
    registry.checkAnswer(given, at, 1500);
  } catch (error) {
    assert.ok(error instanceof Refusal, `not a Refusal: ${error}`);
    assert.deepEqual(registry.all(), before);
    return error;
  }
  throw new assert.AssertionError({ message: 'The answer was not refused.' });
}

function decide(registry: RequestRegistry, given: Answer, at: DecisionContext = context()) {
  return registry.applyDecision(registry.checkAnswer(given, at, 1500));
}

describe('protocol: opening a request', () => {
  const good: Record<RequestKind, OpenInput> = {
    shutdown: shutdownInput(),
    plan_approval: planInput(),
    tool_permission: permissionInput(),
    team_proposal: proposalInput(),
  };

  for (const kind of REQUEST_KINDS) {
    it(`opens a ${kind} request as pending`, () => {
      const registry = new RequestRegistry();
      openIn(registry, good[kind]);
      assert.deepEqual(registry.all(), [{ ...good[kind], status: 'pending' }]);
      assert.deepEqual(registry.pending(), registry.all());
    });
  }

  const bad: [string, OpenInput, RegExp][] = [
    ['a shutdown asked by a teammate', shutdownInput({ from: 'bob' }), /bob may not open a shutdown request/],
    ['a shutdown of the lead', shutdownInput({ to: 'lead' }), /goes to the teammate, not to lead/],
    ['a plan of the lead', planInput({ from: 'lead' }), /lead may not open a plan_approval request/],
    ['a plan of the human', planInput({ from: 'human' }), /human may not open/],
    ['a plan sent to a teammate', planInput({ to: 'bob' }), /goes to the lead, not to bob/],
    ['a plan without text', planInput({ payload: { plan: '' } }), /malformed: plan: /],
    ['a plan with files that are no list', planInput({ payload: { plan: 'x', files: 'a' } }), /files: /],
    ['a plan with no payload', planInput({ payload: undefined }), /malformed: payload: /],
    ['a permission sent to the lead', permissionInput({ to: 'lead' }), /goes to the human, not to lead/],
    ['a permission asked by the human', permissionInput({ from: 'human' }), /human may not open/],
    ['a permission without a subject', permissionInput({ payload: { tool: 'bash' } }), /malformed/],
    ['a proposal of a teammate', proposalInput({ from: 'alice' }), /alice may not open a team_proposal/],
    ['a proposal of nobody', proposalInput({ payload: { members: [] } }), /malformed: members/],
  ];
  for (const [name, input, text] of bad) {
    it(`refuses ${name}`, () => {
      const registry = new RequestRegistry();
      assert.throws(
        () => registry.prepareOpen(input),
        (error: unknown) =>
          error instanceof Refusal && error.code === 'invalid_request' && text.test(error.message),
      );
      assert.deepEqual(registry.all(), []);
    });
  }

  it('refuses an id that was ever used, ended requests included', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    registry.applyCancel({ requestId: 'aaaaaaaa', reason: 'gone', at: 1 });
    assert.throws(() => registry.prepareOpen(shutdownInput()), /Request id aaaaaaaa was used before/);
    assert.throws(() => registry.applyOpen({ ...planInput(), status: 'pending' }), InvalidTransition);
  });

  it('keeps nothing that the caller may still change', () => {
    const registry = new RequestRegistry();
    const input = planInput({ work: { ...work() }, payload: { plan: 'first', files: ['a'] } });
    openIn(registry, input);
    Object.assign(input.work, { workVersion: 9 });
    Object.assign(input.payload as object, { plan: 'second' });
    assert.deepEqual(registry.get('aaaaaaaa')?.work, work());
    assert.deepEqual(registry.get('aaaaaaaa')?.payload, { plan: 'first', files: ['a'] });
  });

  it('drops what a payload does not have', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput({ payload: { plan: 'x', approve: true } }));
    assert.deepEqual(registry.get('aaaaaaaa')?.payload, { plan: 'x' });
  });

  it('supersedes the older pending plans of the same member, and no other request', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput({ requestId: '00000001' }));
    openIn(registry, planInput({ requestId: '00000002', from: 'bob', work: work({ member: 'bob' }) }));
    openIn(registry, permissionInput({ requestId: '00000003' }));
    openIn(registry, shutdownInput({ requestId: '00000004' }));
    const { supersedes } = registry.prepareOpen(planInput({ requestId: '00000005' }));
    assert.deepEqual(supersedes, ['00000001']);
    openIn(registry, planInput({ requestId: '00000005' }));
    assert.deepEqual(
      registry.all().map((request) => request.status),
      ['cancelled', 'pending', 'pending', 'pending', 'pending'],
    );
    assert.equal(registry.get('00000001')?.cancelReason, 'superseded by plan 00000005');
    assert.equal(registry.get('00000001')?.decidedBy, 'runtime');
  });

  it("lists a member's plans oldest first", () => {
    const registry = new RequestRegistry();
    for (const requestId of ['00000001', '00000002', '00000003']) openIn(registry, planInput({ requestId }));
    assert.deepEqual(
      registry.plansOf('alice').map((plan) => plan.requestId),
      ['00000001', '00000002', '00000003'],
    );
    assert.deepEqual(registry.plansOf('bob'), []);
  });
});

describe('protocol: the six checks, in their order', () => {
  it('1 unknown_request: names the id and what is pending', () => {
    const registry = new RequestRegistry();
    const none = refused(registry, answer({ requestId: 'ffffffff' }));
    assert.equal(none.code, 'unknown_request');
    assert.equal(none.message, "Unknown request_id 'ffffffff'. Nothing is pending.");
    openIn(registry, planInput());
    const some = refused(registry, answer({ requestId: 'ffffffff' }));
    assert.equal(
      some.message,
      "Unknown request_id 'ffffffff'. Pending: aaaaaaaa (plan_approval from alice).",
    );
    const long = refused(registry, answer({ requestId: 'f'.repeat(5000) }));
    assert.ok(long.message.length < 200);
  });

  it('2 wrong_kind: the response type has to fit the kind', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    const refusal = refused(registry, answer({ response: 'shutdown_response' }));
    assert.equal(refusal.code, 'wrong_kind');
    assert.equal(
      refusal.message,
      'Request aaaaaaaa is a plan_approval request; a shutdown_response cannot answer it.',
    );
    assert.equal(refusal.requestId, 'aaaaaaaa');
  });

  it('3 wrong_responder: only the addressee, the human for anybody, and the answer goes to the sender', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    const foreign = refused(registry, answer({ by: 'bob', incarnation: 1 }));
    assert.equal(foreign.code, 'wrong_responder');
    assert.equal(foreign.message, 'Request aaaaaaaa is for lead to answer, not for bob.');
    const own = refused(registry, answer({ by: 'alice', incarnation: 1 }));
    assert.equal(own.code, 'wrong_responder');
    const astray = refused(registry, answer({ by: 'lead', to: 'bob' }));
    assert.equal(astray.message, 'Request aaaaaaaa was asked by alice; the answer cannot go to bob.');
    assert.equal(refused(registry, answer({ by: 'human', to: 'bob' })).code, 'wrong_responder');
    assert.equal(refused(registry, answer({ by: 'runtime' })).code, 'wrong_responder');
    assert.equal(refused(registry, answer({ by: 'Lead' })).code, 'wrong_responder');
  });

  it('3 wrong_responder: the lead stands in for the human on permissions, never on its own', () => {
    const either = context({ policy: { permission: 'either' } });
    const registry = new RequestRegistry();
    openIn(registry, permissionInput());
    const lead = permissionInput({ requestId: 'bbbbbbbb', from: 'lead', work: proposalInput().work });
    openIn(registry, lead);
    openIn(registry, proposalInput({ requestId: 'cccccccc' }));
    openIn(registry, shutdownInput({ requestId: 'dddddddd' }));
    assert.equal(
      refused(registry, answer({ requestId: 'bbbbbbbb', by: 'lead' }), either).code,
      'wrong_responder',
    );
    assert.equal(
      refused(registry, answer({ requestId: 'cccccccc', by: 'lead' }), either).code,
      'wrong_responder',
    );
    assert.equal(
      refused(registry, answer({ requestId: 'dddddddd', by: 'lead' }), either).code,
      'wrong_responder',
    );
    assert.equal(decide(registry, answer({ by: 'lead', via: 'tool' }), either).decidedBy, 'lead');
  });

  it('3 wrong_responder: a namesake of an earlier start is somebody else', () => {
    const registry = new RequestRegistry();
    openIn(registry, shutdownInput());
    const now = context({ work: work({ incarnation: 2 }) });
    const refusal = refused(registry, answer({ by: 'alice', incarnation: 2 }), now);
    assert.equal(refusal.code, 'wrong_responder');
    assert.equal(refusal.message, 'Request aaaaaaaa was meant for an earlier alice.');
    assert.equal(refused(registry, answer({ by: 'alice' })).code, 'wrong_responder');
  });

  it('4 already_decided: says by whom and how', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    decide(registry, answer({ approve: false, feedback: 'too broad' }));
    const refusal = refused(registry, answer({ by: 'lead' }));
    assert.equal(refusal.code, 'already_decided');
    assert.equal(refusal.message, 'Request aaaaaaaa was already rejected by human. Feedback: too broad');
    const withdrawn = new RequestRegistry();
    openIn(withdrawn, planInput());
    withdrawn.applyCancel({ requestId: 'aaaaaaaa', reason: 'superseded by plan bbbbbbbb', at: 1 });
    assert.equal(
      refused(withdrawn, answer()).message,
      'Request aaaaaaaa was withdrawn: superseded by plan bbbbbbbb.',
    );
  });

  it('5 stale_work: a plan is bound to incarnation, task and work version', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    const moved = [
      work({ incarnation: 2 }),
      work({ workVersion: 2 }),
      work({ taskId: 'alice-1.2' }),
      work({ taskId: null }),
      undefined,
    ];
    for (const present of moved) {
      const refusal = refused(registry, answer(), context({ work: present }));
      assert.equal(refusal.code, 'stale_work');
      assert.equal(refusal.message, 'Request aaaaaaaa was made for work that alice no longer does.');
    }
  });

  it('5 stale_work: a shutdown and a permission are bound to the incarnation alone', () => {
    for (const input of [shutdownInput(), permissionInput()]) {
      const registry = new RequestRegistry();
      openIn(registry, input);
      assert.equal(refused(registry, answer(), context({ work: undefined })).code, 'stale_work');
      assert.equal(
        refused(registry, answer(), context({ work: work({ incarnation: 2 }) })).code,
        'stale_work',
      );
      const later = context({ work: work({ workVersion: 7, taskId: 'other' }) });
      assert.equal(decide(registry, answer(), later).status, 'approved');
    }
  });

  it('6 not_allowed: the policy may keep a kind for the human', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    openIn(registry, permissionInput({ requestId: 'bbbbbbbb' }));
    const strict = context({ policy: { plan: 'human', permission: 'human' } });
    for (const requestId of ['aaaaaaaa', 'bbbbbbbb']) {
      const refusal = refused(registry, answer({ requestId, by: 'lead', via: 'tool' }), strict);
      assert.equal(refusal.code, 'not_allowed');
      assert.match(
        refusal.message,
        /only the human decide this .* request \(.{8}\)\. It waits in the Requests view/,
      );
      assert.equal(decide(registry, answer({ requestId }), strict).decidedBy, 'human');
    }
  });

  it('6 not_allowed: what code could have sent while a tool of others runs, of every kind; clicks and own tools go on', () => {
    const running = context({ foreignRuns: true });
    const inputs = [
      planInput(),
      permissionInput({ requestId: 'bbbbbbbb' }),
      shutdownInput({ requestId: 'cccccccc' }),
      proposalInput({ requestId: 'dddddddd' }),
    ];
    for (const input of inputs) {
      const { requestId } = input;
      const registry = new RequestRegistry();
      openIn(registry, input);
      for (const way of [{ via: 'command' }, { via: 'api' }, { via: 'ui', prompted: true }] as const) {
        const refusal = refused(registry, answer({ requestId, ...way }), running);
        assert.equal(refusal.code, 'not_allowed');
        assert.match(refusal.message, /Decide it in the Requests view/);
      }
      assert.equal(registry.get(requestId)?.status, 'pending');
      assert.equal(decide(registry, answer({ requestId, via: 'ui' }), running).decidedBy, 'human');
      assert.equal(refused(registry, answer({ requestId, via: 'api' }), running).code, 'already_decided');
    }
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    const given = answer({ by: 'lead', via: 'tool', response: 'plan_approval_response' });
    assert.equal(decide(registry, given, running).decidedBy, 'lead');
    const calm = new RequestRegistry();
    openIn(calm, planInput());
    assert.equal(decide(calm, answer({ via: 'ui', prompted: true })).via, 'ui');
  });

  it('reports the first check that fails when all of them do', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    registry.applyCancel({ requestId: 'aaaaaaaa', reason: 'gone', at: 1 });
    const strict = context({ work: undefined, policy: { plan: 'human' } });
    const steps: [RefusalCode, Answer][] = [
      ['unknown_request', answer({ requestId: 'ffffffff', response: 'shutdown_response', by: 'bob' })],
      ['wrong_kind', answer({ response: 'shutdown_response', by: 'bob' })],
      ['wrong_responder', answer({ response: 'plan_approval_response', by: 'bob' })],
      ['already_decided', answer({ response: 'plan_approval_response', by: 'lead' })],
    ];
    for (const [code, given] of steps) assert.equal(refused(registry, given, strict).code, code);
    const pending = new RequestRegistry();
    openIn(pending, planInput());
    assert.equal(refused(pending, answer({ by: 'lead' }), strict).code, 'stale_work');
    const fresh = context({ policy: { plan: 'human' } });
    assert.equal(refused(pending, answer({ by: 'lead' }), fresh).code, 'not_allowed');
  });
});

describe('protocol: ends', () => {
  it('keeps who decided, how, when and the feedback', () => {
    const registry = new RequestRegistry();
    openIn(registry, shutdownInput());
    const given = answer({ by: 'alice', incarnation: 1, via: 'tool', approve: false, feedback: 'not yet' });
    const decided = decide(registry, { ...given, response: 'shutdown_response' });
    const { status, decidedBy, via, feedback, decidedAt } = decided;
    assert.deepEqual(
      { status, decidedBy, via, feedback, decidedAt },
      { status: 'rejected', decidedBy: 'alice', via: 'tool', feedback: 'not yet', decidedAt: 1500 },
    );
    assert.deepEqual(registry.pending(), []);
  });

  it('does not keep empty feedback', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    assert.equal('feedback' in decide(registry, answer({ feedback: '' })), false);
  });

  it('lets nothing leave a terminal state', () => {
    for (const end of ['approved', 'rejected', 'cancelled'] as const) {
      const registry = new RequestRegistry();
      openIn(registry, planInput());
      const approve = registry.checkAnswer(answer(), context(), 1);
      const reject = registry.checkAnswer(answer({ approve: false }), context(), 1);
      if (end === 'cancelled') registry.applyCancel({ requestId: 'aaaaaaaa', reason: 'gone', at: 1 });
      else registry.applyDecision(end === 'approved' ? approve : reject);
      const before = structuredClone(registry.all());
      assert.throws(() => registry.applyDecision(approve), InvalidTransition);
      assert.throws(() => registry.applyDecision(reject), InvalidTransition);
      assert.throws(
        () => registry.applyCancel({ requestId: 'aaaaaaaa', reason: 'again', at: 2 }),
        InvalidTransition,
      );
      assert.deepEqual(registry.all(), before);
    }
  });

  it('does not end what was never opened', () => {
    const registry = new RequestRegistry();
    assert.throws(
      () => registry.applyCancel({ requestId: 'ffffffff', reason: 'x', at: 1 }),
      InvalidTransition,
    );
  });
});

describe('protocol: snapshots', () => {
  it('are copies: changing one changes nothing', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput({ payload: { plan: 'x', files: ['a'] } }));
    const request = registry.get('aaaaaaaa');
    assert.ok(request);
    const snapshot = toSnapshot(request);
    assert.deepEqual(snapshot, {
      requestId: 'aaaaaaaa',
      kind: 'plan_approval',
      from: 'alice',
      to: 'lead',
      status: 'pending',
      payload: { plan: 'x', files: ['a'] },
      createdAt: 1000,
    });
    snapshot.status = 'approved';
    (snapshot.payload as { files: string[] }).files.push('b');
    assert.deepEqual(toSnapshot(request).payload, { plan: 'x', files: ['a'] });
    assert.equal(registry.get('aaaaaaaa')?.status, 'pending');
    assert.throws(() => Object.assign(request, { status: 'approved' }), TypeError);
  });

  it('of an earlier moment stay as they were', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    const [before] = registry.all();
    decide(registry, answer());
    assert.equal(before?.status, 'pending');
    assert.equal(registry.get('aaaaaaaa')?.status, 'approved');
  });

  it('of the lists are copies too', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    registry.all().pop();
    registry.pending().pop();
    registry.plansOf('alice').pop();
    assert.equal(registry.all().length + registry.pending().length + registry.plansOf('alice').length, 3);
  });
});

describe('protocol: request ids', () => {
  const uuid = (head: string) => `${head}-0000-4000-8000-000000000000`;

  it('are the first 8 hex digits of a UUID, made again while used', () => {
    const given = [uuid('d08982e3'), uuid('D08982E3'), uuid('00c0ffee')];
    const used = new Set(['d08982e3']);
    const id = makeRequestId(
      () => given.shift() ?? '',
      (candidate) => used.has(candidate),
    );
    assert.equal(id, '00c0ffee');
    assert.equal(given.length, 0);
  });

  it('are not made from what is not a UUID', () => {
    assert.throws(
      () =>
        makeRequestId(
          () => 'lead',
          () => false,
        ),
      /Not a UUID: its first 8 characters are 'lead'/,
    );
  });

  it('do not hang on a source that repeats itself', () => {
    assert.throws(
      () =>
        makeRequestId(
          () => uuid('d08982e3'),
          () => true,
        ),
      /No unused request id/,
    );
  });
});

describe('protocol: the table of kinds', () => {
  it('says who asks, who answers, and with which message', () => {
    const rows = Object.entries(KINDS).map(([kind, rule]) => [
      kind,
      rule.askedBy.join('|'),
      rule.answeredBy,
      rule.responseType,
      rule.boundTo,
      rule.leadStandsIn,
    ]);
    assert.deepEqual(rows, [
      ['shutdown', 'lead|human', 'teammate', 'shutdown_response', 'incarnation', false],
      ['plan_approval', 'teammate', 'lead', 'plan_approval_response', 'work', false],
      ['tool_permission', 'lead|teammate', 'human', 'permission_response', 'incarnation', true],
      ['team_proposal', 'lead', 'human', 'proposal_response', 'incarnation', false],
    ]);
    assert.deepEqual(Object.keys(KINDS), [...REQUEST_KINDS]);
  });
});
