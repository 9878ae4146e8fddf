import * as assert from 'node:assert/strict';
import type { TeamEvent } from '../../src/team/events';
import { leftWork } from '../../src/ui/leftWork';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { endless } from './support/turns';

const leadSeen = () => new ScriptedModel({}).always('lead', [text('Seen.')]);

describe('work that was left when the window was closed', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  /** The window is closed while the lead and alice are in their turns; bob has nothing to do. */
  async function reopened(later = leadSeen()): Promise<TestTeam> {
    const [lead, alice] = [endless(), endless()];
    const model = new ScriptedModel({});
    model.add('lead', lead.step);
    model.add('alice', alice.step);
    model.add('bob', [text('Ready.')]);
    const team = await openTeam(model);
    const turn = assert.rejects(team.core.sendToLead('Count the files.'), /was stopped/);
    await lead.begun;
    const ofBob = team.next((event) => event.type === 'turn_ended' && event.member === 'bob');
    await team.core.spawn({ name: 'bob', role: 'tester', prompt: 'Wait.' }, 'human');
    await ofBob;
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await alice.begun;
    const again = await team.reopen(later);
    await turn;
    return again;
  }

  it('is marked on each member that has some, and in /team, over any number of restarts', async () => {
    let team = await reopened();
    for (let restarts = 1; restarts <= 2; restarts++) {
      assert.deepEqual(leftWork(team.core), ['lead', 'alice']);
      assert.equal(
        team.core.describeTeam(),
        [
          `Team: ${team.core.teamName}`,
          '  lead: waits for your word to go on',
          '  bob (tester): idle',
          '  alice (coder): idle, waits for your word to go on',
        ].join('\n'),
      );
      team = await team.reopen();
    }
  });

  it('is marked no longer from the moment of the word, and that is told', async () => {
    const later = leadSeen().always('alice', [text('Done.')]);
    const team = await reopened(later);
    const told: TeamEvent[] = [];
    team.core.on((event) => told.push(event));
    team.core.resume();
    assert.deepEqual(leftWork(team.core), []);
    assert.deepEqual(
      told.flatMap((event) => (event.type === 'member' ? [event.name] : [])),
      ['lead', 'alice'],
    );
    assert.doesNotMatch(team.core.describeTeam(), /your word/);
    await team.core.whenIdle();
    assert.deepEqual(leftWork(team.core), []);
    assert.deepEqual(leftWork((await team.reopen()).core), []);
  });

  it('goes on with what is said to its member meanwhile, which reads both; the others wait on', async () => {
    const later = leadSeen();
    const team = await reopened(later);
    await team.core.sendToLead('And the folders.');
    assert.match(JSON.stringify(later.of('lead')[0]?.messages), /Count the files\.[\s\S]*And the folders\./);
    assert.equal(later.of('lead').length, 1, 'in one call');
    assert.deepEqual(leftWork(team.core), ['alice']);
    assert.deepEqual(later.of('alice'), []);
  });

  it('is nothing that waits once its member has left', async () => {
    const team = await reopened();
    await team.core.forceStop('alice');
    assert.deepEqual(team.core.resumable(), ['lead']);
    assert.deepEqual(leftWork(team.core), ['lead']);
  });

  it('is no hold of a member whose turn has failed since', async () => {
    const later = new ScriptedModel({});
    later.add('lead', () => {
      throw new Error('Broken.');
    });
    const team = await reopened(later);
    await assert.rejects(team.core.sendToLead('And the folders.'), /Broken/);
    assert.equal(team.core.leadStatus().status, 'failed');
    assert.deepEqual(leftWork(team.core), ['alice']);
  });

  it('waits with the answer, not with a word, where a permission is asked', async () => {
    const model = leadSeen();
    model.add('alice', [call('bash', { command: 'touch a' })]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.pending('tool_permission');
    const again = await team.reopen();
    assert.deepEqual(leftWork(again.core), []);
  });

  it('is also a ready task that a teammate would take', async () => {
    const model = leadSeen().always('alice', [text('Ready.')]);
    const team = await openTeam(model);
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    const stream = endless();
    model.add('alice', stream.step);
    await team.core.sendMessage('alice', 'Wait.');
    await stream.begun;
    await team.core.interrupt('alice');
    await team.core.whenIdle();
    await team.core.createTask({ subject: 'Parse', description: '' });
    const again = await team.reopen();
    assert.deepEqual([again.core.activity('alice').hold?.kind, leftWork(again.core)], ['restart', ['alice']]);
    again.core.resume();
    assert.deepEqual(leftWork(again.core), []);
  });

  it('is forgotten with its conversation, unless the lead has not read it yet', async () => {
    const stream = endless();
    const model = new ScriptedModel({});
    model.add('lead', stream.step);
    const team = await openTeam(model);
    const turn = assert.rejects(team.core.sendToLead('Count the files.'), /was stopped/);
    await stream.begun;
    const later = leadSeen();
    const again = await team.reopen(later);
    await turn;
    assert.deepEqual(leftWork(again.core), ['lead']);
    const told = again.next((event) => event.type === 'member' && leftWork(again.core).length === 0);
    await again.core.newConversation();
    await told;
    assert.deepEqual(leftWork(again.core), []);
    await again.core.sendToLead('Hello.');
    assert.doesNotMatch(JSON.stringify(later.of('lead')[0]?.messages), /Count/);
  });
});
