import * as assert from 'node:assert/strict';
import { type Answer, Refusal } from '../../src/protocol';
import { isGone, workOf } from '../../src/team/member';
import type { Team } from '../../src/team/team';
import { doingText } from '../../src/ui/doingText';
import { heldTeam, replayed } from './support/heldJournal';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { deferred, endless } from './support/turns';

const DISK_FULL = Object.assign(new Error('Could not write the journal: the disk is full.'), {
  code: 'ENOSPC',
});

async function plan(team: Team, name = 'alice', words = 'P') {
  const member = team.resolveAlive(name);
  return team.decisions.open({
    kind: 'plan_approval',
    from: name,
    to: 'lead',
    payload: { plan: words },
    work: workOf(member),
  });
}

function human(requestId: string, approve = true): Answer {
  return { requestId, approve, by: 'human', via: 'ui' };
}

function lead(requestId: string, approve = true): Answer {
  return { requestId, approve, by: 'lead', via: 'tool', response: 'plan_approval_response' };
}

const isRefusal = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

describe('decisions: one point of decision', function () {
  this.timeout(20_000);

  async function withPlan(change: Parameters<typeof heldTeam>[0] = {}) {
    const made = heldTeam(change);
    await made.team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'lead');
    const request = await plan(made.team);
    return { ...made, request };
  }

  it('human and lead in one tick: the first decides, the second is told by whom', async () => {
    const { team, request } = await withPlan();
    const first = team.decisions.decide(human(request.requestId, false));
    const second = team.decisions.decide(lead(request.requestId));
    assert.equal((await first).status, 'rejected');
    await assert.rejects(second, (error: unknown) => {
      assert.ok(isRefusal('already_decided')(error) && error instanceof Error);
      assert.equal(error.message, `Request ${request.requestId} was already rejected by human.`);
      return true;
    });
    assert.equal(team.decisions.registry.get(request.requestId)?.decidedBy, 'human');
  });

  it('is on disk before anybody sees it', async () => {
    const { team, ledger, journal, request, woken } = await withPlan();
    const events: string[] = [];
    ledger.events.on((event) =>
      events.push(event.type === 'request' ? `request ${event.change}` : event.type),
    );
    woken.length = 0;
    journal.held = true;
    const deciding = team.decisions.decide(human(request.requestId));
    await journal.arrived(1);
    assert.equal(team.decisions.registry.get(request.requestId)?.status, 'pending');
    assert.equal(team.decisions.gateOf('alice'), 'pending');
    assert.deepEqual([events, woken, team.unread('alice').length], [[], [], 1]);
    journal.letThrough();
    assert.equal((await deciding).status, 'approved');
    assert.deepEqual(events, ['request approved', 'message', 'member', 'settled']);
    assert.deepEqual(woken, ['alice request', 'alice mail']);
    assert.equal(team.decisions.gateOf('alice'), 'approved');
  });

  it('case 50: a write that fails decides nothing; the one that waited decides then', async () => {
    const { team, journal, request } = await withPlan();
    journal.held = true;
    const first = team.decisions.decide(human(request.requestId, false));
    const second = team.decisions.decide(lead(request.requestId));
    await journal.arrived(1);
    assert.equal(journal.waiting.length, 1, 'the second waits for the first');
    journal.fail(DISK_FULL);
    await assert.rejects(first, DISK_FULL);
    assert.equal(team.decisions.registry.get(request.requestId)?.status, 'pending');
    await journal.arrived(1);
    journal.letThrough();
    const decided = await second;
    assert.deepEqual([decided.status, decided.decidedBy], ['approved', 'lead']);
    assert.equal(journal.kinds().filter((kind) => kind === 'decided').length, 1);
    const { decisions, errors } = replayed(journal.written);
    assert.deepEqual(errors, []);
    assert.equal(decisions.registry.get(request.requestId)?.decidedBy, 'lead');
  });

  it('case 50: a write that fails leaves the request to be decided again', async () => {
    const { team, journal, request, ledger } = await withPlan();
    const events: string[] = [];
    ledger.events.on((event) => events.push(event.type));
    journal.held = true;
    const deciding = team.decisions.decide(human(request.requestId));
    await journal.arrived(1);
    journal.fail(DISK_FULL);
    await assert.rejects(deciding, DISK_FULL);
    assert.deepEqual(events, []);
    assert.deepEqual(team.decisions.registry.pending().length, 1);
    journal.release();
    assert.equal((await team.decisions.decide(human(request.requestId))).status, 'approved');
  });

  it('case 51: a plan submitted while an older one is being approved shuts the gate until it is decided', async () => {
    const { team, journal, request: p1 } = await withPlan();
    journal.held = true;
    const approving = team.decisions.decide(human(p1.requestId));
    const submitting = plan(team, 'alice', 'P2');
    await journal.arrived(1);
    assert.equal(journal.waiting.length, 1);
    journal.release();
    assert.equal((await approving).status, 'approved');
    const p2 = await submitting;
    assert.equal(p2.status, 'pending');
    assert.equal(team.decisions.gateOf('alice'), 'pending');
    await team.decisions.decide(lead(p2.requestId));
    assert.equal(team.decisions.gateOf('alice'), 'approved');
  });

  it('case 51: approved after a newer plan is on its way, the older is withdrawn instead', async () => {
    const { team, journal, request: p1 } = await withPlan();
    journal.held = true;
    const submitting = plan(team, 'alice', 'P2');
    const approving = team.decisions.decide(human(p1.requestId));
    await journal.arrived(1);
    journal.release();
    const p2 = await submitting;
    await assert.rejects(approving, isRefusal('already_decided'));
    assert.equal(
      team.decisions.registry.get(p1.requestId)?.cancelReason,
      `superseded by plan ${p2.requestId}`,
    );
    assert.equal(team.decisions.gateOf('alice'), 'pending');
  });

  it('case 52: work that moves on withdraws the pending plan; a click that was under way decides or is told', async () => {
    for (const clickFirst of [true, false]) {
      const { team, journal, request } = await withPlan();
      journal.held = true;
      const click = () => team.decisions.decide(human(request.requestId));
      const move = () => team.requestPlan('human', 'alice');
      const [clicked, moved] = clickFirst ? [click(), move()] : [undefined, move()];
      const late = clicked ?? click();
      await journal.arrived(1);
      journal.release();
      await moved;
      if (clickFirst) assert.equal((await late).status, 'approved');
      else await assert.rejects(late, isRefusal('already_decided'));
      assert.equal(team.decisions.gateOf('alice'), 'required');
    }
  });

  it('a refusal is recorded with who tried, and changes no request', async () => {
    const { team, ledger, request } = await withPlan({
      approvals: { plan: 'human', permission: 'human', team: 'human' },
    });
    const before = structuredClone(team.decisions.registry.all());
    const refusal = new Promise((resolve) =>
      ledger.events.on((event) => {
        if (event.type === 'refusal') resolve([event.code, event.by, event.requestId]);
      }),
    );
    await assert.rejects(team.decisions.decide(lead(request.requestId)), isRefusal('not_allowed'));
    assert.deepEqual(await refusal, ['not_allowed', 'lead', request.requestId]);
    assert.deepEqual(team.decisions.registry.all(), before);
  });

  it('case 4: kept for the human, a plan is approved by nobody else', async () => {
    const { team, request } = await withPlan({
      approvals: { plan: 'human', permission: 'human', team: 'human' },
    });
    await assert.rejects(team.decisions.decide(lead(request.requestId)), /only the human decide this/);
    assert.equal(team.decisions.gateOf('alice'), 'pending');
    await team.decisions.decide(human(request.requestId, false));
    assert.equal(team.decisions.gateOf('alice'), 'rejected');
  });
});

