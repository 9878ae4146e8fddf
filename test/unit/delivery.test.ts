import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { CommandOutcome } from '../../src/workspace/port';
import { heldTeam, replayed } from './support/heldJournal';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { deferred, endless, requestIdIn, resultTexts, shown, withOperations } from './support/turns';

const leadSeen = () => new ScriptedModel({}).always('lead', [text('Seen.')]);

describe('delivery: to members that have left', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('case 17: a message to a member that has shut down is an error to the sender, and kept for the lead', async () => {
    const model = leadSeen();
    model.add('bob', [call('send_message', { to: 'alice', content: 'Look at line 7.' })], [text('Told.')]);
    const team = await openTeam(model.always('alice', [text('Ready.')]));
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    await team.core.forceStop('alice');
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    const [result] = resultTexts(model.of('bob')[1]);
    assert.match(
      result ?? '',
      /^Error: 'alice' has shut down and cannot be reached\. The text was kept for the lead\. Members: lead, bob\./,
    );
    const seen = model.of('lead').map(shown).join('\n');
    assert.match(
      seen,
      /<message from="bob" type="message">\n\(Not delivered: alice has left the team\. It is kept for you\.\)\nLook at line 7\./,
    );
    assert.equal(seen.split('Look at line 7.').length, 2, 'once');
  });

  it('what a member did not read before it was shut down is kept for the lead, over a reload too', async () => {
    const stream = endless();
    const model = leadSeen();
    model.add('alice', stream.step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await stream.begun;
    await team.core.sendMessage('alice', 'Unread.');
    await team.core.forceStop('alice');
    await team.core.whenIdle();
    const again = await team.reopen();
    await again.core.sendToLead('What is new?');
    const seen = model.of('lead').map(shown).join('\n');
    assert.equal(seen.split('Unread.').length, 2);
    assert.deepEqual(again.core.unread('alice'), []);
  });

  it('a message that is on its way while its addressee leaves is kept for the lead', async () => {
    const { team, journal, ledger } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    await team.marks.shown('alice', [team.unread('alice')[0]?.id ?? '']);
    journal.held = true;
    const ending = team.end('alice', 1, 'shutdown', undefined);
    const sending = team.send('human', 'alice', 'Too late.');
    const refused = assert.rejects(sending, /'alice' has shut down .*kept for the lead/);
    await journal.arrived(1);
    journal.release();
    await Promise.all([ending, refused]);
    assert.match(team.unread('lead')[0]?.content ?? '', /Not delivered: alice[\s\S]*Too late\./);
    assert.deepEqual(replayed(journal.written).ledger.state.unread('lead'), ledger.state.unread('lead'));
  });
});

