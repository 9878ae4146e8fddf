import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { activate, type HandshakeApi, rejection, run } from './support/window';

describe('case 43: a window without a folder', () => {
  let api: HandshakeApi;

  before(async () => {
    api = await activate();
  });

  it('has the API, and a team of nobody', async () => {
    assert.equal(vscode.workspace.workspaceFolders, undefined);
    assert.deepEqual(api.team(), { name: '', members: [] });
    assert.deepEqual(api.requests(), []);
    await api.whenIdle(1000);
  });

  it('refuses every command that needs a folder, and says to open one', async () => {
    const input = { name: 'alice', role: 'coder', prompt: 'Write' };
    const commands: [string, ...unknown[]][] = [
      ['sendToLead', 'Spawn alice as a coder.'],
      ['spawnTeammate', input],
      ['sendMessage', 'lead', 'Hello'],
      ['broadcast', 'Hello'],
      ['approve', 'a1b2c3d4'],
      ['reject', 'a1b2c3d4', 'No.'],
      ['review', 'a1b2c3d4'],
      ['requestShutdown', 'alice'],
      ['requestPlan', 'alice'],
      ['forceStop', 'alice'],
      ['openTranscript', 'lead'],
    ];
    for (const [command, ...args] of commands) {
      const { message } = await rejection(run(command, ...args));
      assert.equal(message, 'Open a folder first: Handshake works on a workspace folder.', command);
    }
  });

  it('refuses other extensions too, with a code', async () => {
    for (const attempt of [() => api.sendToLead('Hello'), () => api.decide('a1b2c3d4', { approve: true })]) {
      const { message, code } = await rejection(attempt());
      assert.match(message, /^Open a folder first/);
      assert.equal(code, 'no_team');
    }
  });

  it('has written nothing where it stands', () => {
    for (const folder of ['/', process.cwd(), homedir()]) {
      assert.equal(existsSync(join(folder, '.team')), false, folder);
    }
  });
});
