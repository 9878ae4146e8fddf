import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { CommandOutcome } from '../../src/workspace/port';
import { call, ScriptedModel, type Step, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import {
  deferred,
  endless,
  recording,
  requestIdIn,
  resultTexts,
  shown,
  withOperations,
} from './support/turns';

const leadSeen = () => new ScriptedModel({}).always('lead', [text('Seen.')]);

function statuses(team: TestTeam): string[] {
  return team.core.members().map((member) => `${member.name} ${member.status}`);
}

/** How often a model was shown some words, over all that it was ever sent anew. */
function timesShown(models: readonly ScriptedModel[], member: string, words: string): number {
  const all = models.flatMap((model) => model.of(member)).map(shown);
  return all.join('\n').split(words).length - 1;
}

describe('cases: handshakes that must not hang', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  for (const approve of [true, false]) {
    it(`case 5: a plan that is ${approve ? 'approved' : 'rejected'} wakes the idle teammate, without any other mail`, async () => {
      const model = leadSeen();
      model.add('alice', [call('plan_approval', { plan: 'P1' })], [text('Waiting.')]);
      const team = await openTeam(model);
      await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'human');
      const { requestId } = await team.pending('plan_approval');
      await team.core.whenIdle();
      assert.deepEqual(statuses(team), ['alice waiting']);
      model.add('alice', [text('Understood.')]);
      await team.core.decide({ requestId, approve, by: 'human', via: 'ui' });
      await team.core.whenIdle();
      assert.equal(model.of('alice').length, 3, 'one model call follows');
      assert.match(
        shown(model.of('alice')[2]),
        new RegExp(
          `^<message from="human" type="plan_approval_response" request_id="${requestId}" approve="${approve}">`,
        ),
      );
      assert.equal(shown(model.of('alice')[2]).split('<message ').length, 2, 'and that is all its mail');
    });
  }

  it('case 7: a permission that nobody looks at is never denied: it is told at once, and waits, overdue and over a crash', async () => {
    const log: string[] = [];
    const model = leadSeen();
    model.add('alice', [call('bash', { command: 'npm test' })]);
    const team = await openTeam(model, { requestDeadlineMs: 20 }, undefined, { workspace: recording(log) });
    const opened = team.next((event) => event.type === 'request' && event.change === 'opened');
    const overdue = team.next((event) => event.type === 'request' && event.change === 'overdue');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const event = await opened;
    assert.ok(event.type === 'request' && event.request.kind === 'tool_permission');
    const { requestId } = event.request;
    await overdue;
    await team.core.whenIdle();
    assert.deepEqual([statuses(team), log], [['alice waiting'], []]);
    assert.equal(model.of('alice').length, 1, 'the work is not skipped');
    const later = leadSeen();
    later.add('alice', [text('It passes.')]);
    const again = await team.reopenAfterCrash(later);
    assert.equal(again.core.request(requestId)?.status, 'pending');
    await again.core.decide({ requestId, approve: true, by: 'human', via: 'ui' });
    await again.core.whenIdle();
    assert.deepEqual(log, ['alice runCommand']);
    assert.equal(resultTexts(later.of('alice')[0]).length, 1);
  });
});

