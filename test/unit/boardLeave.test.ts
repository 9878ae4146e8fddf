import * as assert from 'node:assert/strict';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { endless, requestIdIn, resultTexts, shown } from './support/turns';

const complete = (task_id: string, result = 'Done.') => call('complete_task', { task_id, result });

const board = (team: TestTeam): string[] =>
  team.core.tasks().map(({ id, status, owner }) => `${id} ${status}${owner ? ` ${owner}` : ''}`);

const notes = (team: TestTeam, id: string): string =>
  (team.core.task(id)?.notes ?? []).map(({ by, text }) => `${by}: ${text}`).join('\n');

const spawn = (team: TestTeam, name: string, more = {}) =>
  team.core.spawn({ name, role: 'coder', prompt: `Hello ${name}.`, ...more }, 'lead');

const create = (team: TestTeam, subject: string, more = {}) =>
  team.core.createTask({ subject, description: `Do ${subject}.`, ...more });

const leadSeen = (steps: ConstructorParameters<typeof ScriptedModel>[0]) =>
  new ScriptedModel(steps).always('lead', [text('Seen.')]);

describe('the board: tasks whose owner stops', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('force stop frees the task, with how far it came, and the next idle teammate has it', async () => {
    const stream = endless();
    const model = leadSeen({
      alice: [
        [text('I begin with the parser.'), call('write_file', { path: 'parser.ts', content: 'x' })],
        stream.step,
      ],
      bob: [[text('Ready.')], [complete('t1')], [text('Done.')]],
    });
    const team = await openTeam(model, { permissionMode: 'allow' });
    await create(team, 'Parse');
    await spawn(team, 'alice', { taskId: 't1' });
    await stream.begun;
    await spawn(team, 'bob');
    await team.next((event) => event.type === 'turn_ended' && event.member === 'bob');
    await team.core.forceStop('alice');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed bob']);
    assert.match(
      notes(team, 't1'),
      /alice: Left the team \(force stopped by the human\)\. The task is free again\./,
    );
    assert.match(
      notes(team, 't1'),
      /Last calls: write_file parser\.ts\. Last words: I begin with the parser\./,
    );
    assert.match(shown(model.of('bob')[1]), /Notes:\n- alice: Left the team/);
  });

  it('an approved shutdown frees it', async () => {
    const model = leadSeen({
      alice: [
        [text('Working.')],
        [text('Thinking.')],
        (request) => [call('shutdown_response', { request_id: requestIdIn(request), approve: true })],
      ],
    });
    const team = await openTeam(model);
    await create(team, 'Parse');
    await spawn(team, 'alice', { taskId: 't1' });
    await team.core.whenIdle();
    await team.core.requestShutdown('alice');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 pending']);
    assert.match(notes(team, 't1'), /^alice: Left the team\. The task is free again\. How far it came: /);
  });

  it('a failure frees it; whoever tries again has it back, unless it went to somebody else', async () => {
    const fail = () => {
      throw new Error('out of words');
    };
    const model = leadSeen({ alice: [fail, [complete('t1')], [text('Done.')], fail, [text('I see.')]] });
    const team = await openTeam(model);
    await create(team, 'Parse');
    await spawn(team, 'alice', { taskId: 't1' });
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 pending']);
    assert.match(notes(team, 't1'), /Could not go on \(.*out of words.*\)/);
    await team.core.retry('alice');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed alice']);
    assert.deepEqual(resultTexts(model.of('alice')[2]), ['Completed t1.']);
    await create(team, 'Print');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed alice', 't2 pending']);
    model.add('bob', [complete('t2')], [text('Done.')]);
    await spawn(team, 'bob', { taskId: 't2' });
    await team.core.whenIdle();
    await team.core.retry('alice');
    await team.core.whenIdle();
    assert.match(JSON.stringify(model.of('alice').at(-1)?.messages), /t2 was freed; it is bob's now/);
    assert.deepEqual(board(team), ['t1 completed alice', 't2 completed bob']);
  });

  it('what the human takes back does not go to the same member by itself, and that one is told', async () => {
    const stream = endless();
    const model = leadSeen({
      alice: [stream.step, [text('I stop.')], [complete('t1')], [text('Done.')]],
    });
    const team = await openTeam(model);
    await create(team, 'Parse');
    await spawn(team, 'alice', { taskId: 't1' });
    await stream.begun;
    await team.core.releaseTask('t1', 'Wrong approach.');
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    assert.match(shown(model.of('alice')[1]), /The human has taken back task t1 \(Parse\)/);
    assert.deepEqual(board(team), ['t1 pending']);
    assert.match(notes(team, 't1'), /human: Released by human: Wrong approach\./);
    await team.core.assignTask('t1', 'alice');
    await team.core.whenIdle();
    assert.deepEqual(board(team), ['t1 completed alice']);
  });

  it('what the human gives to another moves, and both are told', async () => {
    const stream = endless();
    const model = leadSeen({
      alice: [stream.step, [text('I stop.')]],
      bob: [[text('Ready.')], [complete('t1')], [text('Done.')]],
    });
    const team = await openTeam(model);
    await create(team, 'Parse');
    await spawn(team, 'alice', { taskId: 't1' });
    await stream.begun;
    await spawn(team, 'bob');
    await team.next((event) => event.type === 'turn_ended' && event.member === 'bob');
    await team.core.assignTask('t1', 'bob');
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    assert.match(shown(model.of('alice')[1]), /The human has given to bob: task t1/);
    assert.match(shown(model.of('bob')[1]), /from="human".*\n?.*has given you task t1/);
    assert.deepEqual(board(team), ['t1 completed bob']);
  });

  it("the human closes, blocks, unblocks and opens tasks again; a blocked one is nobody's", async () => {
    const team = await openTeam(leadSeen({}));
    await create(team, 'A');
    await create(team, 'B', { blockedBy: ['t1'] });
    await assert.rejects(team.core.updateTask('t1', { status: 'blocked' }), /Say why t1 is blocked/);
    await team.core.updateTask('t1', { status: 'blocked', reason: 'No key.' });
    await assert.rejects(team.core.assignTask('t1', 'lead'), /t1 is blocked: No key\./);
    await team.core.updateTask('t1', { status: 'pending' });
    await team.core.completeTask('t1', 'Did it myself.');
    assert.deepEqual([board(team), team.core.isReady('t2')], [['t1 completed human', 't2 pending'], true]);
    await team.core.updateTask('t1', { status: 'pending', reason: 'Not good.' });
    assert.deepEqual([board(team), team.core.isReady('t2')], [['t1 pending', 't2 pending'], false]);
    assert.match(notes(team, 't1'), /human: Reopened \(was: Did it myself\.\): Not good\./);
  });
});

