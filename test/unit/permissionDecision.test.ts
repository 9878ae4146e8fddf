import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import type { ModelRequest } from '../../src/model/port';
import type { CoreSettings } from '../../src/team/settings';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { deferred, recording, requestIdIn, resultTexts, shown } from './support/turns';

const EITHER = { plan: 'either', permission: 'either', team: 'human' } as const;

function offers(request: ModelRequest | undefined): boolean {
  return request?.tools.some((tool) => tool.name === 'permission_decision') ?? false;
}

/** The lead decides the permission it hears of. */
const decides =
  (approve: boolean, feedback?: string) =>
  (request: ModelRequest): ReturnType<typeof call>[] => [
    call('permission_decision', {
      request_id: requestIdIn(request),
      approve,
      ...(feedback === undefined ? {} : { feedback }),
    }),
  ];

describe('permission_decision', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  async function aliceAsks(model: ScriptedModel, settings: Partial<CoreSettings> = {}) {
    const log: string[] = [];
    const team = await openTeam(model, settings, undefined, { workspace: recording(log) });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    return { team, log };
  }

  it('the lead hears of the request, whole, and its word lets the call run', async () => {
    const command = `echo ${'x'.repeat(300)} > made`;
    const model = new ScriptedModel({
      alice: [[call('bash', { command, description: 'To see it work' })], [text('Done.')]],
      lead: [decides(true), [text('Decided.')]],
    }).always('lead', [text('Seen.')]);
    const { team, log } = await aliceAsks(model, { approvals: EITHER });
    await team.core.whenIdle();
    const [request] = team.core.requests();
    assert.deepEqual(
      [request?.kind, request?.to, request?.status, request?.decidedBy, request?.via],
      ['tool_permission', 'human', 'approved', 'lead', 'tool'],
    );
    const [asked, answered] = model.of('lead');
    assert.ok(offers(asked));
    assert.match(shown(asked), /<message from="alice" type="permission_request" request_id="[0-9a-f]{8}">/);
    assert.ok(shown(asked).includes(command));
    assert.match(shown(asked), /To see it work/);
    assert.deepEqual(resultTexts(answered), ["Permission approved for 'alice'"]);
    assert.deepEqual(log, ['alice runCommand']);
  });

  it("the lead's no keeps the call from running, and its feedback reaches the teammate", async () => {
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'rm -rf b' })], [text('Done.')]],
      lead: [decides(false, 'Keep b.'), [text('Decided.')]],
    }).always('lead', [text('Seen.')]);
    const { team, log } = await aliceAsks(model, { approvals: EITHER });
    await team.core.whenIdle();
    assert.deepEqual(resultTexts(model.of('alice')[1]), [
      'Refused: lead did not permit this call. Feedback: Keep b.',
    ]);
    assert.deepEqual(log, []);
  });

  it('does not exist while the policy keeps permissions for the human, who alone is told', async () => {
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'touch made' })], [text('Done.')]],
      lead: [decides(true), [text('Told.')]],
    }).always('lead', [text('Seen.')]);
    const { team, log } = await aliceAsks(model);
    const request = await team.pending('tool_permission');
    await team.core.whenIdle();
    assert.deepEqual(model.of('lead'), []);
    assert.deepEqual(team.core.unread('lead'), []);
    await team.core.sendToLead(`Decide it: request_id="${request.requestId}"`);
    assert.equal(offers(model.of('lead')[0]), false);
    assert.deepEqual(resultTexts(model.of('lead')[1]), ["Error: There is no tool 'permission_decision'."]);
    assert.equal(team.core.request(request.requestId)?.status, 'pending');
    assert.deepEqual(log, []);
  });

  it('is refused when the policy was switched to human after it was offered', async () => {
    const offered = deferred();
    const switched = deferred();
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'touch made' })]],
      lead: [
        async (request) => {
          offered.resolve();
          await switched.promise;
          return decides(true)(request);
        },
        [text('Too late.')],
      ],
    });
    const { team, log } = await aliceAsks(model, { approvals: EITHER });
    await offered.promise;
    team.settings.approvals = { ...EITHER, permission: 'human' };
    switched.resolve();
    await team.core.whenIdle();
    const [first, second] = model.of('lead');
    assert.deepEqual([offers(first), offers(second)], [true, false]);
    assert.match(resultTexts(second)[0] ?? '', /^Error: The settings let only the human decide/);
    assert.equal((await team.pending('tool_permission')).status, 'pending');
    const refusal = team.events.find((event) => event.type === 'refusal');
    assert.deepEqual(refusal?.type === 'refusal' && [refusal.code, refusal.by], ['not_allowed', 'lead']);
    assert.deepEqual(log, []);
  });

  it('never answers what the lead asked for itself', async () => {
    const model = new ScriptedModel({ lead: [[call('bash', { command: 'touch made' })], [text('Done.')]] });
    const team = await openTeam(model, { approvals: EITHER });
    const turn = team.core.sendToLead('Go.');
    const { requestId } = await team.pending('tool_permission');
    assert.deepEqual(
      team.core.unread('lead').filter((message) => message.request_id === requestId),
      [],
    );
    await assert.rejects(
      team.core.decide({
        requestId,
        response: 'permission_response',
        approve: true,
        by: 'lead',
        via: 'tool',
      }),
      { code: 'wrong_responder' },
    );
    await team.core.decide({ requestId, approve: false, by: 'human', via: 'ui' });
    await turn;
    await team.core.whenIdle();
    assert.deepEqual(await fs.readdir(team.root), ['.team']);
  });

  it('comes second where the human was quicker, and the lead is told who decided', async () => {
    const asked = deferred();
    const decided = deferred();
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'touch made' })], [text('Done.')]],
      lead: [
        async (request) => {
          asked.resolve();
          await decided.promise;
          return decides(true)(request);
        },
        [text('So be it.')],
      ],
    }).always('lead', [text('Seen.')]);
    const { team, log } = await aliceAsks(model, { approvals: EITHER });
    const { requestId } = await team.pending('tool_permission');
    await asked.promise;
    await team.core.decide({ requestId, approve: false, feedback: 'No.', by: 'human', via: 'ui' });
    decided.resolve();
    await team.core.whenIdle();
    assert.match(resultTexts(model.of('lead')[1])[0] ?? '', /already rejected by human\. Feedback: No\./);
    assert.deepEqual(log, []);
  });

  it('is not taken for an answer to a plan, nor a plan tool for one to a permission', async () => {
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'touch made' })]],
      bob: [[call('plan_approval', { plan: 'Rewrite it.' })], [text('Waiting.')]],
    }).always('lead', [text('Seen.')]);
    const { team } = await aliceAsks(model, { approvals: EITHER });
    const permission = await team.pending('tool_permission');
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const plan = await team.pending('plan_approval');
    await team.core.whenIdle();
    model.add(
      'lead',
      [
        call('permission_decision', { request_id: plan.requestId, approve: true }),
        call('plan_approval', { request_id: permission.requestId, approve: true }),
        call('permission_decision', { request_id: 'ffffffff', approve: true }),
      ],
      [text('Neither.')],
    );
    await team.core.sendToLead('Mix them up.');
    await team.core.whenIdle();
    assert.deepEqual(
      team.events.flatMap((event) => (event.type === 'refusal' ? [event.code] : [])),
      ['wrong_kind', 'wrong_kind', 'unknown_request'],
    );
    for (const { requestId } of [permission, plan]) {
      assert.equal(team.core.request(requestId)?.status, 'pending');
    }
  });
});