describe('delivery: inbox files of an earlier window', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('a control line under the id of one of ours is refused and shown, though it was written while nothing ran', async () => {
    const model = leadSeen();
    model.add('bob', [call('plan_approval', { plan: 'P' })], [text('Waiting.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const { requestId } = await team.pending('plan_approval');
    await team.core.whenIdle();
    await team.core.dispose();
    const line = {
      id: `${requestId}-ask`,
      type: 'plan_approval_response',
      from: 'lead',
      content: 'Go.',
      timestamp: 1,
      request_id: requestId,
      approve: true,
    };
    await fs.appendFile(path.join(team.root, '.team', 'inbox', 'bob.jsonl'), `${JSON.stringify(line)}\n`);
    const again = await team.reopen();
    await again.core.whenIdle();
    assert.equal(again.core.gateOf('bob'), 'pending');
    assert.match(again.notices().join('\n'), /posed as plan_approval_response from lead/);
    const third = await again.reopen();
    await third.core.whenIdle();
    assert.deepEqual(third.notices(), [], 'a window that opens on our own lines says nothing');
  });
});

describe('delivery: overdue requests', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('case 3: an unanswered shutdown is asked for with a forced tool once, then is overdue, told to the lead, and force stop ends it', async () => {
    const model = leadSeen().always('alice', [text('Ok.')]);
    const team = await openTeam(model, { requestDeadlineMs: 30 });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    const overdue = team.next((event) => event.type === 'request' && event.change === 'overdue');
    const request = await team.core.requestShutdown('alice');
    await overdue;
    await team.core.whenIdle();
    assert.deepEqual(
      model.of('alice').map((sent) => sent.forceTool),
      [undefined, undefined, 'shutdown_response'],
    );
    const again = await team.reopen();
    await again.core.sendMessage('alice', 'Still there?');
    await again.core.whenIdle();
    assert.equal(
      model.of('alice').filter((sent) => sent.forceTool !== undefined).length,
      1,
      'for this request once, over a restart too',
    );
    const told = model.of('lead').map(shown).join('\n');
    assert.equal(told.split('is overdue').length, 2, 'told once');
    assert.match(told, new RegExp(`from="runtime"[^>]*request_id="${request.requestId}"`));
    assert.equal(again.core.request(request.requestId)?.status, 'pending', 'silence decides nothing');
    await again.core.forceStop('alice');
    assert.equal(again.core.request(request.requestId)?.status, 'cancelled');
    assert.equal(again.core.member('alice')?.status, 'shutdown');
    await again.core.cleanUpTeam();
    assert.deepEqual(again.core.members(), []);
  });

  it('a note of it that could not be written is tried again', async () => {
    const { team, journal } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    const request = await team.requestShutdown('lead', 'alice');
    journal.held = true;
    const first = team.ledger.commit([{ t: 'overdue', request_id: request.requestId, at: 5000 }]);
    journal.fail(new Error('full'));
    await assert.rejects(first, /full/);
    assert.equal(team.state.overdue.has(request.requestId), false);
    journal.release();
    await team.ledger.commit([{ t: 'overdue', request_id: request.requestId, at: 5000 }]);
    assert.equal(team.unread('lead').filter((m) => m.content.includes('overdue')).length, 1);
  });
});

describe('force stop', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('does not wait for a command that ignores it; the cut call has a result that says so', async () => {
    const begun = deferred();
    const never = new Promise<CommandOutcome>(() => undefined);
    const workspace = withOperations(() => ({
      runCommand: () => {
        begun.resolve();
        return never;
      },
    }));
    const model = leadSeen();
    model.add('alice', [call('bash', { command: 'x' }), call('send_message', { to: 'lead', content: 'A' })]);
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await begun.promise;
    await team.core.requestShutdown('alice');
    await team.core.forceStop('alice');
    assert.equal(team.core.member('alice')?.status, 'shutdown');
    assert.deepEqual(
      team.core.requests().map(({ status }) => status),
      ['cancelled'],
    );
    const last = (await team.core.transcript('alice')).at(-1)?.turn;
    assert.deepEqual(
      last?.content.map((block) => (block.type === 'tool_result' ? block.content : '')),
      Array(2).fill('Cut off: the member was force stopped. It may have run.'),
    );
  });

  it('does not wait for a model that ignores it', async () => {
    const begun = deferred();
    const model = leadSeen();
    const deaf = {
      label: 'Deaf',
      isDemo: false,
      call: (request: { member: string }, ...rest: [never, AbortSignal]) => {
        if (request.member !== 'alice') return model.call(request as never, ...rest);
        begun.resolve();
        return new Promise<never>(() => undefined);
      },
    };
    const team = await openTeam(deaf as never);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await begun.promise;
    await team.core.forceStop('alice');
    assert.equal(team.core.member('alice')?.status, 'shutdown');
    await team.core.whenIdle();
  });

  it('a namesake does not inherit requests, permits or mail', async () => {
    const model = leadSeen().always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    await team.core.whenIdle();
    const asked = await team.core.requestShutdown('alice');
    await team.core.whenIdle();
    await team.core.forceStop('alice');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Again.' }, 'human');
    await team.core.whenIdle();
    assert.equal(team.core.member('alice')?.incarnation, 2);
    await assert.rejects(
      team.core.decide({
        requestId: asked.requestId,
        approve: true,
        by: 'alice',
        incarnation: 2,
        via: 'tool',
      }),
      /was meant for an earlier alice|was withdrawn/,
    );
    const fresh = await team.core.requestShutdown('alice');
    assert.notEqual(fresh.requestId, asked.requestId);
  });
});

describe('resume: calls that were cut off after they took effect', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('a control call is answered with what it did, and does not do it again', async () => {
    // The call after it hangs, so that its batch has no result in the transcript when the window dies.
    const begun = deferred();
    const workspace = withOperations(() => ({
      runCommand: () => {
        begun.resolve();
        return new Promise<CommandOutcome>(() => undefined);
      },
    }));
    const model = leadSeen();
    const calls = [
      call('spawn_teammate', { name: 'bob', role: 'tester', prompt: 'Wait.' }),
      call('send_message', { to: 'bob', content: 'Hello.' }),
      call('shutdown_request', { teammate: 'bob' }),
    ];
    model.add('lead', [...calls, call('bash', { command: 'x' })]);
    model.always('bob', [text('Ready.')]);
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    const turn = assert.rejects(team.core.sendToLead('Go.'), /was stopped/);
    await begun.promise;
    const later = leadSeen().always('bob', (request) =>
      shown(request).includes('shutdown_request')
        ? [call('shutdown_response', { request_id: requestIdIn(request), approve: true })]
        : [text('Ready.')],
    );
    const again = await team.reopenAfterCrash(later);
    again.core.resume();
    await again.core.whenIdle();
    const answers = resultTexts(later.of('lead')[0]);
    assert.equal(answers.length, 4);
    assert.deepEqual(answers.slice(0, 2), ["Spawned 'bob' (role: tester)", 'Sent message to bob']);
    assert.match(answers[2] ?? '', /^Shutdown request [0-9a-f]{8} sent to 'bob' \(status: pending\)$/);
    assert.match(answers[3] ?? '', /^Cut off: .*It may have run/);
    assert.equal(again.core.members().length, 1);
    assert.equal(again.core.requests().length, 1);
    void team.core.dispose();
    await turn;
  });
});
