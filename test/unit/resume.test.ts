import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { CommandOutcome } from '../../src/workspace/port';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { deferred, endless, requestIdIn, resultTexts, shown, withOperations } from './support/turns';

const leadSeen = () => new ScriptedModel({}).always('lead', [text('Seen.')]);

function statuses(team: TestTeam): string[] {
  return team.core.members().map((member) => `${member.name} ${member.status}`);
}

describe('resume: after a reload', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  it('roster, requests and decisions are as they were', async () => {
    const model = leadSeen();
    model.add(
      'alice',
      [call('plan_approval', { plan: 'P', files: ['a'] })],
      [text('Waiting.')],
      [text('Done.')],
    );
    model.add('bob', [text('Ready.')], (request) => [
      call('shutdown_response', { request_id: requestIdIn(request), approve: true, reason: 'Bye.' }),
    ]);
    const team = await openTeam(model);
    await team.core.spawn(
      { name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true, model: 'm1' },
      'human',
    );
    const plan = await team.pending('plan_approval');
    await team.core.decide({
      requestId: plan.requestId,
      approve: true,
      feedback: 'Good.',
      by: 'human',
      via: 'command',
    });
    await team.core.spawn({ name: 'bob', role: 'tester', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    await team.core.requestShutdown('bob', 'Enough.');
    await team.core.whenIdle();
    const before = {
      members: team.core.members(),
      requests: team.core.requests(),
      config: await team.config(),
    };
    const again = await team.reopen();
    const written = (value: unknown) => JSON.parse(JSON.stringify(value));
    assert.deepEqual(written(again.core.members()), written(before.members));
    assert.deepEqual(again.core.requests(), before.requests);
    assert.deepEqual(statuses(again), ['alice idle', 'bob shutdown']);
    const [first, second] = again.core.requests();
    assert.deepEqual([first?.decidedBy, first?.via, first?.feedback], ['human', 'command', 'Good.']);
    assert.deepEqual([second?.decidedBy, second?.via, second?.feedback], ['bob', 'tool', 'Bye.']);
    assert.equal(again.core.gateOf('alice'), 'approved');
    await again.core.whenIdle();
    assert.deepEqual(await again.config(), before.config);
    await assert.rejects(
      again.core.decide({ requestId: first?.requestId ?? '', approve: false, by: 'human', via: 'ui' }),
      /was already approved by human\. Feedback: Good\./,
    );
  });

  it('a pending plan is still decidable, and the decision reaches and wakes the teammate', async () => {
    const model = leadSeen();
    model.add('alice', [call('plan_approval', { plan: 'P' })], [text('Waiting.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const plan = await team.pending('plan_approval');
    await team.core.whenIdle();
    const again = await team.reopen();
    assert.deepEqual(statuses(again), ['alice waiting']);
    assert.equal(again.core.gateOf('alice'), 'pending');
    await again.core.whenIdle();
    const calls = model.of('alice').length;
    model.add('alice', [text('Going on.')]);
    await again.core.decide({
      requestId: plan.requestId,
      approve: false,
      feedback: 'Smaller.',
      by: 'human',
      via: 'ui',
    });
    await again.core.whenIdle();
    assert.equal(model.of('alice').length, calls + 1);
    assert.match(
      shown(model.of('alice').at(-1)),
      /type="plan_approval_response" request_id="[0-9a-f]{8}" approve="false">\nSmaller\./,
    );
    assert.equal(again.core.gateOf('alice'), 'rejected');
  });

  it('the conversation goes on where it was', async () => {
    const model = leadSeen();
    model.add('lead', [call('list_teammates')], [text('Nobody is here.')], [text('As I said.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('Who is here?');
    const again = await team.reopen();
    await again.core.sendToLead('And now?');
    const [, second, third] = model.of('lead');
    assert.deepEqual(third?.messages.slice(0, -1), [
      ...(second?.messages ?? []),
      { role: 'assistant', content: [{ type: 'text', text: 'Nobody is here.' }] },
    ]);
    assert.equal(shown(third), 'And now?');
  });

  it('unread mail is kept, waits for the word to go on, and is shown once', async () => {
    const stream = endless();
    const model = leadSeen();
    model.add('alice', stream.step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await stream.begun;
    await team.core.sendMessage('alice', 'One.');
    await team.core.sendMessage('alice', 'Two.');
    const again = await team.reopen();
    assert.deepEqual(
      again.core.unread('alice').map((message) => message.content),
      ['One.', 'Two.'],
    );
    assert.deepEqual(
      await again.inboxWith('alice', 2).then((lines) => lines.map((line) => JSON.parse(line).content)),
      ['One.', 'Two.'],
    );
    assert.deepEqual(again.core.resumable(), ['alice']);
    await again.core.whenIdle();
    assert.equal(model.of('alice').length, 1, 'nothing runs unasked');
    model.add('alice', [text('Both read.')]);
    again.core.resume();
    await again.core.whenIdle();
    const last = shown(model.of('alice')[1]);
    assert.match(last, /One\.[\s\S]*Two\./);
    assert.equal(last.split('One.').length, 2);
    assert.deepEqual(again.core.unread('alice'), []);
    assert.deepEqual(again.core.resumable(), []);
  });

  it('nobody is listed as working who is not', async () => {
    const streams = [endless(), endless()];
    const [one, two] = streams.map((stream) => stream.step);
    assert.ok(one && two);
    const model = leadSeen();
    model.add('alice', one);
    model.add('lead', two);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const turn = assert.rejects(team.core.sendToLead('Talk.'), /was stopped/);
    await Promise.all(streams.map((stream) => stream.begun));
    assert.deepEqual(statuses(team), ['alice working']);
    const again = await team.reopen();
    await turn;
    assert.deepEqual(statuses(again), ['alice idle']);
    assert.equal(again.core.leadStatus().status, 'idle');
    await again.core.whenIdle();
    assert.deepEqual(
      (await again.config()).members.map((member) => member.status),
      ['idle'],
    );
  });

  it('a namesake started later inherits neither requests nor mail', async () => {
    const stream = endless();
    const model = leadSeen();
    model.add('alice', [call('plan_approval', { plan: 'P' })], stream.step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const plan = await team.pending('plan_approval');
    await stream.begun;
    await team.core.sendMessage('alice', 'For the first alice.');
    const shutdown = await team.core.requestShutdown('alice');
    await team.core.forceStop('alice');
    assert.equal(team.core.member('alice')?.status, 'shutdown');
    for (const request of team.core.requests()) assert.equal(request.status, 'cancelled');
    model.add('alice', [text('I am new.')]);
    const second = await team.core.spawn({ name: 'Alice', role: 'coder', prompt: 'Begin.' }, 'human');
    await team.core.whenIdle();
    assert.equal(second.incarnation, 2);
    assert.equal(team.core.gateOf('alice'), 'not_required');
    const first = model.of('alice').at(-1);
    assert.equal(first?.messages.length, 1);
    assert.doesNotMatch(JSON.stringify(first?.messages), /For the first alice|shutdown_request/);
    for (const { requestId } of [plan, shutdown]) {
      await assert.rejects(
        team.core.decide({ requestId, approve: true, by: 'human', via: 'ui' }),
        /was withdrawn: alice has shut down/,
      );
    }
    assert.equal(team.core.member('alice')?.status, 'idle');
    const again = await team.reopen();
    assert.equal(again.core.member('alice')?.incarnation, 2);
    assert.deepEqual(again.core.unread('alice'), []);
  });

  it('a name taken off the roster counts on', async () => {
    const model = leadSeen().always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await assert.rejects(team.core.cleanUpTeam(), /Still in the team: alice/);
    await team.core.forceStop('alice');
    await team.core.cleanUpTeam();
    assert.deepEqual(team.core.members(), []);
    const again = await team.reopen();
    const member = await again.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    assert.equal(member.incarnation, 2);
  });

  it('request ids and the conversation number are not used again', async () => {
    const model = leadSeen().always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('One.');
    await team.core.newConversation();
    await team.core.sendToLead('Two.');
    const again = await team.reopen();
    await again.core.sendToLead('Three.');
    assert.match(JSON.stringify(model.of('lead').at(-1)?.messages), /Two\.[\s\S]*Three\./);
    assert.doesNotMatch(JSON.stringify(model.of('lead').at(-1)?.messages), /One\./);
    assert.deepEqual((await fs.readdir(path.join(again.storageDir, 'transcripts'))).sort(), [
      'lead-1.jsonl',
      'lead-2.jsonl',
    ]);
  });
});

describe('resume: after a crash', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  /** A command that runs until the test ends. */
  function hanging() {
    const begun = deferred();
    const workspace = withOperations(() => ({
      runCommand: (_, { signal }) =>
        new Promise<CommandOutcome>((resolve) => {
          begun.resolve();
          signal.addEventListener('abort', () =>
            resolve({ output: '', exitCode: null, signal: 'SIGTERM', timedOut: false, aborted: true }),
          );
        }),
    }));
    return { begun: begun.promise, workspace };
  }

  it('a permission that was asked stays asked; approved, its call runs, once', async () => {
    const model = leadSeen();
    model.add('alice', [call('read_inbox'), call('bash', { command: 'echo x >> a' }), call('read_inbox')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const permission = await team.pending('tool_permission');
    await team.core.whenIdle();
    const later = leadSeen();
    later.add('alice', [text('Done.')]);
    const again = await team.reopenAfterCrash(later);
    assert.equal(again.core.request(permission.requestId)?.status, 'pending');
    assert.deepEqual(statuses(again), ['alice waiting']);
    assert.deepEqual(again.core.resumable(), [], 'it goes on with the answer');
    await again.core.decide({ requestId: permission.requestId, approve: true, by: 'human', via: 'ui' });
    await again.core.whenIdle();
    assert.deepEqual(resultTexts(later.of('alice')[0]), [
      'Inbox is empty.',
      '(no output)',
      'Inbox is empty.',
    ]);
    assert.equal(await fs.readFile(path.join(again.root, 'a'), 'utf8'), 'x\n');
    assert.deepEqual(
      again.core.requests().map(({ kind, status }) => `${kind} ${status}`),
      ['tool_permission approved'],
    );
    later.add('alice', [text('Here.')]);
    const third = await again.reopen();
    await third.core.sendMessage('alice', 'Still there?');
    await third.core.whenIdle();
    assert.equal(await fs.readFile(path.join(third.root, 'a'), 'utf8'), 'x\n');
  });

  it('a permission that was asked, and refused after the restart, is the result of its call', async () => {
    const model = leadSeen();
    model.add('alice', [call('bash', { command: 'touch a' })]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const { requestId } = await team.pending('tool_permission');
    const later = leadSeen();
    later.add('alice', [text('As you wish.')]);
    const again = await team.reopen(later);
    await again.core.decide({ requestId, approve: false, feedback: 'No.', by: 'human', via: 'ui' });
    await again.core.whenIdle();
    assert.deepEqual(resultTexts(later.of('alice')[0]), [
      'Refused: human did not permit this call. Feedback: No.',
    ]);
  });

  it('a message of the human ends the wait for a permission from before the restart', async () => {
    const model = leadSeen();
    model.add('alice', [call('bash', { command: 'touch a' }), call('bash', { command: 'touch b' })]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const { requestId } = await team.pending('tool_permission');
    const later = leadSeen();
    later.add('alice', [text('I read it.')]);
    const again = await team.reopen(later);
    await again.core.sendMessage('alice', 'Something else first.');
    await again.core.whenIdle();
    const ended = again.core.request(requestId);
    assert.deepEqual([ended?.status, ended?.cancelReason], ['cancelled', 'call_ended']);
    const answers = resultTexts(later.of('alice')[0]);
    assert.deepEqual(answers, Array(2).fill('Not run: a message came that has to be read first.'));
    assert.match(shown(later.of('alice')[0]), /Something else first\./);
  });

  it("the lead's cut calls are answered too, and their order kept", async () => {
    const { begun, workspace } = hanging();
    const model = leadSeen();
    model.add(
      'lead',
      ['1', '2', '3'].map((command) => call('bash', { command })),
    );
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    const turn = assert.rejects(team.core.sendToLead('Run.'), /was stopped/);
    await begun;
    const later = leadSeen();
    const again = await team.reopenAfterCrash(later);
    await again.core.sendToLead('continue');
    const [first, ...others] = resultTexts(later.of('lead')[0]);
    assert.match(first ?? '', /^Cut off: the window closed while this call was under way\. It may have run/);
    assert.deepEqual(others, Array(2).fill('Not run: a message came that has to be read first.'));
    // Once only: the next window finds a valid conversation.
    const third = await again.reopen();
    await third.core.sendToLead('and on');
    assert.equal(JSON.stringify(later.of('lead').at(-1)?.messages).split('Cut off').length, 2);
    await team.core.dispose();
    await turn;
  });

  it('mail and decisions that were acknowledged are there', async () => {
    const stream = endless();
    const model = leadSeen();
    model.add('alice', [call('plan_approval', { plan: 'P' })], stream.step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
    const plan = await team.pending('plan_approval');
    await stream.begun;
    await team.core.decide({ requestId: plan.requestId, approve: true, by: 'human', via: 'ui' });
    await team.core.sendMessage('alice', 'One.');
    const later = leadSeen();
    later.add('alice', [text('Read.')]);
    const again = await team.reopenAfterCrash(later);
    assert.equal(again.core.request(plan.requestId)?.status, 'approved');
    assert.equal(again.core.gateOf('alice'), 'approved');
    assert.deepEqual(
      again.core.unread('alice').map((message) => message.type),
      ['plan_approval_response', 'message'],
    );
    again.core.resume();
    await again.core.whenIdle();
    assert.match(shown(later.of('alice')[0]), /approve="true"[\s\S]*One\./);
  });

  it('a damaged line of the journal is named, and the rest is read', async () => {
    const model = leadSeen().always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    await team.core.dispose();
    const dir = path.join(team.storageDir, 'journal');
    const [segment] = await fs.readdir(dir);
    const journal = path.join(dir, segment ?? '');
    await fs.appendFile(journal, '{"t":"decided","deci');
    const again = await team.reopen();
    assert.equal(again.core.member('alice')?.incarnation, 1);
    await again.core.whenIdle();
    assert.match(again.notices().join(), /journal.*is damaged and was left out/);
    await again.core.sendMessage('alice', 'Still there?');
    await again.core.whenIdle();
    const third = await again.reopen();
    assert.equal(third.core.member('alice')?.workVersion, 2);
  });
});
