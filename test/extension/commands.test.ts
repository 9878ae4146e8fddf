import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { HandshakeApi, RequestSnapshot } from '../../src/ui/api';
import { Commands } from '../../src/ui/contributions';

/** The commands as other extensions, keybindings and tests call them, with arguments. The demo speaks. */
describe('commands with arguments', () => {
  let api: HandshakeApi;
  const run = <T>(command: string, ...args: unknown[]) => vscode.commands.executeCommand<T>(command, ...args);

  before(async () => {
    const extension = vscode.extensions.getExtension<HandshakeApi>('handshake.handshake-team');
    assert.ok(extension);
    api = await extension.activate();
  });

  /** The next request that is pending and fits. */
  function pending(fits: (request: RequestSnapshot) => boolean): Promise<RequestSnapshot> {
    return new Promise((resolve) => {
      let subscription: vscode.Disposable | undefined;
      const look = () => {
        const found = api.requests().find((request) => request.status === 'pending' && fits(request));
        if (!found) return false;
        subscription?.dispose();
        resolve(found);
        return true;
      };
      if (!look()) subscription = api.onDidChange(look);
    });
  }

  it('are all registered', async () => {
    const known = new Set(await vscode.commands.getCommands(true));
    for (const command of Object.values(Commands)) assert.ok(known.has(command), command);
  });

  it('start a teammate, and refuse a reserved name with a sentence', async () => {
    const input = { name: 'Dana', role: 'tester', prompt: 'Run the tests with npm test.' };
    assert.deepEqual(Object.keys((await run<object>(Commands.spawnTeammate, input)) ?? {}), [
      'name',
      'role',
      'status',
    ]);
    assert.equal(api.team().members[0]?.name, 'dana');
    await assert.rejects(
      async () => run(Commands.spawnTeammate, { ...input, name: 'lead' }),
      /'lead' is reserved/,
    );
    await assert.rejects(async () => run(Commands.spawnTeammate, { name: 'eve' }), /teammate/);
  });

  it('reject a request without asking, once', async () => {
    const request = await pending((r) => r.kind === 'tool_permission' && r.from === 'dana');
    const decided = await run<RequestSnapshot>(Commands.reject, request.requestId, 'Not now.');
    assert.equal(decided?.status, 'rejected');
    assert.equal(decided?.feedback, 'Not now.');
    assert.equal(decided?.via, 'command');
    assert.equal(decided?.decidedBy, 'human');
    await assert.rejects(async () => run(Commands.approve, request.requestId), /already rejected by human/);
    await assert.rejects(api.decide(request.requestId, { approve: true }), { code: 'already_decided' });
    await assert.rejects(async () => run(Commands.approve, 'ffffffff'), /Unknown request_id 'ffffffff'/);
    await assert.rejects(api.decide('ffffffff', { approve: true }), { code: 'unknown_request' });
    await api.whenIdle(30_000);
  });

  it('give copies to other extensions', () => {
    const team = api.team();
    team.members.pop();
    assert.equal(api.team().members.length, 1);
    const [request] = api.requests();
    assert.ok(request);
    request.status = 'approved';
    assert.equal(api.requests()[0]?.status, 'rejected');
  });

  it('take the arguments of a keybinding, which come as one list', async () => {
    const reached = await run<number>(Commands.broadcast, ['Hello everybody']);
    assert.equal(reached, 2, 'the lead and dana');
    await api.whenIdle(30_000);
  });

  it('show the team and what waits, and return it as text', async () => {
    assert.match((await run<string>(Commands.showTeam)) ?? '', /dana/);
    assert.equal(typeof (await run<string>(Commands.showInbox)), 'string');
  });

  it('open a transcript as a read-only markdown document', async () => {
    await run(Commands.openTranscript, 'dana');
    const document = vscode.window.activeTextEditor?.document;
    assert.equal(document?.uri.scheme, 'handshake-transcript');
    assert.equal(document?.languageId, 'markdown');
    assert.match(document?.getText() ?? '', /^# Transcript of dana/);
    assert.match(document?.getText() ?? '', /npm test/);
    await assert.rejects(async () => run(Commands.openTranscript, 'nobody'), /nobody/);
  });

  it('request a shutdown, force stop, and clean up', async () => {
    const request = await run<RequestSnapshot>(Commands.requestShutdown, 'dana');
    assert.match(request?.requestId ?? '', /^[0-9a-f]{8}$/);
    await api.whenIdle(30_000);
    assert.equal(api.team().members[0]?.status, 'shutdown');
    await run(Commands.cleanUpTeam);
    assert.deepEqual(api.team().members, []);
  });

  it('mirror the roster for other programs', async () => {
    await run(Commands.spawnTeammate, { name: 'erin', role: 'tester', prompt: 'Wait.' });
    await api.whenIdle(30_000);
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
    const config: unknown = JSON.parse(await readFile(path.join(folder, '.team', 'config.json'), 'utf8'));
    assert.match(JSON.stringify(config), /"erin"/);
  });
});
