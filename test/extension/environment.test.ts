// An extension host that has a key and a proxy in its environment.
import assert from 'node:assert/strict';
import { type ModelServer, toolUse } from '../model-server';
import { memberInConfig } from './support/files';
import { callsOf, freshTeam, KEY, result, rules, startModel, tellLead, words } from './support/model';
import {
  activate,
  type HandshakeApi,
  logged,
  rejection,
  run,
  setSetting,
  transcript,
} from './support/window';

const FAKE = 'sk-ant-fake-key-of-the-environment';

describe('an environment with a key and a proxy', () => {
  let api: HandshakeApi;
  let server: ModelServer;

  before(async () => {
    api = await activate();
    assert.equal(process.env.ANTHROPIC_API_KEY, FAKE);
  });
  after(() => server?.close());

  it('names the endpoint of the environment and the proxy left in HTTP_PROXY', async () => {
    const error = await rejection(api.sendToLead('Look at the tests.'));
    assert.equal(error.kind, 'unreachable');
    assert.match(error.message, /^http:\/\/model\.invalid:8080 could not be reached: /);
    assert.match(
      error.message,
      /A proxy is set and may be the cause: HTTP_PROXY \(127\.0\.0\.1:9\)\. If you do not need it, remove it/,
    );
    assert.equal(error.message.includes(FAKE), false);
    await logged(/\[error\] lead: unreachable: .*HTTP_PROXY/);
    await run('spawnTeammate', { name: 'dana', role: 'coder', prompt: 'Wait.' });
    await api.whenIdle();
    const { status, reason = '' } = await memberInConfig('dana');
    assert.equal(status, 'failed');
    assert.match(reason, /HTTP_PROXY/);
  });

  it('goes on with a key that the human sets, and sends the one of the environment nowhere', async () => {
    server = await startModel({ brain: rules({}) });
    await tellLead('Go on.');
    const last = JSON.stringify(callsOf(server, 'lead').at(-1)?.messages);
    assert.ok(last.includes('Look at the tests.') && last.includes('Go on.'));
    for (const { headers } of server.requests) {
      assert.equal(JSON.stringify(headers).includes(FAKE), false);
      assert.equal(headers['x-api-key'], KEY);
    }
  });

  it('case 33: gives no key to the commands of members', async () => {
    await freshTeam();
    await setSetting('permissions.mode', 'allow');
    server.setBrain(
      rules({ lead: (body) => (words(body) === '' ? undefined : [toolUse('bash', { command: 'env' })]) }),
    );
    await tellLead('Show the environment.');
    const environment = result(callsOf(server, 'lead').at(-1));
    assert.match(environment, /^PATH=/m);
    assert.doesNotMatch(environment, /ANTHROPIC_|VSCODE_/);
    for (const secret of [FAKE, KEY]) assert.equal(environment.includes(secret), false);
    assert.equal((await transcript('lead')).includes(FAKE), false);
    assert.deepEqual(server.problems, []);
  });
});