describe('decisions: members that come and go', function () {
  this.timeout(20_000);

  it('nothing of a fenced incarnation can be decided or opened', async () => {
    const { team } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    const request = await plan(team);
    team.fence('alice', 1);
    await assert.rejects(team.decisions.decide(human(request.requestId)), isRefusal('stale_work'));
    await assert.rejects(plan(team), isRefusal('stale_work'));
  });

  it('a decision in flight stands when the member is force stopped', async () => {
    const { team, journal } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    const request = await plan(team);
    journal.held = true;
    const deciding = team.decisions.decide(human(request.requestId));
    await journal.arrived(1);
    team.fence('alice', 1);
    const ending = team.end('alice', 1, 'shutdown', 'force stopped by the human');
    journal.release();
    assert.equal((await deciding).status, 'approved');
    await ending;
    const alice = team.state.member('alice');
    assert.ok(alice && isGone(alice));
  });

  it('a decision that comes while the member is leaving is told so, and the journal replays without a word', async () => {
    const { team, journal } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    const request = await plan(team);
    journal.held = true;
    const ending = team.end('alice', 1, 'shutdown', undefined);
    await journal.arrived(1);
    const deciding = team.decisions.decide(human(request.requestId));
    journal.release();
    await ending;
    await assert.rejects(deciding, (error: unknown) => {
      assert.ok(isRefusal('already_decided')(error) && error instanceof Error);
      assert.match(error.message, /was withdrawn: alice has shut down/);
      return true;
    });
    assert.deepEqual(replayed(journal.written).errors, []);
  });

  it('a shutdown request that comes while the member is leaving does not stay pending for ever', async () => {
    const { team, journal } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    journal.held = true;
    const ending = team.end('alice', 1, 'shutdown', undefined);
    await journal.arrived(1);
    const asking = team.requestShutdown('human', 'alice');
    journal.release();
    await ending;
    await assert.rejects(asking, /alice is no longer there|has shut down/);
    assert.deepEqual(team.decisions.registry.pending(), []);
  });

  it('a second shutdown request while one is pending gives the same one, also in one tick', async () => {
    const { team } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    const [one, two] = await Promise.all([
      team.requestShutdown('lead', 'alice'),
      team.requestShutdown('human', 'Alice'),
    ]);
    assert.equal(one.requestId, two.requestId);
    assert.equal(team.decisions.registry.all().length, 1);
    await team.decisions.decide({
      requestId: one.requestId,
      approve: false,
      by: 'alice',
      incarnation: 1,
      via: 'tool',
    });
    const three = await team.requestShutdown('lead', 'alice');
    assert.notEqual(three.requestId, one.requestId);
  });

  it('two spawns of one name in one tick make one member', async () => {
    const { team } = heldTeam();
    const order = { name: 'alice', role: 'coder', prompt: 'Go.' };
    const outcomes = await Promise.allSettled([team.spawn(order, 'lead'), team.spawn(order, 'lead')]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['fulfilled', 'rejected'],
    );
    assert.equal(team.state.members().length, 1);
  });

  it('a spawn that could not be written leaves no member, and the name free', async () => {
    const { team, journal, woken } = heldTeam();
    journal.held = true;
    const spawning = team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    await journal.arrived(1);
    journal.fail(DISK_FULL);
    await assert.rejects(spawning, DISK_FULL);
    assert.deepEqual([team.state.members(), woken], [[], []]);
    journal.release();
    assert.equal((await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead')).incarnation, 1);
    assert.deepEqual(
      journal.kinds().slice(0, 2),
      ['team', 'member'],
      'the founding record is written with it',
    );
  });

  it('an approval of the second plan of two members does not touch the other', async () => {
    const { team } = heldTeam();
    for (const name of ['alice', 'bob']) {
      await team.spawn({ name, role: 'coder', prompt: 'Go.', requirePlan: true }, 'lead');
      await plan(team, name);
    }
    const [, bobs] = team.decisions.registry.all();
    await team.decisions.decide(lead(bobs?.requestId ?? ''));
    assert.deepEqual([team.decisions.gateOf('alice'), team.decisions.gateOf('bob')], ['pending', 'approved']);
  });
});

describe('decisions: deadlines', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('a request past its deadline is overdue, told once, and still pending', async () => {
    const model = new ScriptedModel({ alice: [[call('plan_approval', { plan: 'P' })], [text('Waiting.')]] });
    const team = await openTeam(model.always('lead', [text('Seen.')]), { requestDeadlineMs: 50 });
    const overdue = team.next((event) => event.type === 'request' && event.change === 'overdue');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await overdue;
    const [request] = team.core.requests();
    assert.ok(request && request.status === 'pending' && team.core.isOverdue(request));
    await team.core.whenIdle();
    const again = await team.reopen();
    await again.core.whenIdle();
    const told = [...team.events, ...again.events].filter(
      (event) => event.type === 'request' && event.change === 'overdue',
    );
    assert.equal(told.length, 1);
    await again.core.decide(human(request.requestId));
    assert.equal(again.core.isOverdue(again.core.requests()[0] ?? request), false);
  });
});

describe('decisions: whenIdle', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('resolves at once on a team where nothing runs', async () => {
    const team = await openTeam(new ScriptedModel({}));
    await team.core.whenIdle(5000);
  });

  it('does not wait for a decision: a pending permission is idle', async () => {
    const model = new ScriptedModel({ alice: [[call('bash', { command: 'true' })], [text('Done.')]] });
    const team = await openTeam(model.always('lead', [text('Seen.')]));
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const asked = await team.pending('tool_permission');
    await team.core.whenIdle();
    assert.equal(doingText(team.core.activity('alice')), 'waiting for permission: bash true');
    assert.equal(team.core.request(asked.requestId)?.status, 'pending');
    await team.core.decide(human(asked.requestId));
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 2, 'what follows the decision counts as running');
  });

  it('waits for all that follows from one message', async () => {
    const model = new ScriptedModel({
      lead: [
        [call('spawn_teammate', { name: 'alice', role: 'coder', prompt: 'Go.' })],
        [text('Spawned.')],
        [text('Read.')],
      ],
      alice: [[call('send_message', { to: 'lead', content: 'Hi.' })], [text('Done.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('Spawn alice.');
    await team.core.whenIdle();
    assert.deepEqual(team.core.unread('lead'), []);
    assert.equal(team.core.member('alice')?.status, 'idle');
    assert.equal((await team.config()).members[0]?.status, 'idle');
  });

  it('rejects at the time-out and names what runs', async () => {
    const stream = endless();
    const release = deferred();
    const model = new ScriptedModel({
      alice: [stream.step],
      bob: [
        async () => {
          await release.promise;
          return [text('Done.')];
        },
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    for (const name of ['alice', 'bob'])
      await team.core.spawn({ name, role: 'coder', prompt: 'Go.' }, 'human');
    await stream.begun;
    await assert.rejects(
      team.core.whenIdle(20),
      /^Error: The team was not idle after 20 ms: alice \(thinking\), bob \(thinking\)\.$/,
    );
    release.resolve();
    await team.core.interrupt('alice');
    await team.core.whenIdle();
  });

  it('serves several who wait', async () => {
    const model = new ScriptedModel({ lead: [[text('Hello.')]] });
    const team = await openTeam(model);
    const waiting = [team.core.sendToLead('Hi.'), ...[1, 2, 3].map(() => team.core.whenIdle())];
    await Promise.all(waiting);
  });
});
