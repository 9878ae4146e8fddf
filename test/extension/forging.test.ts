// Answers that other extensions, keybindings and tasks could fake: ids that are not quite those of a request.
import assert from 'node:assert/strict';
import type { ModelServer } from '../model-server';
import { readLog } from './support/files';
import { freshTeam, plansFirst, rules, startModel } from './support/model';
import { activate, type HandshakeApi, pending, rejection, run, setSetting } from './support/window';

describe('forging: ids by the API and by commands', () => {
  let api: HandshakeApi;
  let server: ModelServer;

  before(async () => {
    api = await activate();
    server = await startModel();
    await freshTeam();
  });
  after(() => server.close());

  it('decide nothing unless they are the very id of what waits, and each attempt is in the log', async () => {
    await setSetting('approvals.plan', 'human');
    server.setBrain(rules({ bob: plansFirst() }));
    await run('spawnTeammate', { name: 'bob', role: 'coder', prompt: 'Work.', requirePlan: true });
    const { requestId: id } = await pending('plan_approval', 'bob');
    await api.whenIdle();
    const before = api.requests();
    const forged = [
      id.replace(/./, (digit) => (digit === 'a' ? 'b' : 'a')),
      `${id}0`,
      id.slice(1),
      `${id}-answer`,
      id.replace(/^/, '\u200b'),
      '__proto__',
      'constructor',
    ];
    for (const requestId of forged) {
      for (const attempt of [
        () => api.decide(requestId, { approve: true }),
        () => run('approve', requestId),
        () => run('reject', requestId, 'No.'),
      ]) {
        assert.match(
          (await rejection(Promise.resolve(attempt()))).message,
          /^Unknown request_id '/,
          requestId,
        );
      }
    }
    await api.whenIdle();
    assert.deepEqual(api.requests(), before);
    const refusals = (await readLog()).filter((entry) => entry.event === 'refusal');
    assert.deepEqual(
      refusals.map(({ code, by }) => [code, by]),
      Array(3 * forged.length).fill(['unknown_request', 'human']),
    );
    await api.decide(id, { approve: false });
    assert.equal(api.requests().at(-1)?.status, 'rejected');
    await run('forceStop', 'bob');
    await api.whenIdle();
  });
});
