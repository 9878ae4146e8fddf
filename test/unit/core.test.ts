import * as assert from 'node:assert/strict';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';

describe('a team', () => {
  afterEach(closeTeams);

  it('case 1: ends a teammate that approves its shutdown, and leaves it no later mail', async () => {
    const model = new ScriptedModel({
      lead: [
        [call('spawn_teammate', { name: 'alice', role: 'coder', prompt: 'Wait for instructions.' })],
        [call('shutdown_request', { teammate: 'alice' })],
        [text('Asked.')],
        [text('alice is done.')],
        [text('alice is done.')],
        [text('That came too late.')],
      ],
      alice: [
        (request) => {
          const last = request.messages.at(-1);
          const mail = JSON.stringify(last);
          const id = /request_id=\\"([0-9a-f]{8})/.exec(mail)?.[1];
          return id ? [call('shutdown_response', { request_id: id, approve: true })] : [text('Ready.')];
        },
        (request) => {
          const id = /request_id=\\"([0-9a-f]{8})/.exec(JSON.stringify(request.messages.at(-1)))?.[1];
          return [call('shutdown_response', { request_id: id, approve: true })];
        },
      ],
    });
    const team = await openTeam(model);
    await team.core.sendToLead('Spawn alice as a coder. Then request her shutdown.');
    await team.core.whenIdle();
    const [request] = team.core.requests();
    assert.match(request?.requestId ?? '', /^[0-9a-f]{8}$/);
    assert.equal(request?.status, 'approved');
    assert.equal(request?.decidedBy, 'alice');
    assert.equal(request?.via, 'tool');
    assert.deepEqual(
      (await team.config()).members.map(({ name, role, status }) => ({ name, role, status })),
      [{ name: 'alice', role: 'coder', status: 'shutdown' }],
    );
    const calls = model.of('alice').length;
    await assert.rejects(team.core.sendMessage('alice', 'Are you there?'), /'alice' has shut down/);
    await team.core.whenIdle();
    assert.equal(model.of('alice').length, calls);
  });
});