describe('the board after a restart', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it("case 20: a task under way is still its owner's, that is said, and it goes on with the human's word", async () => {
    const stream = endless();
    const first = await openTeam(leadSeen({ alice: [stream.step] }));
    await create(first, 'Parse');
    await create(first, 'Print', { blockedBy: ['t1'] });
    await spawn(first, 'alice', { taskId: 't1' });
    await stream.begun;
    const later = leadSeen({ alice: [[complete('t1')], [text('One.')], [complete('t2')], [text('Two.')]] });
    const again = await first.reopenAfterCrash(later);
    assert.deepEqual(board(again), ['t1 in_progress alice', 't2 pending']);
    await new Promise((resolve) => setImmediate(resolve));
    assert.match(again.notices().join(), /t1 is under way with alice, who goes on with it/);
    assert.deepEqual(again.core.resumable(), ['alice']);
    again.core.resume();
    await again.core.whenIdle();
    assert.deepEqual(board(again), ['t1 completed alice', 't2 completed alice']);
  });

  it('what was ready before waits for the word; what comes after does not', async () => {
    const first = await openTeam(leadSeen({ alice: [[text('Ready.')]] }));
    await spawn(first, 'alice');
    await first.core.whenIdle();
    await first.core.interrupt('alice');
    const stream = endless();
    const other = leadSeen({ alice: [stream.step] });
    const second = await first.reopen(other);
    await create(second, 'Parse');
    await stream.begun;
    assert.deepEqual(board(second), ['t1 in_progress alice']);
    await second.core.releaseTask('t1');
    await second.core.interrupt('alice');
    other.add('alice', [text('I stop.')]);
    await second.core.whenIdle();
    const later = leadSeen({ alice: [[complete('t1')], [text('One.')]], bob: [[text('Ready.')]] });
    const third = await second.reopen(later);
    await third.core.whenIdle();
    assert.deepEqual(board(third), ['t1 pending'], 'nothing runs unasked');
    assert.deepEqual(third.core.resumable(), [], 'it was taken from the only one there is');
  });

  it('ready tasks of a closed window go on with the word of the human', async () => {
    const stream = endless();
    const first = await openTeam(leadSeen({ alice: [stream.step] }));
    await spawn(first, 'alice');
    await stream.begun;
    await first.core.interrupt('alice');
    await first.core.whenIdle();
    await create(first, 'A');
    await first.core.whenIdle();
    assert.deepEqual(board(first), ['t1 pending']);
    const later = leadSeen({ alice: [[text('I see.')], [complete('t1')], [text('One.')]] });
    const again = await first.reopen(later);
    await again.core.whenIdle();
    assert.deepEqual([board(again), again.core.resumable()], [['t1 pending'], ['alice']]);
    again.core.resume();
    await again.core.whenIdle();
    assert.deepEqual([board(again), again.core.resumable()], [['t1 completed alice'], []]);
  });
});
