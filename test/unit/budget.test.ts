import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { LanguageModel } from '../../src/model/port';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';

/** The tokens of one call of the scripted model. */
const A_CALL = 15;

const again = () => [call('list_teammates')];

async function refusal(promise: Promise<unknown>): Promise<Error & { kind?: unknown }> {
  return promise.then(
    () => assert.fail('it was not refused'),
    (error: Error) => error,
  );
}

function warnings(team: TestTeam): string[] {
  return team.events.flatMap((event) => (event.type === 'budget' && event.warning ? [event.warning] : []));
}

describe('the tokens of a team', () => {
  afterEach(closeTeams);

  it('are counted by member and by model, and outlive a reload', async () => {
    const model = new ScriptedModel({ lead: [[text('Hello.')], [text('Hello again.')]] });
    const team = await openTeam(model);
    await team.core.sendToLead('Hi.');
    await team.core.sendToLead('Hi.');
    const counted = {
      model: 'script',
      calls: 2,
      input: 20,
      output: 10,
      cacheRead: 0,
      cacheWrite: 0,
      estimated: false,
    };
    assert.deepEqual(team.core.usage('lead'), [counted]);
    assert.deepEqual(team.core.usage(), [counted]);
    const reopened = await team.reopen();
    assert.deepEqual(reopened.core.usage('lead'), [counted]);
    model.add('lead', [text('And again.')]);
    await reopened.core.sendToLead('Hi.');
    assert.equal(reopened.core.usage()[0]?.calls, 3);
  });

  it('are kept as the journal takes them, whatever an endpoint counts', async () => {
    const model = new ScriptedModel({ lead: [[text('Hello.')], [text('Hello again.')]] });
    const counts = { input: 1e300, output: -5, cacheRead: 0.4, cacheWrite: Number.NaN };
    const counting: LanguageModel = {
      label: model.label,
      isDemo: false,
      call: async (...args) => ({ ...(await model.call(...args)), usage: counts }),
    };
    const team = await openTeam(counting);
    await team.core.sendToLead('Hi.');
    await team.core.sendToLead('Hi.');
    const before = team.core.usage('lead');
    assert.deepEqual(
      before.map(({ calls, input, output }) => [calls, input, output]),
      [[2, 1e15, 0]],
    );
    const reopened = await team.reopen();
    assert.deepEqual(reopened.core.usage('lead'), before);
    assert.deepEqual(
      reopened.events.filter(({ type }) => type === 'notice'),
      [],
    );
  });

  it('stand in the journal once for each call, and nowhere with what was said', async () => {
    const team = await openTeam(new ScriptedModel({ lead: [[text('Hello.')]] }));
    await team.core.sendToLead('Hi.');
    await team.core.whenIdle();
    await team.core.dispose();
    const folder = path.join(team.storageDir, 'journal');
    const files = await fs.readdir(folder);
    const lines = (await Promise.all(files.map((file) => fs.readFile(path.join(folder, file), 'utf8'))))
      .join('')
      .split('\n')
      .filter((line) => line.includes('"t":"usage"'));
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"model":"script","calls":1,"input":10,"output":5/);
  });
});