describe('cases: mail over a crash', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  for (const [moment, isTaken] of [
    ['before it is taken', false],
    ['when it is in the transcript, and the call that shows it is lost', true],
  ] as const) {
    it(`case 15: killed ${moment}, a message is shown once`, async () => {
      const model = leadSeen();
      const stream = endless();
      model.add('alice', stream.step);
      const team = await openTeam(model);
      await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
      await stream.begun;
      await team.core.sendMessage('alice', 'Line 7 is wrong.');
      let again: TestTeam;
      const later = leadSeen().always('alice', [text('Read.')]);
      if (isTaken) {
        // The transcript has it; of the call that shows it nothing will ever be known.
        const lost = endless();
        model.add('alice', lost.step);
        await team.core.interrupt('alice');
        await lost.begun;
        again = await team.reopenAfterCrash(later);
      } else {
        again = await team.reopenAfterCrash(later);
        assert.deepEqual(
          again.core.unread('alice').map(({ content }) => content),
          ['Line 7 is wrong.'],
        );
      }
      assert.deepEqual(again.core.resumable(), ['alice']);
      again.core.resume();
      await again.core.whenIdle();
      assert.equal(timesShown([later], 'alice', 'Line 7 is wrong.'), 1);
      const whole = JSON.stringify(later.of('alice').at(-1)?.messages);
      assert.equal(whole.split('Line 7 is wrong.').length - 1, 1, 'nor twice in what the model is sent');
      assert.deepEqual(again.core.unread('alice'), []);
      const third = await again.reopen();
      await third.core.sendMessage('alice', 'And?');
      await third.core.whenIdle();
      assert.equal(timesShown([later], 'alice', 'Line 7 is wrong.'), 1);
    });
  }

  it('case 22: killed with two unread messages and a teammate in a call: true states, both arrive once, the teammate goes on', async () => {
    const begun = deferred();
    const workspace = withOperations((member) =>
      member === 'alice'
        ? {
            runCommand: () => {
              begun.resolve();
              return new Promise<CommandOutcome>(() => undefined);
            },
          }
        : {},
    );
    const model = leadSeen();
    model.add('alice', [call('bash', { command: 'make' }), call('read_file', { path: 'a' })]);
    model.always('bob', [text('Ready.')]);
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    await fs.writeFile(path.join(team.root, 'a'), 'content');
    await team.core.spawn({ name: 'bob', role: 'tester', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await begun.promise;
    await team.core.sendMessage('alice', 'One.');
    await team.core.sendMessage('alice', 'Two.');
    assert.deepEqual(statuses(team), ['bob idle', 'alice working']);
    const later = leadSeen().always('alice', [text('Going on.')]);
    const again = await team.reopenAfterCrash(later);
    assert.deepEqual(statuses(again), ['bob idle', 'alice idle'], 'nobody works who does not');
    await again.core.whenIdle();
    assert.deepEqual(
      (await again.config()).members.map(({ name, status }) => `${name} ${status}`),
      ['bob idle', 'alice idle'],
    );
    assert.deepEqual(
      again.core.unread('alice').map(({ content }) => content),
      ['One.', 'Two.'],
    );
    assert.deepEqual(again.core.resumable(), ['alice']);
    again.core.resume();
    await again.core.whenIdle();
    const [first] = later.of('alice');
    const [cut, second] = resultTexts(first);
    assert.match(cut ?? '', /^Cut off: .*It may have run/);
    assert.match(second ?? '', /^Not run: a message came that has to be read first\./);
    assert.match(shown(first), /One\.[\s\S]*Two\./);
    for (const words of ['One.', 'Two.']) assert.equal(timesShown([later], 'alice', words), 1);
    assert.deepEqual(again.core.unread('alice'), []);
    void team.core.dispose();
  });

  it('case 24: calls that a crash left without results are answered when the team is opened, and "continue" is valid', async () => {
    const begun = deferred();
    const workspace = withOperations(() => ({
      runCommand: () => {
        begun.resolve();
        return new Promise<CommandOutcome>(() => undefined);
      },
    }));
    const model = new ScriptedModel({
      lead: [[call('list_teammates'), call('bash', { command: 'a' }), call('bash', { command: 'b' })]],
    });
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    const turn = assert.rejects(team.core.sendToLead('Go.'), /was stopped/);
    await begun.promise;
    // A scripted model refuses, as the API does, a conversation in which a call has no result or two.
    const later = leadSeen();
    const again = await team.reopenAfterCrash(later);
    await again.core.sendToLead('continue');
    assert.equal(later.of('lead').length, 1);
    const messages = JSON.stringify(later.of('lead')[0]?.messages);
    assert.equal(messages.split('"tool_result"').length - 1, 3);
    assert.match(shown(later.of('lead')[0]), /continue/);
    void team.core.dispose();
    await turn;
  });
});

describe('cases: an assignment whose owner is away', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  /** Alice is in the middle of her assignment when the window dies. */
  async function cutOff(model: ScriptedModel, later: ScriptedModel, resume: 'ask' | 'always' = 'ask') {
    const stream = endless();
    model.add('alice', stream.step);
    const team = await openTeam(model, { resume });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.' }, 'human');
    await stream.begun;
    return team.reopenAfterCrash(later);
  }

  const report: Step = [text('Refactored.')];

  it('case 20: after a crash it is listed as waiting for the word to go on, and is resumed with it', async () => {
    const later = leadSeen();
    later.add('alice', report);
    const again = await cutOff(leadSeen(), later);
    assert.deepEqual(statuses(again), ['alice idle']);
    assert.deepEqual(again.core.resumable(), ['alice']);
    await again.core.whenIdle();
    assert.deepEqual(later.of('alice'), [], 'nothing runs unasked');
    again.core.resume();
    await again.core.whenIdle();
    assert.equal(timesShown([later], 'lead', 'Refactored.'), 1, 'and its end is reported');
    assert.equal(again.core.member('alice')?.taskId, 'alice-1.1', 'as the same task');
    assert.deepEqual(again.core.resumable(), []);
  });

  it('case 20: with the setting always it goes on by itself', async () => {
    const later = leadSeen();
    later.add('alice', report);
    const again = await cutOff(leadSeen(), later, 'always');
    await again.core.whenIdle();
    assert.equal(timesShown([later], 'lead', 'Refactored.'), 1);
    assert.deepEqual(again.core.resumable(), []);
  });

  it('case 20: a shutdown that was granted before the crash releases it: nobody is asked to go on', async () => {
    const model = leadSeen();
    const stream = endless();
    model.add(
      'alice',
      [text('Ready.')],
      (request) => [
        call('shutdown_response', { request_id: requestIdIn(request), approve: true }),
        call('read_inbox'),
      ],
      stream.step,
    );
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.' }, 'human');
    await team.core.whenIdle();
    const copy = deferred<Promise<TestTeam>>();
    const later = leadSeen();
    team.core.on((event) => {
      if (event.type === 'request' && event.change === 'approved') copy.resolve(team.reopenAfterCrash(later));
    });
    await team.core.requestShutdown('alice');
    const again = await copy.promise;
    await again.core.whenIdle();
    assert.deepEqual(statuses(again), ['alice shutdown']);
    assert.deepEqual([again.core.resumable(), later.of('alice')], [[], []]);
  });

  it('case 20: one that was force stopped is released: its unread mail is with the lead, and the name is free', async () => {
    const model = leadSeen();
    const stream = endless();
    model.add('alice', stream.step);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.' }, 'human');
    await stream.begun;
    await team.core.sendMessage('alice', 'Mind the tests.');
    await team.core.forceStop('alice');
    await team.core.whenIdle();
    const later = leadSeen().always('alice', [text('New here.')]);
    const again = await team.reopenAfterCrash(later);
    assert.deepEqual([statuses(again), again.core.resumable()], [['alice shutdown'], []]);
    assert.match(again.core.member('alice')?.statusReason ?? '', /force stopped/);
    assert.match(again.core.describeTeam(), /alice.*shutdown/);
    const second = await again.core.spawn({ name: 'alice', role: 'coder', prompt: 'Again.' }, 'human');
    await again.core.whenIdle();
    assert.deepEqual([second.incarnation, second.taskId], [2, 'alice-2.1']);
    assert.equal(timesShown([model, later], 'lead', 'Mind the tests.'), 1);
    assert.equal(timesShown([later], 'alice', 'Mind the tests.'), 0);
  });
});
