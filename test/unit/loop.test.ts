import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { ModelError, type ModelRequest } from '../../src/model/port';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { deferred, endless, requestIdIn, results, resultTexts, shown, withOperations } from './support/turns';
import { hastyLimiter } from './support/virtualTimers';

const unreachable = () => {
  throw new ModelError(
    'unreachable',
    'http://127.0.0.1:1 cannot be reached (ECONNREFUSED). Check handshake.baseUrl.',
    // As after its last try.
    { retry: false },
  );
};

function leadMail(team: TestTeam, type: string): string[] {
  return team.events.flatMap((event) =>
    event.type === 'message' && event.message.to === 'lead' && event.message.type === type
      ? [event.message.content]
      : [],
  );
}

function statuses(team: TestTeam, name: string): string[] {
  return team.events.flatMap((event) =>
    event.type === 'member' && event.name === name && event.status !== undefined ? [event.status] : [],
  );
}

describe('loop: mail', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('case 18: a message sent in the middle of 20 tool calls is in the next model call', async () => {
    const tenth = deferred();
    const release = deferred();
    let count = 0;
    const workspace = withOperations(() => ({
      runCommand: async (command) => {
        count++;
        if (count === 10) {
          tenth.resolve();
          await release.promise;
        }
        return { output: command, exitCode: 0, signal: null, timedOut: false, aborted: false };
      },
    }));
    const calls = Array.from({ length: 20 }, (_, i) => call('bash', { command: `step ${i}` }));
    const model = new ScriptedModel({ alice: [calls, [text('Done.')]] }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Do 20 steps.' }, 'human');
    await tenth.promise;
    await team.core.sendMessage('alice', 'Stop at the tenth.');
    release.resolve();
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 2);
    assert.equal(results(model.of('alice')[1]).length, 20);
    assert.match(
      shown(model.of('alice')[1]),
      /<message from="human" type="message">\nStop at the tenth\.\n<\/message>/,
    );
    assert.deepEqual(team.core.unread('alice'), []);
  });

  it('case 18: between 20 model calls it is in the very next one', async () => {
    const rounds = Array.from({ length: 20 }, (_, i) => async () => {
      if (i === 9) await send('In the middle.');
      return [call('read_inbox')];
    });
    const model = new ScriptedModel({ alice: [...rounds, [text('Done.')]] }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    const send = (content: string) => team.core.sendMessage('alice', content);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Look 20 times.' }, 'human');
    await team.core.whenIdle();
    // The message came while the tenth call was under way: its read_inbox shows it, once.
    const requests = model.of('alice');
    const where = requests.findIndex((request) =>
      JSON.stringify(request.messages.at(-1)).includes('In the middle.'),
    );
    assert.equal(where, 10);
    const last = JSON.stringify(requests.at(-1)?.messages);
    assert.equal(last.split('In the middle.').length, 2);
  });

  it('read_inbox shows mail once, and the mailbox counts it as shown', async () => {
    const begun = deferred();
    const release = deferred();
    const model = new ScriptedModel({
      alice: [
        async () => {
          begun.resolve();
          await release.promise;
          return [call('read_inbox'), call('read_inbox')];
        },
        [text('Done.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await begun.promise;
    await team.core.sendMessage('alice', 'One.');
    release.resolve();
    await team.core.whenIdle();
    const [first, second] = resultTexts(model.of('alice')[1]);
    const line = JSON.parse(first ?? '');
    assert.equal(line.content, 'One.');
    assert.equal(line.from, 'human');
    assert.equal(second, 'Inbox is empty.');
    assert.equal(shown(model.of('alice')[1]), '');
    assert.deepEqual(team.core.unread('alice'), []);
  });

  it('several messages come together, in order', async () => {
    const begun = deferred();
    const release = deferred();
    const model = new ScriptedModel({
      alice: [
        async () => {
          begun.resolve();
          await release.promise;
          return [text('First answer.')];
        },
        [text('Second answer.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await begun.promise;
    for (const word of ['one', 'two', 'three']) await team.core.sendMessage('alice', word);
    release.resolve();
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 2);
    assert.match(shown(model.of('alice')[1]), /one[\s\S]*two[\s\S]*three/);
    // One assignment, one report.
    assert.deepEqual(leadMail(team, 'result'), ['Second answer.']);
  });

  it('an idle notice starts no turn of the lead; a result does', async () => {
    const model = new ScriptedModel({ alice: [[text('Report.')]], lead: [[text('Seen.')]] });
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    assert.equal(model.of('lead').length, 1);
    assert.match(shown(model.of('lead')[0]), /<message from="alice" type="result">\nReport\.\n<\/message>/);
    assert.match(shown(model.of('lead')[0]), /type="idle_notification"/);
    assert.deepEqual(team.core.unread('lead'), []);
  });

  it('a request that was decided before the lead read it says so', async () => {
    const begun = deferred();
    const release = deferred();
    const model = new ScriptedModel({
      alice: [[call('plan_approval', { plan: 'P' })], [text('Waiting.')], [text('Thanks.')]],
      lead: [
        async () => {
          begun.resolve();
          await release.promise;
          return [text('Ok.')];
        },
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    const turn = team.core.sendToLead('Wait a little.');
    await begun.promise;
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Plan.' }, 'human');
    const plan = await team.pending('plan_approval');
    await team.core.decide({ requestId: plan.requestId, approve: true, by: 'human', via: 'ui' });
    release.resolve();
    await turn;
    await team.core.whenIdle();
    assert.match(shown(model.of('lead')[1]), new RegExp(`request_id="${plan.requestId}" already="approved"`));
  });
});

describe('loop: ends of a turn', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('says that the lead reached the turn limit, and "continue" goes on', async () => {
    const again = () => [call('list_teammates')];
    const model = new ScriptedModel({ lead: [again, again, again, [text('Now done.')]] });
    const team = await openTeam(model, { maxTurns: 3 });
    await team.core.sendToLead('Loop.');
    assert.equal(model.of('lead').length, 3);
    assert.deepEqual(team.notices(), [
      'The lead stopped after 3 model calls in one turn (setting handshake.maxTurns). Say "continue" to go on.',
    ]);
    await team.core.sendToLead('continue');
    assert.equal(model.of('lead').length, 4);
    assert.equal(team.core.leadStatus().status, 'idle');
  });

  it('says that a teammate reached the turn limit, to the lead and to the human', async () => {
    const model = new ScriptedModel({ alice: [[call('read_inbox')], [call('read_inbox')]] });
    const team = await openTeam(model.always('lead', [text('Seen.')]), { maxTurns: 2 });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Loop.' }, 'human');
    await team.core.whenIdle();
    const said =
      'alice stopped after 2 model calls in one turn (setting handshake.maxTurns). Its work is not finished; send it a message to go on.';
    assert.deepEqual(team.notices(), [said]);
    assert.deepEqual(leadMail(team, 'error'), [said]);
    assert.deepEqual(leadMail(team, 'result'), []);
    assert.equal(team.core.member('alice')?.status, 'idle');
    model.add('alice', [text('Finished.')]);
    await team.core.sendMessage('alice', 'Go on.');
    await team.core.whenIdle();
    assert.deepEqual(leadMail(team, 'result'), ['Finished.']);
  });

  it('asks once more after an empty reply, then takes it for an end, and the conversation stays valid', async () => {
    const model = new ScriptedModel({
      alice: [[], [], [text('Here.')]],
      lead: [[], [text('Hello.')], [text('Hello again.')]],
    });
    const team = await openTeam(model.always('lead', [text('Seen.')]));
    await team.core.sendToLead('Hi.');
    assert.match(shown(model.of('lead')[1]), /Hi\.\nYour answer was empty\. Go on/);
    await team.core.sendToLead('Hi again.');
    assert.equal(shown(model.of('lead')[2]), 'Hi again.');
    assert.deepEqual(team.notices(), []);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    assert.deepEqual(leadMail(team, 'result'), ['(ended without a report)']);
    assert.deepEqual(team.notices(), [
      'The model script of alice ended its turn with an empty answer, although asked again.',
    ]);
    await team.core.sendMessage('alice', 'And now?');
    await team.core.whenIdle();
    assert.deepEqual(leadMail(team, 'result'), ['(ended without a report)', 'Here.']);
  });

  it('forces the answer to a shutdown request once, then says that it stays open', async () => {
    const model = new ScriptedModel({ alice: [[text('Ready.')], [text('ok')], [text('ok')], [text('Hm.')]] });
    const team = await openTeam(model.always('lead', [text('Seen.')]));
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    const request = await team.core.requestShutdown('alice');
    await team.core.whenIdle();
    const calls = model.of('alice');
    assert.equal(calls.length, 3);
    assert.deepEqual(
      calls.map((each) => each.forceTool),
      [undefined, undefined, 'shutdown_response'],
    );
    assert.match(
      shown(calls[2]),
      new RegExp(`Answer the shutdown request ${request.requestId} now, with the tool`),
    );
    assert.equal(team.core.request(request.requestId)?.status, 'pending');
    assert.match(team.notices().join('\n'), /alice answered the shutdown request .* in prose/);
    assert.equal(team.core.member('alice')?.status, 'idle');
    // No second time for the same request, and no second notice.
    await team.core.sendMessage('alice', 'Still there?');
    await team.core.whenIdle();
    assert.equal(model.of('alice')[3]?.forceTool, undefined);
    assert.equal(team.notices().length, 1);
    // The human can still end it.
    await team.core.decide({ requestId: request.requestId, approve: true, by: 'human', via: 'ui' });
    await team.core.whenIdle();
    assert.equal(team.core.member('alice')?.status, 'shutdown');
  });

  it('takes the forced answer', async () => {
    const model = new ScriptedModel({
      alice: [
        [text('ok')],
        (request) => [
          call('shutdown_response', { request_id: requestIdIn(request), approve: false, reason: 'Busy.' }),
        ],
        [text('Going on.')],
      ],
    });
    const team = await openTeam(model.always('lead', [text('Seen.')]));
    const begun = team.next((event) => event.type === 'turn_started' && event.member === 'alice');
    const spawning = team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await begun;
    await spawning;
    const request = await team.core.requestShutdown('alice');
    await team.core.whenIdle();
    const rejected = team.core.request(request.requestId);
    assert.equal(rejected?.status, 'rejected');
    assert.equal(rejected?.decidedBy, 'alice');
    assert.equal(rejected?.feedback, 'Busy.');
  });

  it('asks once more for a required plan, then says so', async () => {
    const model = new ScriptedModel({ alice: [[text('I will change it.')], [text('My plan: change it.')]] });
    const team = await openTeam(model.always('lead', [text('Seen.')]));
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Refactor.', requirePlan: true }, 'human');
    await team.core.whenIdle();
    const calls = model.of('alice');
    assert.equal(calls.length, 2);
    assert.match(shown(calls[1]), /A plan is required for this work\. Submit it with the tool plan_approval/);
    assert.match(
      team.notices().join('\n'),
      /alice ended its turn without submitting a plan, although asked again/,
    );
    assert.equal(team.core.gateOf('alice'), 'required');
  });

  it('tells the human of a plan that the lead read and left', async () => {
    const model = new ScriptedModel({
      alice: [[call('plan_approval', { plan: 'P' })], [text('Waiting.')]],
      lead: [[text('Interesting.')]],
    });
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Plan.' }, 'human');
    await team.core.whenIdle();
    const [plan] = team.core.requests();
    assert.deepEqual(team.notices(), [
      `The lead ended its turn without deciding the plan ${plan?.requestId} of alice. It waits in Requests for you or the lead.`,
    ]);
  });
});

describe('loop: failures', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('tells the human of a failed model call of the lead, keeps the conversation, and can try again', async () => {
    const model = new ScriptedModel({ lead: [unreachable, [text('Hello.')]] });
    const team = await openTeam(model);
    await assert.rejects(team.core.sendToLead('Hi.'), (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/);
      assert.equal('kind' in error && error.kind, 'unreachable');
      return true;
    });
    assert.deepEqual(team.core.leadStatus(), {
      status: 'failed',
      reason: 'http://127.0.0.1:1 cannot be reached (ECONNREFUSED). Check handshake.baseUrl.',
    });
    await team.core.whenIdle();
    assert.equal(model.of('lead').length, 1, 'a failed call is not repeated by itself');
    await team.core.retry('lead');
    await team.core.whenIdle();
    assert.deepEqual(team.core.leadStatus(), { status: 'idle' });
    assert.deepEqual(model.of('lead')[1]?.messages, model.of('lead')[0]?.messages);
  });

  it('takes up a failed turn with the next message too', async () => {
    const model = new ScriptedModel({ lead: [[call('list_teammates')], unreachable, [text('Hello.')]] });
    const team = await openTeam(model);
    await assert.rejects(team.core.sendToLead('Hi.'), /cannot be reached/);
    await team.core.sendToLead('Again.');
    const last = model.of('lead')[2];
    assert.equal(results(last).length, 1);
    assert.equal(shown(last), 'Again.');
    assert.equal(team.core.leadStatus().status, 'idle');
  });

  it("names an error that is not the model's as its own", async () => {
    const model = new ScriptedModel({
      lead: [
        () => {
          throw new TypeError('x is not a function');
        },
      ],
    });
    const team = await openTeam(model);
    await assert.rejects(
      team.core.sendToLead('Hi.'),
      /Something went wrong inside Handshake: x is not a function/,
    );
  });

  it('puts a failed model call of a teammate on its status and into a message to the lead', async () => {
    const model = new ScriptedModel({ alice: [unreachable, [text('Here.')]] }).always('lead', [
      text('Seen.'),
    ]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    assert.equal(team.core.member('alice')?.status, 'failed');
    assert.match(team.core.member('alice')?.statusReason ?? '', /cannot be reached/);
    assert.match(leadMail(team, 'error').join(), /^alice could not go on: http:.*cannot be reached/);
    const listed = (await team.config()).members[0];
    assert.equal(listed?.status, 'failed');
    await team.core.sendMessage('alice', 'Try again.');
    await team.core.whenIdle();
    assert.deepEqual(leadMail(team, 'result'), ['Here.']);
    assert.equal(team.core.member('alice')?.status, 'idle');
    assert.equal(team.core.member('alice')?.statusReason, undefined);
    // What failed once and then worked is not listed as failed by the next window.
    const again = await team.reopen();
    assert.equal(again.core.member('alice')?.status, 'idle');
  });

  it('withdraws the streamed text of a call that failed, and tries it again', async () => {
    const model = new ScriptedModel({ lead: [[text('Whole.')]] });
    const broken = {
      label: 'Broken',
      isDemo: false,
      calls: 0,
      async call(...args: Parameters<ScriptedModel['call']>) {
        this.calls++;
        if (this.calls > 1) return model.call(...args);
        args[1]({ type: 'text', text: 'Half of' });
        throw new ModelError('interrupted_stream', 'The reply broke off.');
      },
    };
    const team = await openTeam(broken, {}, undefined, { limiter: hastyLimiter() });
    await team.core.sendToLead('Hi.');
    assert.equal(broken.calls, 2);
    const texts = team.events.flatMap((event) =>
      event.type === 'text' || event.type === 'assistant'
        ? [event.text]
        : event.type === 'text_void'
          ? ['void']
          : [],
    );
    assert.deepEqual(texts, ['Half of', 'void', 'Whole.', 'Whole.']);
  });

  it('does not repeat for ever a turn whose transcript cannot be written', async () => {
    const model = new ScriptedModel({ lead: [[text('Hello.')]] });
    const team = await openTeam(model);
    const transcripts = path.join(team.storageDir, 'transcripts');
    await fs.mkdir(team.storageDir, { recursive: true });
    await fs.writeFile(transcripts, 'a file where the folder should be');
    await assert.rejects(team.core.sendToLead('Hi.'), /transcripts/);
    await team.core.whenIdle();
    assert.equal(team.events.filter((event) => event.type === 'turn_started').length, 1);
    assert.equal(team.core.leadStatus().status, 'failed');
    await fs.rm(transcripts);
    await team.core.sendToLead('Again.');
    assert.match(shown(model.of('lead')[0]), /Hi\.\nAgain\./);
  });
});

describe('loop: interrupts', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  const everyCallAnswered = (request: ModelRequest | undefined, count: number) =>
    assert.equal(results(request).length, count);

  it('in the middle of a stream: nothing of it is kept, the next call is valid', async () => {
    const stream = endless();
    const model = new ScriptedModel({ lead: [stream.step, [text('Again.')]] });
    const team = await openTeam(model);
    const turn = team.core.sendToLead('Talk.');
    await stream.begun;
    assert.equal(team.core.leadStatus().status, 'working');
    await team.core.interrupt('lead');
    await turn;
    assert.equal(team.core.leadStatus().status, 'idle');
    await team.core.sendToLead('Go on.');
    assert.match(shown(model.of('lead')[1]), /Talk\.\nGo on\./);
  });

  it('case 24: after the first of three calls every call has a result, and "continue" works', async () => {
    const inside = deferred();
    const workspace = withOperations(() => ({
      runCommand: (command, { signal }) =>
        command !== 'second'
          ? Promise.resolve({
              output: 'first ran',
              exitCode: 0,
              signal: null,
              timedOut: false,
              aborted: false,
            })
          : new Promise((resolve) => {
              inside.resolve();
              signal.addEventListener('abort', () =>
                resolve({
                  output: 'half',
                  exitCode: null,
                  signal: 'SIGTERM',
                  timedOut: false,
                  aborted: true,
                }),
              );
            }),
    }));
    const model = new ScriptedModel({
      lead: [
        [
          call('bash', { command: 'first' }),
          call('bash', { command: 'second' }),
          call('bash', { command: 'third' }),
        ],
        [text('Continued.')],
      ],
    });
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    const turn = team.core.sendToLead('Run three.');
    await inside.promise;
    await team.core.interrupt('lead');
    await turn;
    await team.core.sendToLead('continue');
    assert.deepEqual(resultTexts(model.of('lead')[1]), [
      'first ran',
      'half\n[stopped: the member was interrupted]',
      'Not run: the human interrupted.',
    ]);
    assert.equal(shown(model.of('lead')[1]), 'continue');
  });

  it('case 24: ends a real command with all it started', async () => {
    const model = new ScriptedModel({
      lead: [
        [call('bash', { command: 'echo begun; sleep 600' }), call('bash', { command: 'touch no' })],
        [text('Ok.')],
      ],
    });
    const started = deferred();
    const workspace = withOperations((_, real) => ({
      runCommand: (...args) => {
        started.resolve();
        return real.runCommand(...args);
      },
    }));
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    const turn = team.core.sendToLead('Sleep.');
    await started.promise;
    await team.core.interrupt('lead');
    await turn;
    await team.core.sendToLead('continue');
    everyCallAnswered(model.of('lead')[1], 2);
    assert.match(resultTexts(model.of('lead')[1])[0] ?? '', /\[stopped: the member was interrupted\]$/);
  });

  it('in the middle of a permission wait: the permission is withdrawn, the call has a result', async () => {
    const model = new ScriptedModel({
      alice: [[call('bash', { command: 'touch a' }), call('bash', { command: 'touch b' })], [text('Ok.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    const asked = await team.pending('tool_permission');
    await team.core.whenIdle();
    assert.equal(team.core.member('alice')?.status, 'waiting');
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    const ended = team.core.request(asked.requestId);
    assert.equal(ended?.status, 'cancelled');
    assert.equal(ended?.cancelReason, 'call_ended');
    assert.equal(team.core.member('alice')?.status, 'idle');
    assert.equal(team.core.requests().length, 1, 'the second call does not ask any more');
    await team.core.sendMessage('alice', 'Go on.');
    await team.core.whenIdle();
    everyCallAnswered(model.of('alice')[1], 2);
    assert.deepEqual(resultTexts(model.of('alice')[1]), [
      'Not run: the wait for permission ended (call_ended). Ask again if it is still needed.',
      'Not run: the human interrupted.',
    ]);
  });

  it('of everybody at once', async () => {
    const streams = [endless(), endless(), endless()];
    const [one, two, three] = streams.map((stream) => stream.step);
    assert.ok(one && two && three);
    const model = new ScriptedModel({ lead: [one], alice: [two], bob: [three] }).always('lead', [
      text('Seen.'),
    ]);
    const team = await openTeam(model);
    const turn = team.core.sendToLead('Talk.');
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.' }, 'human');
    await Promise.all(streams.map((stream) => stream.begun));
    await team.core.stopAll();
    await turn;
    await team.core.whenIdle();
    assert.deepEqual(
      team.core.members().map((member) => member.status),
      ['idle', 'idle'],
    );
    assert.deepEqual(statuses(team, 'alice'), ['idle', 'working', 'idle']);
  });

  it('closing the window in the middle of calls leaves a transcript that the next window can use', async () => {
    const inside = deferred();
    const workspace = withOperations(() => ({
      runCommand: (_, { signal }) =>
        new Promise((resolve) => {
          inside.resolve();
          signal.addEventListener('abort', () =>
            resolve({ output: '', exitCode: null, signal: 'SIGTERM', timedOut: false, aborted: true }),
          );
        }),
    }));
    const calls = ['1', '2', '3'].map((command) => call('bash', { command }));
    const model = new ScriptedModel({ lead: [calls, [text('Ok.')]] });
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { workspace });
    const turn = assert.rejects(team.core.sendToLead('Run.'), /lead was stopped/);
    await inside.promise;
    const again = await team.reopen();
    await turn;
    await again.core.sendToLead('continue');
    everyCallAnswered(model.of('lead')[1], 3);
  });
});
