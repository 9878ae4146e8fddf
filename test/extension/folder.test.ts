// A folder that comes with settings of its own and a damaged `.team/config.json`, and one whose `.team`
// cannot be written.
import assert from 'node:assert/strict';
import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type ModelServer, toolUse } from '../model-server';
import { readConfig, readLog, teamFile } from './support/files';
import { callsOf, freshTeam, rules, startModel, tellLead, words } from './support/model';
import { activate, type HandshakeApi, logged, pending, root, run } from './support/window';

describe('a folder', () => {
  let api: HandshakeApi;
  let server: ModelServer;

  before(async () => {
    api = await activate();
    server = await startModel();
  });
  after(() => server.close());
  afterEach(() => assert.deepEqual(server.problems, []));

  describe('with a damaged config.json', () => {
    it('keeps the damaged file beside, says so, and goes on', async () => {
      await logged(
        /config\.json is damaged \(.+\)\. It is kept as config\.json\.damaged-\d+; a roster is written when there is a team/,
      );
      const beside = (await readdir(teamFile())).filter((name) => name.startsWith('config.json.'));
      assert.equal(beside.length, 1);
      assert.match(
        await readFile(teamFile(beside[0] ?? ''), 'utf8'),
        /^\{"team_name": "sample", "team_id": "5f0c1b"/,
      );
      assert.deepEqual(api.team().members, []);
      server.setBrain(rules({}));
      await run('spawnTeammate', { name: 'dana', role: 'coder', prompt: 'Wait.' });
      await api.whenIdle();
      assert.deepEqual(
        (await readConfig()).members.map(({ name, status }) => ({ name, status })),
        [{ name: 'dana', status: 'idle' }],
      );
    });
  });

  describe('with settings of its own', () => {
    it('case 49: cannot turn permissions off, nor say where words come from', async () => {
      const settings = vscode.workspace.getConfiguration('handshake');
      // What a folder may set has come from the file, so the file was read.
      assert.equal(settings.get('requestDeadlineSeconds'), 77);
      const others = ['permissions.mode', 'approvals.plan', 'provider', 'baseUrl', 'model'];
      assert.deepEqual(
        others.map((name) => settings.get(name)),
        ['ask', 'either', 'auto', '', ''],
      );
      const asked = toolUse('bash', { command: 'echo ran > ran.txt' });
      server.setBrain(rules({ lead: (body) => (words(body) === '' ? undefined : [asked]) }));
      const turn = api.sendToLead('Run it.');
      const { requestId } = await pending('tool_permission', 'lead');
      await api.whenIdle();
      await assert.rejects(access(join(root(), 'ran.txt')));
      await api.decide(requestId, { approve: false });
      await turn;
      const models = new Set(callsOf(server, 'lead').map((body) => body.model));
      assert.equal(models.has('claude-of-the-repository'), false);
    });
  });

  describe('whose .team cannot be written', () => {
    it('says which file and what to do, works on, and catches up later', async () => {
      await freshTeam();
      await api.whenIdle();
      await rm(teamFile(), { recursive: true });
      await writeFile(teamFile(), 'A file of somebody who likes this name.\n');
      server.setBrain(rules({ erin: () => [toolUse('plan_approval', { plan: 'One.' })] }));
      await run('spawnTeammate', { name: 'dana', role: 'coder', prompt: 'Wait.' });
      await api.whenIdle();
      await logged(/\[error\].*\.team cannot be written: .*Move that file away.*works on from its journal/);
      assert.equal(await readFile(teamFile(), 'utf8'), 'A file of somebody who likes this name.\n');
      assert.deepEqual(api.team().members, [{ name: 'dana', role: 'coder', status: 'idle' }]);
      await tellLead('Are you there?');

      await rm(teamFile());
      await run('sendMessage', 'dana', 'Go on.');
      await api.whenIdle();
      assert.deepEqual(
        (await readConfig()).members.map(({ name }) => name),
        ['dana'],
      );
      const told = (await readLog()).flatMap((entry) => (entry.event === 'message' ? [entry.content] : []));
      for (const text of ['Wait.', 'Are you there?', 'Go on.']) assert.ok(told.includes(text), text);
      assert.equal(await readFile(teamFile('.gitignore'), 'utf8'), '*\n');
    });
  });
});
