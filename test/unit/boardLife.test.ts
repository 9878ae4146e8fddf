import * as assert from 'node:assert/strict';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { deferred, endless, requestIdIn, resultTexts, shown } from './support/turns';

const complete = (task_id: string, result = 'Done.') => call('complete_task', { task_id, result });

const board = (team: TestTeam): string[] =>
  team.core.tasks().map(({ id, status, owner }) => `${id} ${status}${owner ? ` ${owner}` : ''}`);

const spawn = (team: TestTeam, name: string, more = {}) =>
  team.core.spawn({ name, role: 'coder', prompt: `Hello ${name}.`, ...more }, 'lead');

const create = async (team: TestTeam, subject: string, more = {}): Promise<string> =>
  (await team.core.createTask({ subject, description: `Do ${subject}.`, ...more })).id;

/** The type and sender of each message in a model call's newest turn. */
const mailIn = (text: string): string[] =>
  [...text.matchAll(/<message from="(\w+)" type="(\w+)"/g)].map(([, from, type]) => `${type} ${from}`);

describe('work and idle', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('an idle teammate takes the best ready task: priority first, then age; each with a report', async () => {
    const model = new ScriptedModel({
      alice: [
        [text('Ready.')],
        [complete('t2')],
        [text('Second done.')],
        [complete('t3')],
        [text('Third done.')],
        [complete('t1')],
        [text('First done.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    for (const [subject, priority] of [
      ['A', 0],
      ['B', 7],
      ['C', 0],
    ] as const) {
      await create(team, subject, { priority, ...(subject === 'C' ? {} : {}) });
    }
    await team.core.updateTask('t3', { order: 0.5 });
    await spawn(team, 'alice');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed alice', 't2 completed alice', 't3 completed alice']);
    assert.match(
      shown(model.of('alice')[1]),
      /from="runtime" type="message">\nYou have taken task t2 from the board/,
    );
    const told = team.events.flatMap((event) =>
      event.type === 'message' && event.message.to === 'lead'
        ? [`${event.message.type} ${event.message.content}`]
        : [],
    );
    assert.deepEqual(told, [
      'result Ready.',
      'idle_notification alice is idle.',
      'result Second done.',
      'idle_notification alice is idle.',
      'result Third done.',
      'idle_notification alice is idle.',
      'result First done.',
      'idle_notification alice is idle.',
    ]);
  });

  it('protocol mail comes before messages, both before a task of its own, and that before a ready one', async () => {
    const asked = deferred<void>();
    const first = deferred<ReturnType<typeof text>[]>();
    const model = new ScriptedModel({
      alice: [
        [call('claim_task', { task_id: 't1' })],
        () => {
          asked.resolve();
          return first.promise;
        },
        (request) => [
          call('shutdown_response', { request_id: requestIdIn(request), approve: false, reason: 'Busy.' }),
        ],
        [text('Read.')],
        [complete('t1')],
        [text('One.')],
        [complete('t2')],
        [text('Two.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await create(team, 'Own');
    await create(team, 'Other', { priority: 9 });
    await spawn(team, 'alice');
    await asked.promise;
    await team.core.sendMessage('alice', 'A word.');
    await team.core.requestShutdown('alice');
    first.resolve([text('So far.')]);
    await team.core.whenIdle();
    const seen = model.of('alice').map(shown);
    assert.deepEqual(mailIn(seen[2] ?? ''), ['shutdown_request human', 'message human']);
    assert.match(seen[4] ?? '', /You still have t1 under way/);
    assert.match(seen[6] ?? '', /You have taken task t2/);
    assert.deepEqual(board(team), ['t1 completed alice', 't2 completed alice']);
  });

  it('one that is under way in the main folder is not isolated behind its owner', async () => {
    const works = endless();
    const model = new ScriptedModel({ alice: [[text('Ready.')], works.step] }).always('lead', [
      text('Seen.'),
    ]);
    const team = await openTeam(model);
    await spawn(team, 'alice');
    await team.core.whenIdle();
    const id = await create(team, 'Own');
    await works.begun;
    await assert.rejects(
      team.core.updateTask(id, { isolated: true }),
      /t1 is under way with alice in the main folder\. Take it back first/,
    );
  });

  it('a completed task frees those that waited, and they are taken at once by whoever waits longest', async () => {
    const done = deferred<ReturnType<typeof complete>[]>();
    const model = new ScriptedModel({
      alice: [[text('Ready.')], () => done.promise, [text('One.')]],
      bob: [[text('Ready.')], [complete('t3')], [text('Three.')]],
      carol: [[text('Ready.')], [complete('t2')], [text('Two.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    for (const name of ['alice', 'bob', 'carol']) {
      await spawn(team, name);
      await team.core.whenIdle();
    }
    await create(team, 'Base');
    await team.next((event) => event.type === 'turn_started' && event.member === 'alice');
    await create(team, 'Low', { blockedBy: ['t1'] });
    await create(team, 'High', { priority: 3, blockedBy: ['t1'] });
    assert.deepEqual(board(team), ['t1 in_progress alice', 't2 pending', 't3 pending']);
    done.resolve([complete('t1')]);
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed alice', 't2 completed carol', 't3 completed bob']);
    assert.deepEqual(resultTexts(model.of('alice')[2]), ['Completed t1. Ready now: t2, t3.']);
  });

  it('one that ends with a task under way is asked once more, then the lead and the human are told', async () => {
    const model = new ScriptedModel({
      alice: [[text('I looked at it.')], [text('I cannot go on.')], [text('Still not.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await create(team, 'Hard');
    await spawn(team, 'alice', { taskId: 't1' });
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 2);
    assert.deepEqual(mailIn(shown(model.of('alice')[0])), ['message lead', 'message lead']);
    const report = team.events.findLast(
      (event) => event.type === 'message' && event.message.type === 'result',
    );
    assert.match(JSON.stringify(report), /I cannot go on\..*t1 is still under way with alice/);
    assert.match(team.notices().join(), /alice ended its turn with t1 still under way/);
    await team.core.sendMessage('alice', 'And now?');
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 3);
    assert.equal(team.core.member('alice')?.taskId, 't1');
    assert.deepEqual(board(team), ['t1 in_progress alice']);
  });

  it('one that the human interrupted waits for the human, whatever is ready', async () => {
    const stream = endless();
    const model = new ScriptedModel({
      alice: [stream.step, [complete('t1')], [text('One.')], [complete('t2')], [text('Two.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await create(team, 'One');
    await spawn(team, 'alice', { taskId: 't1' });
    await stream.begun;
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    await create(team, 'Two');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 in_progress alice', 't2 pending']);
    await team.core.retry('alice');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed alice', 't2 completed alice']);
  });

  it('one that is asked to leave, or waits for a plan, is given nothing', async () => {
    const model = new ScriptedModel({
      alice: [[call('plan_approval', { plan: 'P' })], [text('Waiting.')]],
      bob: [[text('Ready.')], [text('No.')], [text('No.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await spawn(team, 'alice', { requirePlan: true });
    await spawn(team, 'bob');
    await team.core.whenIdle();
    await team.core.requestShutdown('bob');
    await team.core.whenIdle();
    await create(team, 'Lonely');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 pending']);
    assert.equal(team.core.isReady('t1'), true);
  });

  it('one whose tokens are used up keeps no task from others, and begins once it has more', async () => {
    const model = new ScriptedModel({
      alice: [[text('Ready.')], [complete('t1')], [text('One.')]],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, { tokenBudget: { team: 0, member: 10 } });
    await spawn(team, 'alice');
    await team.core.whenIdle();
    await create(team, 'One');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 pending']);
    team.settings.tokenBudget = { team: 0, member: 10_000 };
    team.core.recheck('budget');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed alice']);
  });

  it('case 45: an idle notice starts no turn of the lead, and thanks end where they arrive', async () => {
    const stream = endless();
    const model = new ScriptedModel({
      lead: [[call('send_message', { to: 'alice', content: 'Thanks!' })]],
      alice: [[text('Ready.')], [text('You are welcome.')], stream.step],
    }).always('lead', [text('Noted.')]);
    const team = await openTeam(model);
    await spawn(team, 'alice');
    await team.core.whenIdle();
    // Ready, thanks, welcome, noted: nobody has anything to add, and nobody is called. What alice answers may still
    // reach the turn in which the lead thanked her, or begins one of its own.
    assert.equal(model.of('alice').length, 2);
    const calls = model.of('lead').length;
    assert.ok(calls === 2 || calls === 3, `${calls} calls of the lead`);
    await team.core.sendMessage('alice', 'Count.');
    await stream.begun;
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    assert.deepEqual(
      team.core.unread('lead').map(({ type }) => type),
      ['idle_notification'],
    );
    assert.equal(model.of('lead').length, calls);
  });

  it('results that arrive together are one turn of the lead', async () => {
    const go = deferred<ReturnType<typeof text>[]>();
    const allIn = deferred();
    const model = new ScriptedModel({
      lead: [() => allIn.promise.then(() => [text('First seen.')])],
      alice: [() => go.promise],
      bob: [() => go.promise],
      carol: [() => go.promise],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    for (const name of ['alice', 'bob', 'carol']) await spawn(team, name);
    let reported = 0;
    team.core.on((event) => {
      if (event.type === 'message' && event.message.type === 'result' && ++reported === 3) allIn.resolve();
    });
    go.resolve([text('Done.')]);
    await team.core.whenIdle();
    const turns = team.events.filter((event) => event.type === 'turn_started' && event.member === 'lead');
    assert.equal(turns.length, 1);
    const results = model.of('lead').flatMap((request) => mailIn(shown(request)));
    assert.equal(results.filter((line) => line.startsWith('result')).length, 3);
  });
});