describe('cases: authority', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it("case 4: under the policy human there is one decision, the human's, and no mutating tool ran", async () => {
    const log: string[] = [];
    const model = new ScriptedModel({
      bob: [
        [call('plan_approval', { plan: 'Rewrite it all.' }), call('write_file', { path: 'a', content: 'x' })],
        [call('bash', { command: 'touch b' })],
        [text('Waiting.')],
        [call('write_file', { path: 'c', content: 'x' })],
        [text('Rejected, then.')],
      ],
      lead: [
        (request) => [call('plan_approval', { request_id: requestIdIn(request), approve: true })],
        [text('I may not.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(
      model,
      { approvals: { plan: 'human', permission: 'human', team: 'human' }, permissionMode: 'allow' },
      undefined,
      { workspace: recording(log) },
    );
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Refactor.', requirePlan: true }, 'human');
    const { requestId } = await team.pending('plan_approval');
    await team.core.whenIdle();
    assert.match(resultTexts(model.of('lead')[1])[0] ?? '', /^Error: The settings let only the human decide/);
    assert.equal(team.core.request(requestId)?.status, 'pending');
    await team.core.decide({ requestId, approve: false, feedback: 'Smaller.', by: 'human', via: 'ui' });
    await team.core.whenIdle();
    const decided = team.core.request(requestId);
    assert.deepEqual(
      [decided?.status, decided?.decidedBy, decided?.via, decided?.feedback],
      ['rejected', 'human', 'ui', 'Smaller.'],
    );
    const changes = team.events.flatMap((event) =>
      event.type === 'request' && event.request.requestId === requestId ? [event.change] : [],
    );
    assert.deepEqual(changes, ['opened', 'rejected']);
    assert.deepEqual(log, []);
    assert.match(resultTexts(model.of('bob').at(-1))[0] ?? '', /^Blocked: plan status is rejected/);
  });
});
