import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { type ModelServer, startModelServer, text } from '../../model-server';
import { eventually } from '../driver-wait';
import type { Workbench } from '../driver-workbench';
import type { Scene } from '../support/scene';

/** The key that stands in a file of the workspace; nobody else has it. */
const FOREIGN = 'sk-ant-key-that-came-with-the-folder';

/** A folder that brings a key and an address of its own, in a window that has no other key. */
export function workspaceKey(scene: Scene): void {
  describe('case 44: a workspace that brings a key and its address', () => {
    let window: Workbench;
    let page: Frame;
    let first: ModelServer;
    let second: ModelServer;
    const folder = (): string => join(scene.file('..'), 'brings-a-key');
    const bring = ({ url }: ModelServer) =>
      writeFile(join(folder(), '.env'), `ANTHROPIC_BASE_URL=${url}\nANTHROPIC_API_KEY=${FOREIGN}\n`);
    const question = (server: ModelServer): string =>
      `This workspace has a model key in .env. With it, everything that the team reads and says goes to ${server.url}. Use it in this workspace?`;
    const asked = (words: string) =>
      eventually(
        () => window.notifications(),
        (all) => all.some(({ message }) => message === words),
        `the question '${words}'`,
      );
    const tell = async (words: string): Promise<void> => {
      const input = page.getByRole('textbox', { name: 'Message to the lead' });
      await input.fill(words);
      await input.press('Enter');
    };

    before(async () => {
      first = await startModelServer({ brain: () => [text('The first address answers.')], key: FOREIGN });
      second = await startModelServer({ brain: () => [text('The second address answers.')], key: FOREIGN });
      await mkdir(join(folder(), '.vscode'), { recursive: true });
      await writeFile(
        join(folder(), '.vscode', 'settings.json'),
        JSON.stringify({ 'handshake.baseUrl': first.url, 'handshake.provider': 'anthropic' }),
      );
      await bring(first);
      window = await scene.window.openWindow(folder());
      await window.openView('Handshake Conversation');
      page = await window.webviewFrame((frame) => frame.locator('.composer').isVisible());
    });
    after(async () => {
      await window.page.close();
      await first.close();
      await second.close();
    });

    it('is asked about, with the file and the address, and nothing goes there without an answer', async () => {
      await asked(question(first));
      await window.screenshot('workspace key, question');
      await tell('Is anybody there?');
      await page.locator('.notice.error').last().waitFor();
      assert.deepEqual(first.requests, []);
      // Who waits for a key goes on with it.
      await window.clickNotificationButton('This workspace has a model key', 'Use It Here');
      await page.getByText('The first address answers.').first().waitFor();
      assert.deepEqual(second.requests, []);
    });

    it('is asked about again when its address is another, which gets nothing either', async () => {
      await bring(second);
      const before = first.requests.length;
      const errors = await page.locator('.notice.error').count();
      await tell('Still there?');
      await asked(question(second));
      await eventually(
        () => page.locator('.notice.error').count(),
        (count) => count > errors,
        'the error that no key can be used',
      );
      await window.clickNotificationButton(second.url, 'Not Now');
      assert.deepEqual([second.requests.length, first.requests.length], [0, before]);
    });

    it('counts again as agreed to when the file is as it was, until that is taken back', async () => {
      await bring(first);
      const answers = page.getByText('The first address answers.');
      const count = await answers.count();
      await tell('Back again?');
      await eventually(
        () => answers.count(),
        (now) => now > count,
        'another answer of the first address',
      );
      await window.runCommand('Handshake: Use the Key of This Workspace…');
      await eventually(
        () => window.notifications(),
        (all) => all.some(({ message }) => message === 'The key in .env is no longer used.'),
        'the word that it is taken back',
      );
      const before = first.requests.length;
      const errors = await page.locator('.notice.error').count();
      await tell('Once more?');
      await eventually(
        () => page.locator('.notice.error').count(),
        (now) => now > errors,
        'the error that there is no key',
      );
      assert.equal(first.requests.length, before);
    });
  });
}
