import assert from 'node:assert/strict';
import { text } from '../../model-server';
import { eventually } from '../driver-wait';
import { KEY, type Scene } from '../support/scene';

/** The very first minutes, without a key: the demo. */
export function firstSteps(scene: Scene): void {
  describe('the first steps', () => {
    it('offers the demo in the empty Conversation, one click away, without a key', async () => {
      const { window } = scene;
      await window.openView('Handshake');
      await window.view('Requests').getByText('Nothing waits for a decision.').waitFor();
      await window.screenshot('first steps, Handshake');
      await window.openView('Handshake Conversation');
      const page = await scene.conversation();
      await window.screenshot('first steps, Conversation');
      await page.getByRole('button', { name: 'Run the demo' }).click();
      await page.getByText('A scripted demo answers here, not a language model.').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Run the demo' }).isVisible(), false);
      await page.getByRole('button', { name: 'Spawn alice as a coder. Then request her shutdown.' }).click();
      await page
        .getByText(/alice approved the shutdown \(request [0-9a-f]{8}\) and has shut down\./)
        .waitFor();
      // It is labelled wherever it speaks.
      await page.locator('.assistant .who .tag').first().waitFor();
      await scene.becomes('alice', 'shutdown');
    });

    it('keeps tool calls folded until they are clicked', async () => {
      const page = await scene.conversation();
      const call = page.locator('.entry.tool').filter({ hasText: 'spawn_teammate' });
      const result = call.getByText("Spawned 'alice' (role: coder)");
      assert.equal(await result.isVisible(), false);
      await call.locator('summary').click();
      await result.waitFor();
      await call.locator('summary').click();
      await result.waitFor({ state: 'hidden' });
    });

    it('answers /team and /inbox by itself', async () => {
      const page = await scene.conversation();
      await scene.tell('/team');
      await page.locator('.notice').getByText('alice (coder): shutdown').waitFor();
      await scene.tell('/inbox');
      await page.locator('.notice').getByText('No request is waiting.').waitFor();
      await scene.tell('/teem');
      await page.locator('.notice').getByText("'/teem' is not a command.").waitFor();
      // What was mistyped can be mended.
      const input = page.getByRole('textbox', { name: 'Message to the lead' });
      await eventually(
        () => input.inputValue(),
        (value) => value === '/teem',
        'the words to be given back',
      );
      await input.fill('');
    });
  });
}

/** A wrong key, then the right one. The scenarios after these have it. */
export function firstKey(scene: Scene): void {
  describe('the first key', () => {
    it('shows a refused key in the Conversation, with the button that sets another', async () => {
      const { window } = scene;
      const stored = window.page.locator('.notification-toast').getByText('The key is stored.');
      await window.runCommand('Handshake: Set API Key…');
      await window.answerInput('sk-ant-api-key-that-is-wrong');
      await stored.waitFor();
      await window.runCommand('Notifications: Clear All Notifications');
      await stored.waitFor({ state: 'detached' });
      const page = await scene.conversation();
      await scene.tell('Are you there?');
      const notice = page.locator('.notice.error').last();
      await notice.waitFor();
      assert.match((await notice.textContent()) ?? '', /key/i);
      scene.play({ lead: [[text('Here I am.')]] });
      await notice.getByRole('button', { name: 'Set API key' }).click();
      await window.answerInput(KEY);
      await stored.waitFor();
      await scene.tell('And now?');
      await page.getByText('Here I am.').waitFor();
    });
  });

  describe('a window without a folder', () => {
    it('says so everywhere and offers to open one', async () => {
      const empty = await scene.window.openWindow('none');
      await empty.openView('Handshake');
      const welcome = empty.view('Requests');
      await welcome.getByText('Handshake works on a workspace folder').waitFor();
      await welcome.getByRole('button', { name: 'Open Folder' }).waitFor();
      await empty.screenshot('empty window, Handshake');
      await empty.openView('Handshake Conversation');
      const page = await empty.webviewFrame((frame) => frame.locator('.composer').isVisible());
      await page.getByRole('button', { name: 'Open folder' }).waitFor();
      await empty.screenshot('empty window, Conversation');
      await page.getByRole('textbox', { name: 'Message to the lead' }).fill('Spawn alice');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.locator('.notice').getByText('Open a folder first').waitFor();
      await empty.page.close();
    });
  });
}
