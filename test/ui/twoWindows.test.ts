import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { endProcess } from '../host/extension-hosts';
import { eventually } from './driver-wait';
import type { Workbench } from './driver-workbench';
import { spawn, submit } from './support/lines';
import { KEY, Scene } from './support/scene';

const STATUS = '.statusbar-item[id$="handshake.status"]';

/** The same folder in two windows of one browser. */
describe('Handshake in two windows', () => {
  const scene = new Scene();
  let other: Workbench;
  let firstHosts: readonly number[] = [];

  before(async () => {
    await scene.start();
    await scene.window.openView('Handshake');
    await scene.window.runCommand('Handshake: Set API Key…');
    await scene.window.answerInput(KEY);
    await scene.settle();
    firstHosts = await scene.window.extensionHostPids();
  });
  after(() => scene.close());

  afterEach(async function () {
    await scene.window.witness(this.currentTest);
    if (this.currentTest?.state === 'failed') await other?.screenshot(`other ${this.currentTest.title}`);
    assert.deepEqual(scene.model.problems.splice(0), []);
  });

  const status = (window: Workbench) => window.page.locator(STATUS);
  const becomesReadOnly = (window: Workbench) => status(window).filter({ hasText: 'read-only' }).waitFor();
  const runs = (window: Workbench) => status(window).filter({ hasNotText: 'read-only' }).waitFor();
  const banner = (window: Workbench): Promise<Frame> =>
    window.webviewFrame((frame) => frame.locator('.read-only').isVisible());

  it('case 21: the second one shows the team, and changes nothing', async () => {
    scene.play({ lead: [[spawn('ann', { plan: true })]], ann: [[submit('# Add a search')]] });
    await scene.tell('Start ann.');
    const { id } = await scene.pending('ann');

    other = await scene.window.openWindow();
    await other.openView('Handshake');
    await becomesReadOnly(other);
    await other.treeRow('Requests', id).waitFor();
    await other.treeRow('Team', 'ann').waitFor();
    await other.view('Team').getByText('another window').waitFor();
    await other.view('Requests').getByText('another window').waitFor();
    // Nothing that waits can be answered here.
    assert.equal(await other.badge('Handshake'), undefined);
    await other.treeRow('Requests', id).hover();
    assert.equal(await other.inlineAction('Requests', id, 'Approve').count(), 0);
    await other.treeRow('Requests', id).click();
    const shown = `body[data-request-id="${id}"] .outcome:not([hidden])`;
    const panel = await other.webviewFrame((frame) => frame.locator(shown).isVisible());
    await panel.getByText('another window').waitFor();
    assert.equal(await panel.getByRole('button', { name: 'Approve' }).isVisible(), false);
    await other.runCommand('Handshake: Open Conversation');
    const page = await banner(other);
    await page.getByText('Start ann.').waitFor();
    assert.equal(await page.locator('.composer').isVisible(), false);
    await runs(scene.window);
    await scene.goesThrough(id, 'opened');
  });

  it('case 21: it takes over from the living one, which goes read-only in place', async () => {
    const { id } = await scene.pending('ann');
    await (await banner(other)).getByRole('button', { name: 'Take Over' }).click();
    await runs(other);
    await becomesReadOnly(scene.window);
    await (await banner(scene.window)).getByText('another window').waitFor();
    await other.clickInlineAction('Requests', id, 'Approve');
    await scene.endsAs(id, 'approved');
    await eventually(
      async () => (await scene.window.treeRows('Requests')).some(({ label }) => label === 'Decided'),
      (seen) => seen,
      'the first window to see the decision',
    );
  });

  it('case 21: when it is gone the first one says so, and takes the team back', async () => {
    const { window } = scene;
    await other.page.close();
    // A page that is left while it is busy can leave its host behind, which waits for it.
    for (const pid of await window.extensionHostPids()) if (!firstHosts.includes(pid)) endProcess(pid);
    await window.clickNotificationButton('is gone', 'Take Over');
    await runs(window);
    await window.treeRow('Team', 'ann').waitFor();
    await scene.conversation();
  });
});
