import assert from 'node:assert/strict';
import { text } from '../../model-server';
import { eventually } from '../driver-wait';
import { held, newsOf, spawn } from '../support/lines';
import type { Scene } from '../support/scene';

/** What a person does with tasks in the Board view; all are done in the end, so that no later teammate takes one. */
export function board(scene: Scene): void {
  describe('the Board', () => {
    before(async () => {
      await scene.fresh();
      if (await scene.window.page.locator('.part.panel:visible').count()) {
        await scene.window.runCommand('View: Close Panel');
      }
    });

    const works = held();
    after(() => works.release());

    /** The tasks of a group, from top to bottom. */
    const group = async (label: string): Promise<string[]> => {
      const rows = await scene.window.treeRows('Board');
      const start = rows.findIndex((row) => row.level === 1 && row.label === label);
      if (start < 0) return [];
      const end = rows.findIndex((row, index) => index > start && row.level === 1);
      return rows.slice(start + 1, end < 0 ? undefined : end).map((row) => row.label);
    };
    const becomes = (label: string, tasks: string[]): Promise<string[]> =>
      eventually(
        () => group(label),
        (found) => found.join() === tasks.join(),
        `${label}: ${tasks.join()}`,
      );

    it('takes new tasks, with what each comes after', async () => {
      const { window } = scene;
      const { page } = window;
      await window.view('Board').getByText('No tasks yet.').waitFor();
      await window.view('Board').getByRole('button', { name: 'Create a Task' }).click();
      await window.answerInput('Write the parser');
      await window.answerInput('It reads notes as JSON.');
      await becomes('Ready', ['Write the parser']);

      await window.runCommand('Handshake: Create a Task…');
      await window.answerInput('Test the parser');
      await window.answerInput('');
      await window.quickInput.locator('.monaco-list-row').filter({ hasText: 'Write the parser' }).click();
      await page.keyboard.press('Enter');
      await becomes('Waiting', ['Test the parser']);
      assert.match((await window.treeRow('Board', 'Test the parser').textContent()) ?? '', /after t1/);

      await window.runCommand('Handshake: Create a Task…');
      await window.answerInput('Describe the API');
      await window.answerInput('');
      await window.quickInput
        .getByText('After which tasks?')
        .or(window.quickInput.getByPlaceholder('After which tasks?'))
        .first()
        .waitFor();
      await page.keyboard.press('Enter');
      await becomes('Ready', ['Write the parser', 'Describe the API']);
    });

    it('puts them in another order, by menu, key and mouse, and by priority', async () => {
      const { window } = scene;
      const { page } = window;
      await window.chooseFromContextMenu('Board', 'Describe the API', 'Move Up');
      await becomes('Ready', ['Describe the API', 'Write the parser']);
      // A click opens the task and leaves the focus in the list.
      await window.treeRow('Board', 'Describe the API').click();
      await page.locator('.editor-instance').getByText('Describe the API').first().waitFor();
      await page.keyboard.press('Alt+ArrowDown');
      await becomes('Ready', ['Write the parser', 'Describe the API']);
      await window.treeRow('Board', 'Describe the API').dragTo(window.treeRow('Board', 'Write the parser'));
      await becomes('Ready', ['Describe the API', 'Write the parser']);
      await window.chooseFromContextMenu('Board', 'Write the parser', 'Edit…');
      await window.pick('Priority');
      await window.answerInput('five');
      await window.quickInput.getByText('A whole number, such as 0, 5 or -1.').waitFor();
      await window.answerInput('5');
      await becomes('Ready', ['Write the parser', 'Describe the API']);
    });

    it('blocks one and sets it free, gives one to another teammate, and takes it back', async () => {
      const { window } = scene;
      for (const subject of ['Describe the API', 'Write the parser']) {
        await window.chooseFromContextMenu('Board', subject, 'Block…');
        await window.answerInput('The format is not decided.');
      }
      await becomes('Ready', []);
      const waits = () => works.until.then(() => [text('Too late.')]);
      scene.play({
        lead: [[spawn('mia'), spawn('nina')]],
        mia: [[text('Ready.')], waits],
        nina: [[text('Ready.')], waits],
      });
      await scene.tell('Start mia and nina.');
      for (const name of ['mia', 'nina']) await scene.becomes(name, 'idle');

      await window.clickInlineAction('Board', 'Write the parser', 'Unblock');
      const first = await eventually(
        async () => (await window.treeRows('Board')).find(({ label }) => label === 'Write the parser'),
        (row) => row !== undefined && /mia|nina/.test(row.description),
        'somebody to take the task',
      );
      assert.deepEqual(await group('In Progress'), ['Write the parser']);
      const owner = /mia|nina/.exec(first?.description ?? '')?.[0] ?? '';
      const other = owner === 'mia' ? 'nina' : 'mia';
      // It stands under its owner, too.
      await eventually(
        () => window.treeRows('Team'),
        (rows) => rows.some(({ label, level }) => level === 2 && label === 'Write the parser'),
        'the task under its owner',
      );
      await window.screenshot('board');

      await window.chooseFromContextMenu('Board', 'Write the parser', 'Assign…');
      await window.pick(other);
      await eventually(
        async () => (await window.treeRow('Board', 'Write the parser').textContent()) ?? '',
        (row) => row.includes(other),
        `${other} to have the task`,
      );
      await scene.model.waitForRequest(
        ({ member, body }) => member === other && newsOf(body).includes('Write the parser'),
      );
      await window.chooseFromContextMenu('Team', owner, 'Force Stop');
      await scene.becomes(owner, 'shutdown');
      await window.chooseFromContextMenu('Board', 'Write the parser', 'Take Back…');
      await window.answerInput('Wait for the format.');
      await becomes('Ready', ['Write the parser']);
    });

    it('tells the board in the Conversation, and closes tasks', async () => {
      const { window } = scene;
      const page = await scene.conversation();
      await scene.tell('/tasks');
      await page.locator('.notice').getByText('Write the parser').last().waitFor();
      for (const subject of ['Write the parser', 'Test the parser', 'Describe the API']) {
        await window.chooseFromContextMenu('Board', subject, 'Mark as Done…');
        await window.answerInput('');
        await eventually(
          async () => [
            ...(await group('Ready')),
            ...(await group('Waiting')),
            ...(await group('In Progress')),
          ],
          (open) => !open.includes(subject),
          `${subject} to be done`,
        );
      }
      const [done] = await window.treeRows('Board');
      assert.deepEqual([done?.label, done?.description, done?.expanded], ['Done', '3', false]);
    });
  });
}
