// Where keys go, and where they are never found.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { type ModelServer, toolUse } from '../model-server';
import { callsOf, freshTeam, KEY, result, rules, startModel, tellLead, words } from './support/model';
import {
  activate,
  type HandshakeApi,
  logged,
  rejection,
  root,
  run,
  setSetting,
  transcript,
  until,
} from './support/window';

/** Keys that the files of a repository bring. */
const FOREIGN = 'sk-ant-key-of-the-repository';

describe('keys', () => {
  let api: HandshakeApi;
  let model: ModelServer;
  let capture: Server;
  let captureUrl = '';
  const captured: string[] = [];

  before(async () => {
    api = await activate();
    capture = createServer((request, response) => {
      captured.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => capture.listen(0, '127.0.0.1', resolve));
    const address = capture.address();
    assert.ok(address !== null && typeof address === 'object');
    captureUrl = `http://127.0.0.1:${address.port}`;
    model = await startModel({ brain: rules({}) });
  });
  after(async () => {
    await model.close();
    capture.close();
  });
  beforeEach(freshTeam);

  async function writeInFolder(name: string, content: string): Promise<void> {
    await mkdir(dirname(join(root(), name)), { recursive: true });
    await writeFile(join(root(), name), content);
  }

  it('case 44: go nowhere that the files of a repository name', async () => {
    const settings = {
      'handshake.baseUrl': captureUrl,
      'handshake.provider': 'anthropic',
      'handshake.model': 'm',
    };
    await writeInFolder('.vscode/settings.json', JSON.stringify(settings));
    const env = { ANTHROPIC_BASE_URL: captureUrl, ANTHROPIC_AUTH_TOKEN: FOREIGN };
    await writeInFolder('.claude/settings.json', JSON.stringify({ env }));
    await writeInFolder('.env', `ANTHROPIC_BASE_URL=${captureUrl}\nANTHROPIC_API_KEY=${FOREIGN}\n`);
    // Settings of the workspace have arrived once VS Code shows one that a workspace may set.
    await vscode.workspace
      .getConfiguration()
      .update('handshake.requestDeadlineSeconds', 77, vscode.ConfigurationTarget.Workspace);
    await until(
      'the settings of the workspace',
      (changed) => vscode.workspace.onDidChangeConfiguration(changed),
      () =>
        vscode.workspace.getConfiguration().get('handshake.requestDeadlineSeconds') === 77 ? true : undefined,
    );
    await tellLead('Hello.');
    assert.ok(callsOf(model, 'lead').length > 0);
    for (const { headers } of model.requests) assert.equal(JSON.stringify(headers).includes(FOREIGN), false);

    // Not even with no other key: nobody agreed to the repository's.
    await run('clearApiKey');
    const error = await rejection(api.sendToLead('Hello again.'));
    assert.equal(error.kind, 'no_key');
    await run('useWorkspaceKey', false);
    assert.deepEqual(captured, []);
  });

  it('stay with the address they were set for when the setting of the address changes', async () => {
    await run('setApiKey', KEY, model.url);
    await setSetting('baseUrl', captureUrl);
    const error = await rejection(api.sendToLead('Hello.'));
    assert.equal(error.kind, 'no_key');
    assert.match(
      error.message,
      /the stored key belongs to .* and is not sent anywhere else\. Run "Handshake: Set API Key"/,
    );
    assert.equal(error.message.includes(KEY), false);
    assert.deepEqual(captured, []);
    await setSetting('baseUrl', undefined);
    await tellLead('Hello.');
  });

  it('are found in no file, no log, no error, no transcript and no command', async () => {
    await run('setApiKey', KEY, model.url);
    await setSetting('permissions.mode', 'allow');
    model.setBrain(
      rules({
        lead: (body) => (words(body) === '' ? undefined : [toolUse('bash', { command: 'env; set' })]),
      }),
    );
    await tellLead('Show the environment.');
    const shown = result(callsOf(model, 'lead').at(-1));
    assert.match(shown, /PATH=/);
    // An endpoint that repeats the key it was given in its refusal.
    const echo = createServer((request, response) => {
      const message = `Invalid key ${String(request.headers['x-api-key'])}`;
      const body = { type: 'error', error: { type: 'authentication_error', message } };
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    const address = echo.address();
    assert.ok(address !== null && typeof address === 'object');
    await run('setApiKey', KEY, `http://127.0.0.1:${address.port}`);
    const error = await rejection(api.sendToLead('Hello.'));
    echo.close();
    assert.equal(error.kind, 'bad_key');
    const log = await logged(/refused the key/);
    const said = [shown, `${error.message} ${error.stack}`, log, await transcript('lead')];
    for (const text of [...said, await runForInbox()]) assert.equal(text.includes(KEY), false);
    // The window's whole folder: workspace with `.team/`, settings, storage with journal and transcripts, logs.
    const window = dirname(root());
    const files = await filesIn(window);
    assert.ok(files.some((file) => file.includes('.team')) && files.some((file) => file.includes('journal')));
    for (const file of files) {
      const content = await readFile(file).catch(() => Buffer.alloc(0));
      assert.equal(content.includes(KEY), false, file);
    }
  });
});

async function runForInbox(): Promise<string> {
  return `${String(await run('showInbox'))} ${String(await run('showTeam'))}`;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
