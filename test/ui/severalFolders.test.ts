import assert from 'node:assert/strict';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempFolder, removeFolder } from '../host/paths';
import { type ModelServer, script, startModelServer, text } from '../model-server';
import { WorkbenchDriver } from './driver';
import { eventually } from './driver-wait';
import { bash, spawn } from './support/lines';
import { KEY } from './support/scene';

describe('a window with several folders', () => {
  let home: string;
  let model: ModelServer;
  let window: WorkbenchDriver;
  const file = (...parts: string[]): string => join(home, ...parts);
  const order = async (...names: string[]): Promise<void> => {
    const text = JSON.stringify({ folders: names.map((path) => ({ path })) });
    // Whole at once: VS Code reads it when it changes, which it may notice late.
    await writeFile(file('both.tmp'), text);
    await rename(file('both.tmp'), file('both.code-workspace'));
  };
  const teamOf = async (name: string): Promise<string | undefined> => {
    try {
      return JSON.parse(await readFile(file(name, '.team', 'config.json'), 'utf8')).team_id;
    } catch {
      // There is none yet.
      return undefined;
    }
  };

  before(async () => {
    home = await makeTempFolder('several');
    for (const name of ['one', 'two']) await mkdir(file(name));
    await order('one', 'two');
    const brain = script({
      lead: [[spawn('cal')], [text('I start cal.')]],
      cal: [[bash('pwd > where.txt')], [text('Done.')]],
    });
    model = await startModelServer({ brain, key: KEY });
    window = await WorkbenchDriver.start({
      folder: file('both.code-workspace'),
      settings: { 'handshake.baseUrl': model.url },
      env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
    });
  });
  after(async () => {
    await window?.close();
    await model?.close();
    await removeFolder(home);
  });
  afterEach(async function () {
    await window.witness(this.currentTest);
  });

  it('works in the first, says so, and takes nothing along when another one becomes the first', async () => {
    await window.openView('Handshake Conversation');
    const conversation = await window.webviewFrame((frame) => frame.locator('.composer').isVisible());
    const input = conversation.getByRole('textbox', { name: 'Message to the lead' });
    await input.fill('Start cal.');
    await input.press('Enter');
    await window.openView('Handshake');
    await window.treeRow('Requests', 'pwd > where.txt').waitFor();
    await window.view('Team').locator('.pane-header').getByText('one').waitFor();
    const first = await eventually(
      () => teamOf('one'),
      (id) => id !== undefined,
      'the team of the first folder',
    );

    await order('two', 'one');
    await window.reload();
    await window.openView('Handshake');
    await window.view('Team').locator('.pane-header').getByText('two').waitFor();
    await window.view('Requests').getByText('Nothing waits for a decision.').waitFor();
    assert.equal(await window.treeRow('Team', 'cal').count(), 0);
    assert.notEqual(await teamOf('two'), first);

    await order('one', 'two');
    await window.reload();
    await window.openView('Handshake');
    await window.view('Team').locator('.pane-header').getByText('one').waitFor();
    await window.treeRow('Requests', 'pwd > where.txt').waitFor();
    await window.clickInlineAction('Requests', 'pwd > where.txt', 'Approve');
    const where = await eventually(
      async () => readFile(file('one', 'where.txt'), 'utf8').catch(() => ''),
      (text) => text !== '',
      'the command to have run',
    );
    assert.equal(where.trim(), file('one'));
    assert.equal(await teamOf('one'), first);
  });
});
