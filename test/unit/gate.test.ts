import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { blockedText, computeGate, type Gate, isOpen, RequestRegistry } from '../../src/protocol';
import { openIn, planInput, work } from './support/requests';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { recording, resultTexts } from './support/turns';

const BLOCKED: Record<'required' | 'pending' | 'rejected', string> = {
  required: 'Blocked: plan status is required. Submit a plan with plan_approval and wait for its approval.',
  pending: 'Blocked: plan status is pending. Wait for the decision; it will reach you as a message.',
  rejected:
    'Blocked: plan status is rejected. Submit a revised plan with plan_approval that answers the feedback.',
};

describe('gate: computed from the plans', () => {
  function gateOf(registry: RequestRegistry, required = false, at = work()): Gate {
    return computeGate(registry.plansOf('alice'), at, required);
  }

  it('without a plan depends on whether one is required', () => {
    assert.equal(gateOf(new RequestRegistry()), 'not_required');
    assert.equal(gateOf(new RequestRegistry(), true), 'required');
  });

  it('is the status of the newest plan that was not cancelled', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput({ requestId: '00000001' }));
    assert.equal(gateOf(registry), 'pending');
    registry.applyDecision({
      requestId: '00000001',
      status: 'rejected',
      decidedBy: 'lead',
      via: 'tool',
      decidedAt: 1,
    });
    assert.equal(gateOf(registry), 'rejected');
    openIn(registry, planInput({ requestId: '00000002' }));
    assert.equal(gateOf(registry), 'pending');
    registry.applyCancel({ requestId: '00000002', reason: 'gone', at: 1 });
    assert.equal(gateOf(registry), 'rejected');
  });

  it('is only of this incarnation, task and work version', () => {
    const registry = new RequestRegistry();
    openIn(registry, planInput());
    registry.applyDecision({
      requestId: 'aaaaaaaa',
      status: 'approved',
      decidedBy: 'lead',
      via: 'tool',
      decidedAt: 1,
    });
    assert.equal(gateOf(registry, true), 'approved');
    for (const other of [{ incarnation: 2 }, { taskId: 'other' }, { workVersion: 2 }, { member: 'bob' }]) {
      assert.equal(gateOf(registry, true, work(other)), 'required');
    }
  });

  it('opens for not_required and approved alone, and says what to do otherwise', () => {
    const gates: Gate[] = ['not_required', 'required', 'pending', 'approved', 'rejected'];
    assert.deepEqual(gates.filter(isOpen), ['not_required', 'approved']);
    for (const gate of ['required', 'pending', 'rejected'] as const)
      assert.equal(blockedText(gate), BLOCKED[gate]);
  });
});

