import * as assert from 'node:assert/strict';
import type { TeamMessage } from '../../src/protocol';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';

describe('assignments: the lead hears of every result', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  const toLead = (team: TestTeam): TeamMessage[] =>
    team.events.flatMap((event) =>
      event.type === 'message' && event.message.to === 'lead' && event.message.from !== 'human'
        ? [event.message]
        : [],
    );

  const spawnBob = (team: TestTeam, requirePlan = false) =>
    team.core.spawn({ name: 'bob', role: 'coder', prompt: 'Go.', requirePlan }, 'lead');

  it('after a failure and a retry', async () => {
    const model = new ScriptedModel({
      bob: [
        () => {
          throw new Error('out of words');
        },
        [text('Finished after all.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await spawnBob(team);
    await team.core.whenIdle();
    await team.core.retry('bob');
    await team.core.whenIdle();
    assert.deepEqual(
      toLead(team).map(({ type }) => type),
      ['error', 'result', 'idle_notification'],
    );
  });

  it('at the limit: what comes next goes on with the same task and its approved plan', async () => {
    const model = new ScriptedModel({
      bob: [
        [call('plan_approval', { plan: 'Write a.' })],
        [text('Waiting.')],
        [call('list_nothing')],
        [call('list_nothing')],
        [call('write_file', { path: 'a', content: 'x' })],
        [text('Done.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model, { maxTurns: 2 });
    await spawnBob(team, true);
    const { requestId } = await team.pending('plan_approval');
    await team.core.whenIdle();
    await team.core.decide({ requestId, approve: true, by: 'human', via: 'ui' });
    await team.core.whenIdle();
    assert.equal(team.core.gateOf('bob'), 'approved');
    await team.core.sendMessage('bob', 'Go on.');
    await team.core.whenIdle();
    assert.equal(team.core.gateOf('bob'), 'approved');
    assert.equal(toLead(team).at(-2)?.content, 'Done.');
  });

  it('after a restart in the middle of a turn, once the human lets it go on', async () => {
    let reached: () => void = () => undefined;
    const streaming = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const model = new ScriptedModel({
      bob: [
        (_, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            reached();
          }),
      ],
    }).always('lead', [text('Seen.')]);
    const first = await openTeam(model);
    await spawnBob(first);
    await streaming;
    const second = await first.reopen(
      new ScriptedModel({ bob: [[text('Finished later.')]] }).always('lead', [text('Seen.')]),
    );
    assert.deepEqual(second.core.resumable(), ['bob']);
    second.core.resume();
    await second.core.whenIdle();
    assert.deepEqual(second.core.resumable(), []);
    assert.deepEqual(
      toLead(second).map(({ type, content }) => `${type}: ${content}`),
      ['result: Finished later.', 'idle_notification: bob is idle.'],
    );
  });

  it('a message to an idle teammate is a new task, whose plan is not the old one', async () => {
    const model = new ScriptedModel({
      bob: [
        [call('plan_approval', { plan: 'P' })],
        [text('Waiting.')],
        [text('Done.')],
        [call('write_file', { path: 'b', content: 'x' })],
        [call('plan_approval', { plan: 'P2' })],
        [text('Waiting again.')],
      ],
    }).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await spawnBob(team, true);
    const { requestId } = await team.pending('plan_approval');
    await team.core.whenIdle();
    await team.core.decide({ requestId, approve: true, by: 'human', via: 'ui' });
    await team.core.whenIdle();
    await team.core.sendMessage('bob', 'And another thing.');
    await team.core.whenIdle();
    assert.match(JSON.stringify(model.of('bob').at(-1)?.messages), /Blocked: plan status is required/);
  });
});

describe('two windows on one folder', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('do not hand each other their mirrors back and forth', async () => {
    const { promises: fs } = await import('node:fs');
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('Hello');
    await team.core.whenIdle();
    const lines = ['ext-lead.jsonl.taken-a-b-0-3', '0f0e6f4e-3d0c-4bb1-9f51-7a2f2f0c1a11'].map((id) => ({
      id,
      type: 'message',
      from: 'human',
      content: 'GO',
      timestamp: 1,
      team_id: '5a0d8a0e-0000-4000-8000-000000000000',
    }));
    const told = team.next((event) => event.type === 'notice');
    await fs.appendFile(
      `${team.root}/.team/inbox/lead.jsonl`,
      lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
    assert.match(JSON.stringify(await told), /Messages of another team lie/);
    await team.core.whenIdle();
    assert.equal(model.of('lead').length, 1);
  });

  it('is not what a program is that gives its lines ids and times', async () => {
    const { promises: fs } = await import('node:fs');
    const model = new ScriptedModel({}).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    await team.core.sendToLead('Hello');
    await team.core.whenIdle();
    const line = {
      id: '0f0e6f4e-3d0c-4bb1-9f51-7a2f2f0c1a11',
      type: 'message',
      from: 'ci',
      content: 'It broke.',
      timestamp: 1,
      external: true,
    };
    const come = team.next((event) => event.type === 'message' && event.message.external === true);
    await fs.appendFile(`${team.root}/.team/inbox/lead.jsonl`, `${JSON.stringify(line)}\n`);
    await come;
    await team.core.whenIdle();
    assert.match(JSON.stringify(model.of('lead').at(-1)?.messages), /external.*It broke/);
  });
});

describe('cleaning up', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  it('leaves a namesake that was started meanwhile', async () => {
    const model = new ScriptedModel({}).always('bob', [text('Ready.')]).always('lead', [text('Seen.')]);
    const team = await openTeam(model);
    const bob = { name: 'bob', role: 'coder', prompt: 'Go.' };
    await team.core.spawn(bob, 'lead');
    await team.core.whenIdle();
    await team.core.forceStop('bob');
    const [spawned] = await Promise.all([team.core.spawn(bob, 'lead'), team.core.cleanUpTeam()]);
    assert.equal(spawned.incarnation, 2);
    await team.core.whenIdle();
    assert.deepEqual(
      team.core.members().map(({ name, incarnation }) => `${name} ${incarnation}`),
      ['bob 2'],
    );
  });
});
