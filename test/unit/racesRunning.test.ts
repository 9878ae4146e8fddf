import * as assert from 'node:assert/strict';
import * as path from 'node:path';
import { HeldFiles } from './support/heldFiles';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { endless, recording, resultTexts, shown } from './support/turns';

const yes = (requestId: string) => ({ requestId, approve: true, by: 'human', via: 'ui' }) as const;

function statuses(team: TestTeam): string[] {
  return team.core.requests().map(({ kind, status }) => `${kind} ${status}`);
}

describe('races: over running loops, with a disk that is slow', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  /** Alice waits for the permission of a command, or for her plan; nothing else runs. */
  async function aliceWaits(kind: 'tool_permission' | 'plan_approval') {
    const disk = new HeldFiles();
    const log: string[] = [];
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    if (kind === 'tool_permission') model.add('alice', [call('bash', { command: 'touch a' })]);
    else model.add('alice', [call('plan_approval', { plan: 'P' })], [text('Waiting.')]);
    const team = await openTeam(model, {}, undefined, {
      workspace: recording(log),
      fileSystem: disk.fileSystem,
    });
    await team.core.spawn(
      { name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: kind === 'plan_approval' },
      'human',
    );
    const { requestId } = await team.pending(kind);
    await team.core.whenIdle();
    const calls = model.of('alice').length;
    disk.held = true;
    return { disk, log, model, team, requestId, calls };
  }

  for (const kind of ['tool_permission', 'plan_approval'] as const) {
    it(`a force stop while the approval of a ${kind} is written: it stands, and has no effect`, async () => {
      const { disk, log, model, team, requestId, calls } = await aliceWaits(kind);
      const deciding = team.core.decide(yes(requestId));
      await disk.arrived();
      const stopping = team.core.forceStop('alice');
      disk.release();
      assert.equal((await deciding).status, 'approved');
      await stopping;
      await team.core.whenIdle();
      assert.equal(team.core.member('alice')?.status, 'shutdown');
      assert.deepEqual(statuses(team), [`${kind} approved`]);
      assert.deepEqual([log, model.of('alice').length], [[], calls], 'nothing of it ran');
      const again = await team.reopen();
      assert.equal(again.core.member('alice')?.status, 'shutdown');
      assert.equal(again.core.request(requestId)?.status, 'approved');
      assert.deepEqual(again.core.resumable(), []);
    });

    it(`a force stop while the approval of a ${kind} is written, which fails: it is withdrawn`, async () => {
      const { disk, log, team, requestId } = await aliceWaits(kind);
      const deciding = assert.rejects(team.core.decide(yes(requestId)), { code: 'ENOSPC' });
      await disk.arrived();
      const stopping = team.core.forceStop('alice');
      disk.fail('ENOSPC');
      disk.release();
      await deciding;
      await stopping;
      await team.core.whenIdle();
      assert.deepEqual([statuses(team), log], [[`${kind} cancelled`], []]);
      assert.equal(team.core.member('alice')?.status, 'shutdown');
    });
  }

  it('an approval that comes while a force stop is written is refused', async () => {
    const { disk, log, team, requestId } = await aliceWaits('tool_permission');
    const stopping = team.core.forceStop('alice');
    const refused = team.core.decide(yes(requestId)).then(
      () => 'decided',
      (error: { code?: string }) => error.code,
    );
    await disk.arrived();
    disk.release();
    await stopping;
    assert.match((await refused) ?? '', /^(stale_work|already_decided)$/);
    await team.core.whenIdle();
    assert.deepEqual([statuses(team), log], [['tool_permission cancelled'], []]);
  });

  it('an interrupt while the permission is written: the approval stands, and the call does not begin', async () => {
    const { disk, log, model, team, requestId } = await aliceWaits('tool_permission');
    const deciding = team.core.decide(yes(requestId));
    await disk.arrived();
    // Its member waits for a person; what is being written is not taken back.
    await team.core.interrupt('alice');
    disk.release();
    assert.equal((await deciding).status, 'approved');
    await team.core.whenIdle();
    assert.deepEqual([statuses(team), log], [['tool_permission approved'], []]);
    assert.equal(team.core.member('alice')?.status, 'idle');
    model.add('alice', [text('As you wish.')]);
    await team.core.sendMessage('alice', 'Leave it.');
    await team.core.whenIdle();
    assert.match(JSON.stringify(model.of('alice').at(-1)?.messages), /Not run: the human interrupted\./);
    assert.match(shown(model.of('alice').at(-1)), /Leave it\./);
  });

  it('an interrupt while the decision of its plan is written: the gate opens, and the answer is read next', async () => {
    const { disk, model, team, requestId } = await aliceWaits('plan_approval');
    const stream = endless();
    model.add('alice', stream.step, [text('Going on.')]);
    disk.release();
    await team.core.sendMessage('alice', 'A word.');
    await stream.begun;
    disk.held = true;
    const pending = team.core.request(requestId);
    const deciding = team.core.decide(yes(requestId));
    await disk.arrived();
    await team.core.interrupt('alice');
    disk.release();
    assert.equal(pending?.status, 'pending');
    assert.equal((await deciding).status, 'approved');
    await team.core.whenIdle();
    assert.equal(team.core.gateOf('alice'), 'approved');
    assert.match(shown(model.of('alice').at(-1)), /type="plan_approval_response"[^>]*approve="true"/);
  });

  it('a window that has lost the team decides nothing, and its successor does', async () => {
    let holds = true;
    const model = new ScriptedModel({
      alice: [[call('plan_approval', { plan: 'P' })], [text('Waiting.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, {}, undefined, {
      ownership: { epoch: 1, isHeld: () => holds },
    });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const { requestId } = await team.pending('plan_approval');
    await team.core.whenIdle();
    holds = false;
    await assert.rejects(team.core.decide(yes(requestId)), { name: 'FencedError' });
    assert.equal(team.core.request(requestId)?.status, 'pending');
    assert.equal(team.core.gateOf('alice'), 'pending');
    const later = new ScriptedModel({ alice: [[text('Smaller, then.')]] }).always('lead', [text('Seen.')]);
    const next = await team.reopenAfterCrash(later, { ownership: { epoch: 2, isHeld: () => true } });
    await assert.rejects(team.core.decide(yes(requestId)), { name: 'FencedError' });
    await next.core.decide({ ...yes(requestId), approve: false });
    await next.core.whenIdle();
    const third = await next.reopen();
    assert.deepEqual(statuses(third), ['plan_approval rejected']);
    assert.equal(third.core.gateOf('alice'), 'rejected');
  });

  it('a decision that is being written when the team changes hands: the old window does nothing by it, and one outcome stands', async () => {
    let holds = true;
    const disk = new HeldFiles();
    const log: string[] = [];
    const model = new ScriptedModel({ alice: [[call('bash', { command: 'touch a' })]] });
    const setup = { workspace: recording(log), fileSystem: disk.fileSystem };
    const team = await openTeam(model.always('lead', [text('Seen.')]), {}, undefined, {
      ...setup,
      ownership: { epoch: 1, isHeld: () => holds },
    });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const { requestId } = await team.pending('tool_permission');
    await team.core.whenIdle();
    disk.held = true;
    const deciding = assert.rejects(team.core.decide(yes(requestId)), { name: 'FencedError' });
    await disk.arrived();
    holds = false;
    const later = new ScriptedModel({}).always('alice', [text('Well.')]).always('lead', [text('Seen.')]);
    const next = await openTeam(later, {}, path.dirname(team.storageDir), {
      workspace: recording(log),
      ownership: { epoch: 2, isHeld: () => true },
    });
    disk.release();
    await deciding;
    assert.equal(team.core.request(requestId)?.status, 'pending');
    assert.deepEqual(log, [], 'the call does not begin in the window that has lost the team');
    // The successor read the line, or did not: either way it is the one that says how it stands.
    if (next.core.request(requestId)?.status === 'pending') await next.core.decide(yes(requestId));
    next.core.resume();
    await next.core.whenIdle();
    assert.deepEqual(statuses(next), ['tool_permission approved']);
    assert.deepEqual(log, ['alice runCommand'], 'once');
    const third = await next.reopen();
    assert.deepEqual(statuses(third), ['tool_permission approved']);
  });
});

describe('cases: one spawn, one teammate', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  const order = { name: 'alice', role: 'coder', prompt: 'Go.' };

  function loops(model: ScriptedModel): number {
    return model.of('alice').filter(({ messages }) => messages.length === 1).length;
  }

  it('case 19: two spawns of one name in one turn make one teammate; the second call says so', async () => {
    const model = new ScriptedModel({
      lead: [
        [
          call('spawn_teammate', order),
          call('spawn_teammate', { ...order, name: ' ALICE ', prompt: 'Me too.' }),
        ],
      ],
    })
      .always('lead', [text('Seen.')])
      .always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('Spawn alice.');
    await team.core.whenIdle();
    const [first, second] = resultTexts(model.of('lead')[1]);
    assert.equal(first, "Spawned 'alice' (role: coder)");
    assert.match(second ?? '', /^Error: 'alice' is already in the team/);
    assert.deepEqual(
      team.core.members().map(({ name, incarnation, prompt }) => [name, incarnation, prompt]),
      [['alice', 1, 'Go.']],
    );
    assert.equal(loops(model), 1);
  });

  it('case 19: a spawn whose stream broke off, and that comes again, makes one teammate', async () => {
    const spawn = call('spawn_teammate', order);
    const model = new ScriptedModel({
      lead: [
        () => {
          throw new Error('The stream ended before message_stop.');
        },
        [spawn],
        [text('Started.')],
        // The same call once more, id and all, as a proxy may replay it.
        [spawn],
      ],
    })
      .always('lead', [text('Seen.')])
      .always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await assert.rejects(team.core.sendToLead('Spawn alice.'), /message_stop/);
    assert.deepEqual(team.core.members(), []);
    await team.core.retry('lead');
    await team.core.whenIdle();
    await team.core.sendToLead('Again.');
    await team.core.whenIdle();
    const replies = model.of('lead').flatMap(resultTexts);
    assert.equal(replies[0], "Spawned 'alice' (role: coder)");
    assert.match(replies[1] ?? '', /^Error: 'alice' is already in the team/);
    assert.deepEqual([team.core.members().length, loops(model)], [1, 1]);
  });

  it('case 19: human and lead spawn one name in one tick; over a restart it is one still', async () => {
    const model = new ScriptedModel({}).always('alice', [text('Ready.')]).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    const outcomes = await Promise.allSettled([
      team.core.spawn(order, 'human'),
      team.core.spawn({ ...order, name: 'Alice' }, 'lead'),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    await team.core.whenIdle();
    const again = await team.reopen();
    await again.core.whenIdle();
    assert.deepEqual([again.core.members().length, loops(model)], [1, 1]);
  });
});