describe('gate: where tools are dispatched', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  const mutating = () => [
    call('bash', { command: 'echo 1 > made-by-bash' }),
    call('write_file', { path: 'made', content: 'x' }),
    call('edit_file', { path: 'notes.txt', old_text: 'one', new_text: 'two' }),
  ];
  const submit = (plan: string) => call('plan_approval', { plan, files: ['made'] });

  it('blocks every mutating tool in every shut state, before its handler, and lets reading and planning pass', async () => {
    const log: string[] = [];
    const model = new ScriptedModel({
      alice: [
        [...mutating(), call('read_file', { path: 'notes.txt' })],
        [submit('First.')],
        [...mutating(), call('read_file', { path: 'notes.txt' }), call('read_inbox')],
        [text('Waiting.')],
        // Woken by the rejection.
        [
          ...mutating(),
          call('read_file', { path: 'notes.txt' }),
          call('send_message', { to: 'lead', content: 'Again.' }),
        ],
        [submit('Second.')],
        [text('Waiting.')],
        // Woken by the approval.
        mutating(),
        [text('Done.')],
      ],
    }).always('lead', [text('Seen.')]);
    // Edits of an approved plan need no further permission; commands do in `ask`, so the mode is `allow`.
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace: recording(log) });
    await fs.writeFile(path.join(team.root, 'notes.txt'), 'one\n');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.', requirePlan: true }, 'human');
    const first = await team.pending('plan_approval');
    await team.core.whenIdle();
    assert.equal(team.core.gateOf('alice'), 'pending');
    assert.equal(team.core.member('alice')?.status, 'waiting');
    assert.deepEqual(log, ['alice readFile', 'alice readFile']);

    await team.core.decide({
      requestId: first.requestId,
      approve: false,
      feedback: 'Smaller.',
      by: 'human',
      via: 'ui',
    });
    const second = await team.pending('plan_approval');
    await team.core.whenIdle();
    assert.notEqual(second.requestId, first.requestId);
    assert.deepEqual(log, Array(3).fill('alice readFile'));

    await team.core.decide({ requestId: second.requestId, approve: true, by: 'human', via: 'ui' });
    await team.core.whenIdle();
    const seen = model.of('alice').map(resultTexts);
    const blocked = (gate: keyof typeof BLOCKED) => Array<string>(3).fill(BLOCKED[gate]);
    assert.deepEqual(seen[1]?.slice(0, 3), blocked('required'));
    assert.match(seen[1]?.[3] ?? '', /one/);
    assert.deepEqual(seen[2], [`Plan submitted (request_id=${first.requestId}). Waiting for lead approval.`]);
    assert.deepEqual(seen[3]?.slice(0, 3), blocked('pending'));
    assert.match(seen[3]?.[3] ?? '', /one/);
    assert.deepEqual(seen[5]?.slice(0, 3), blocked('rejected'));
    assert.deepEqual(seen[5]?.slice(4), ['Sent message to lead']);
    assert.equal(
      seen.at(-1)?.some((result) => result.startsWith('Blocked')),
      false,
    );
    assert.equal(await fs.readFile(path.join(team.root, 'notes.txt'), 'utf8'), 'two\n');
    assert.equal(await fs.readFile(path.join(team.root, 'made'), 'utf8'), 'x');
    assert.equal(await fs.readFile(path.join(team.root, 'made-by-bash'), 'utf8'), '1\n');
  });

  it('does not carry an approval over to a new assignment', async () => {
    const log: string[] = [];
    const model = new ScriptedModel({
      alice: [
        [submit('First.')],
        [text('Waiting.')],
        [text('Done.')],
        mutating(),
        [submit('Next.')],
        [text('Waiting.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace: recording(log) });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.', requirePlan: true }, 'human');
    const plan = await team.pending('plan_approval');
    await team.core.whenIdle();
    await team.core.decide({ requestId: plan.requestId, approve: true, by: 'human', via: 'ui' });
    await team.core.whenIdle();
    assert.equal(team.core.gateOf('alice'), 'approved');
    const version = team.core.member('alice')?.workVersion;
    await team.core.sendMessage('alice', 'Now the next task.');
    assert.equal(team.core.gateOf('alice'), 'required');
    assert.equal(team.core.member('alice')?.workVersion, (version ?? 0) + 1);
    await team.core.whenIdle();
    assert.deepEqual(resultTexts(model.of('alice')[4]), Array(3).fill(BLOCKED.required));
    assert.deepEqual(log, []);
  });

  it('a message to a busy teammate is no new assignment: its approval stands', async () => {
    const model = new ScriptedModel({ alice: [[submit('First.')], [text('Waiting.')], [text('Read.')]] });
    const team = await openTeam(model.always('lead', [text('Seen.')]));
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.', requirePlan: true }, 'human');
    const plan = await team.pending('plan_approval');
    await team.core.whenIdle();
    await team.core.sendMessage('alice', 'A detail about the same task.');
    await team.core.whenIdle();
    assert.equal(team.core.request(plan.requestId)?.status, 'pending');
    await team.core.decide({ requestId: plan.requestId, approve: true, by: 'human', via: 'ui' });
    assert.equal(team.core.gateOf('alice'), 'approved');
  });

  it('request_plan shuts the gate of one who needed none, and withdraws an older pending plan', async () => {
    const model = new ScriptedModel({
      alice: [[submit('Mine.')], [text('Waiting.')], mutating(), [submit('As asked.')], [text('Waiting.')]],
    });
    const team = await openTeam(model.always('lead', [text('Seen.')]), { permissionMode: 'allow' });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.' }, 'human');
    const own = await team.pending('plan_approval');
    await team.core.whenIdle();
    await team.core.requestPlan('alice', 'the storage');
    assert.equal(team.core.request(own.requestId)?.status, 'cancelled');
    await team.core.whenIdle();
    assert.deepEqual(resultTexts(model.of('alice')[3]), Array(3).fill(BLOCKED.required));
    assert.equal(team.core.gateOf('alice'), 'pending');
  });

  it('case 51: a plan submitted after another supersedes it, and the gate waits for the newer', async () => {
    const model = new ScriptedModel({ alice: [[submit('P1')], [submit('P2')], [text('Waiting.')]] });
    const team = await openTeam(model.always('lead', [text('Seen.')]));
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.', requirePlan: true }, 'human');
    await team.core.whenIdle();
    const [p1, p2] = team.core.requests();
    assert.equal(p1?.status, 'cancelled');
    assert.equal(p1?.cancelReason, `superseded by plan ${p2?.requestId}`);
    assert.equal(p2?.status, 'pending');
    await assert.rejects(
      team.core.decide({ requestId: p1?.requestId ?? '', approve: true, by: 'human', via: 'ui' }),
      /was withdrawn: superseded by plan/,
    );
    assert.equal(team.core.gateOf('alice'), 'pending');
  });

  it('does not bind the lead', async () => {
    const model = new ScriptedModel({
      lead: [[call('write_file', { path: 'a', content: 'x' })], [text('Done.')]],
    });
    const team = await openTeam(model, { permissionMode: 'allow' });
    await team.core.sendToLead('Write a.');
    assert.equal(await fs.readFile(path.join(team.root, 'a'), 'utf8'), 'x');
  });
});
