import assert from 'node:assert/strict';
import { join } from 'node:path';
import { root } from '../host/paths';
import { WorkbenchDriver } from './driver';
import { eventually } from './driver-wait';

/** The driver against an extension that has one of each: what it reads and clicks is really there. */
describe('the UI driver', () => {
  let window: WorkbenchDriver;

  before(async () => {
    window = await WorkbenchDriver.start({
      extensions: [join(root, 'test', 'host', 'fixture-extension')],
      settings: { 'fixture.level': 'high' },
      env: { FIXTURE_VARIABLE: 'set' },
    });
  });

  afterEach(async function () {
    await window.witness(this.currentTest);
  });

  after(() => window.close());

  const says = (text: string): Promise<void> => window.statusBarItem(text).waitFor();

  it('starts the extension with user settings and environment', async () => {
    await says('level high, variable set');
    assert.ok((await window.statusBarTexts()).includes('level high, variable set'));
  });

  it('opens a view, reads its badge and rows', async () => {
    assert.equal(await window.badge('Explorer'), undefined);
    await eventually(
      () => window.badge('Fixture'),
      (badge) => badge === '2',
      'the badge',
    );
    await window.openView('Fixture');
    const rows = await eventually(
      () => window.treeRows('Items'),
      (all) => all.length === 3,
      'three rows',
    );
    assert.deepEqual(
      rows.map(({ label, description, level, expanded }) => ({ label, description, level, expanded })),
      [
        { label: 'first', description: 'about first', level: 1, expanded: undefined },
        { label: 'second', description: 'about second', level: 1, expanded: true },
        { label: 'inner', description: 'about inner', level: 2, expanded: undefined },
      ],
    );
    await window.screenshot('driver view');
  });

  it('clicks an inline action and sees the badge go', async () => {
    await window.openView('Fixture');
    await window.clickInlineAction('Items', 'second', 'Approve');
    await says('approved second');
    await eventually(
      () => window.badge('Fixture'),
      (badge) => badge === undefined,
      'no badge',
    );
  });

  it('chooses from a context menu', async () => {
    await window.chooseFromContextMenu('Items', 'first', 'Rename Item');
    await says('renamed first');
  });

  it('answers an input box and a quick pick', async () => {
    await window.runCommand('Fixture: Ask');
    await window.answerInput('alice');
    await eventually(
      () => window.pickLabels(),
      (labels) => labels.length === 3,
      'three entries',
    );
    await window.pick('green');
    await says('alice likes green');
  });

  it('reads a notification and clicks its button', async () => {
    await window.runCommand('Fixture: Tell');
    const [shown] = await eventually(
      () => window.notifications(),
      (all) => all.length === 1,
      'a notification',
    );
    assert.deepEqual(shown, { message: 'Something waits.', buttons: ['Review', 'Later'] });
    await window.clickNotificationButton('Something waits.', 'Review');
    await says('answered Review');
  });

  it('reaches the documents of a webview view and of a webview panel', async () => {
    const view = await window.webviewFrame('Press the view');
    await view.locator('#press').click();
    await says('Press the view: pressed');
    await window.runCommand('Fixture: Open Panel');
    const panel = await window.webviewFrame('Press the panel');
    await panel.locator('#press').click();
    await says('Press the panel: pressed');
  });

  it('changes the theme', async () => {
    await window.setTheme('Dark High Contrast');
    await window.page.locator('.monaco-workbench.hc-black').waitFor();
    await window.screenshot('driver high contrast');
  });

  it('keeps secrets over a reload, and the extension starts again', async () => {
    await window.runCommand('Fixture: Keep a Secret');
    await says('secret stored');
    await window.reload();
    await says('level high, variable set');
    assert.equal((await window.extensionHostPids()).length, 1);
    await window.runCommand('Fixture: Keep a Secret');
    await says('secret is swordfish');
  });

  it('changes user settings', async () => {
    await window.replaceUserSettings({ 'fixture.level': 'low' });
    await says('level low, variable set');
  });

  it('answers a modal dialog', async () => {
    await window.runCommand('Fixture: Confirm');
    await window.clickDialogButton('Yes');
    await says('confirmed Yes');
  });

  it('restarts a killed extension host', async () => {
    const before = await window.extensionHostPids();
    assert.equal(before.length, 1);
    await window.killExtensionHost();
    await window.reload();
    await says('level low, variable set');
    assert.notDeepEqual(await window.extensionHostPids(), before);
  });
});