describe('case 46: a member far past its budget', () => {
  afterEach(closeTeams);

  it('stops before the call that would be beyond it, in a state of its own, and goes on when it is raised', async () => {
    const model = new ScriptedModel({}).always('lead', again);
    const team = await openTeam(model, { maxTurns: 100, tokenBudget: { team: 0, member: 1000 } });
    const error = await refusal(team.core.sendToLead('Work for ever.'));
    assert.equal(error.kind, 'budget');
    assert.match(
      error.message,
      /^lead has used 1,005 tokens of the 1,000 tokens it may use\. Raise its budget/,
    );
    await team.core.whenIdle();
    assert.equal(model.of('lead').length, Math.ceil(1000 / A_CALL));
    assert.deepEqual(team.core.leadStatus(), { status: 'waiting', reason: error.message });
    assert.equal(team.core.activity('lead').hold?.kind, 'budget');
    assert.deepEqual(team.core.budget('lead'), { used: 1005, limit: 1000, estimated: false });

    const before = model.requests.length;
    model.always('lead', [text('Done.')]);
    await team.core.allowTokens(2000, 'lead');
    await team.core.whenIdle();
    assert.equal(model.requests.length, before + 1);
    assert.equal(team.core.leadStatus().status, 'idle');
    assert.equal(team.core.activity('lead').hold, undefined);
  });

  it('is warned about once at 80 %, before it stops', async () => {
    const model = new ScriptedModel({}).always('lead', again);
    const team = await openTeam(model, { tokenBudget: { team: 0, member: 100 } });
    await refusal(team.core.sendToLead('Work for ever.'));
    assert.deepEqual(warnings(team), ['lead has used 90 tokens of the 100 tokens it may use.']);
  });

  it('takes no further call for mail, and is told once to the lead', async () => {
    const model = new ScriptedModel({
      lead: [[call('spawn_teammate', { name: 'alice', role: 'coder', prompt: 'Work for ever.' })]],
    })
      .always('lead', [text('Noted.')])
      .always('alice', again);
    const team = await openTeam(model, { tokenBudget: { team: 0, member: 150 } });
    await team.core.sendToLead('Start alice.');
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 10);
    assert.equal(team.core.member('alice')?.status, 'waiting');
    assert.equal((await team.config()).members[0]?.status, 'waiting');
    const told = () =>
      team.events.filter(
        (event) =>
          event.type === 'message' && event.message.from === 'alice' && event.message.type === 'error',
      );
    assert.equal(told().length, 1);
    await team.core.sendMessage('alice', 'How far are you?');
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 10);
    assert.equal(told().length, 1);
    model.always('alice', [text('Here is my report.')]);
    await team.core.allowTokens(null, 'alice');
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, 11);
    assert.equal(team.core.member('alice')?.status, 'idle');
  });

  it('holds for the team as a whole, whoever used it up', async () => {
    const model = new ScriptedModel({
      lead: [[call('spawn_teammate', { name: 'alice', role: 'coder', prompt: 'Work for ever.' })]],
    })
      .always('lead', [text('Noted.')])
      .always('alice', again);
    const team = await openTeam(model, { tokenBudget: { team: 300, member: 0 } });
    await team.core.sendToLead('Start alice.');
    await team.core.whenIdle();
    const { used } = team.core.budget();
    assert.ok(used >= 300 && used < 300 + 2 * A_CALL, String(used));
    const error = await refusal(team.core.sendToLead('Are you there?'));
    assert.match(error.message, /^The team has used 3\d\d tokens of the 300 tokens it may use\./);
    model.always('alice', [text('Done.')]);
    await team.core.allowTokens(1000);
    await team.core.whenIdle();
    assert.equal(team.core.leadStatus().status, 'idle');
    assert.equal(team.core.member('alice')?.status, 'idle');
  });

  it('is kept up after a reload too, until it is raised; what was allowed then outlives the next one', async () => {
    const model = new ScriptedModel({}).always('lead', again);
    const team = await openTeam(model, { tokenBudget: { team: 0, member: 60 } });
    await refusal(team.core.sendToLead('Work for ever.'));
    const reopened = await team.reopen();
    assert.equal(reopened.core.leadStatus().status, 'waiting');
    assert.deepEqual(reopened.core.resumable(), []);
    const calls = model.requests.length;
    model.always('lead', [text('Done.')]);
    await reopened.core.allowTokens(500, 'lead');
    await reopened.core.whenIdle();
    assert.equal(model.requests.length, calls + 1);
    const last = await reopened.reopen();
    assert.equal(last.core.budget('lead').limit, 500);
  });

  it('goes on when the setting is raised', async () => {
    const model = new ScriptedModel({}).always('lead', again);
    const team = await openTeam(model, { tokenBudget: { team: 0, member: 60 } });
    await refusal(team.core.sendToLead('Work for ever.'));
    model.always('lead', [text('Done.')]);
    team.settings.tokenBudget = { team: 0, member: 1000 };
    team.core.recheck('budget');
    await team.core.whenIdle();
    assert.equal(team.core.leadStatus().status, 'idle');
  });
});
