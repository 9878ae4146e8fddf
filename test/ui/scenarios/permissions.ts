import assert from 'node:assert/strict';
import { text, toolUse } from '../../model-server';
import { eventually } from '../driver-wait';
import { bash, held, newsOf, spawn } from '../support/lines';
import type { Scene } from '../support/scene';

/** Commands and file changes that ask first, and clicks that meet exactly what they were meant for. */
export function permissions(scene: Scene): void {
  describe('a permission', () => {
    beforeEach(() => scene.fresh());

    const appears = (name: string): Promise<boolean> =>
      eventually(
        () => scene.exists(name),
        (there) => there,
        name,
      );

    it('case 7: is told at once while the view is hidden, waits, and stands in the list on reveal', async () => {
      const { window } = scene;
      const asks = held();
      scene.play({
        lead: [[spawn('kim')]],
        kim: [() => asks.until.then(() => [bash('npm test')]), [text('It is green.')]],
      });
      await scene.tell('Start kim.');
      await scene.becomes('kim', 'working');
      await window.openView('Explorer');
      await window.view('Requests').waitFor({ state: 'hidden' });
      asks.release();
      await scene.waits(1);
      const words = 'kim wants to run: npm test';
      await eventually(
        () => window.notifications(),
        (all) => all.some(({ message }) => message === words),
        `the notification '${words}'`,
      );
      assert.equal(await window.view('Requests').isVisible(), false);
      // Nothing was denied in silence: the call has no result yet.
      assert.equal(scene.model.requests.filter(({ member }) => member === 'kim').length, 1);
      await window.openView('Handshake');
      const { id } = await scene.pending('npm test');
      await scene.goesThrough(id, 'opened');
      await window.clickInlineAction('Requests', id, 'Approve');
      await scene.endsAs(id, 'approved');
      const answered = await scene.model.waitForRequest(
        ({ member, body }) => member === 'kim' && /pass/.test(newsOf(body)),
      );
      assert.equal(answered.member, 'kim');
    });

    it('case 8: a newer request that comes just before the click changes nothing about it', async () => {
      const { window } = scene;
      const later = held();
      scene.play({
        lead: [[spawn('ada'), spawn('bert')]],
        ada: [[bash('echo 1 > a.txt')]],
        bert: [() => later.until.then(() => [bash('rm -rf src')])],
      });
      await scene.tell('Start both.');
      const first = await scene.pending('echo 1 > a.txt');
      await window.treeRow('Requests', first.id).hover();
      const button = await window.inlineAction('Requests', first.id, 'Approve').boundingBox();
      assert.ok(button);
      later.release();
      const second = await scene.pending('rm -rf src');
      // Where the pointer was to go before the second came.
      await window.page.mouse.click(button.x + button.width / 2, button.y + button.height / 2);
      await scene.endsAs(first.id, 'approved');
      await appears('a.txt');
      await scene.goesThrough(second.id, 'opened');
      assert.equal(await scene.exists('src', 'router.js'), true);
      // The decided row leaves, and a click while the list moves would be lost.
      await eventually(
        () => scene.rows(),
        (rows) => rows.length === 1,
        'the decided row to leave',
      );
      await window.clickInlineAction('Requests', second.id, 'Reject…');
      await window.answerInput('');
      await scene.endsAs(second.id, 'rejected');
    });

    it('case 48: two clicks 100 ms apart are one decision', async () => {
      const { window } = scene;
      scene.play({
        lead: [[spawn('amy'), spawn('bob')]],
        amy: [[bash('echo 1 > amy.txt')]],
        bob: [[bash('echo 2 > bob.txt')]],
      });
      await scene.tell('Start both.');
      await eventually(
        () => scene.rows(),
        (rows) => rows.length === 2,
        'two requests',
      );
      const [upper] = await scene.rows();
      const firstId = /([0-9a-f]{8})$/.exec(upper?.description ?? '')?.[1] ?? '';
      await window.treeRow('Requests', firstId).hover();
      const button = await window.inlineAction('Requests', firstId, 'Approve').boundingBox();
      assert.ok(button);
      const [x, y] = [button.x + button.width / 2, button.y + button.height / 2];
      await window.page.mouse.click(x, y);
      // The pause is the case.
      await window.page.evaluate('new Promise((done) => setTimeout(done, 100))');
      await window.page.mouse.click(x, y);
      await scene.endsAs(firstId, 'approved');
      await scene.waits(1);
      await window.treeRow('Requests', firstId).waitFor({ state: 'detached' });
      const left = await scene.rows();
      assert.equal(left.length, 1);
      const otherId = /([0-9a-f]{8})$/.exec(left[0]?.description ?? '')?.[1] ?? '';
      await scene.goesThrough(otherId, 'opened');
      await window.clickInlineAction('Requests', otherId, 'Reject…');
      await window.answerInput('');
      await scene.endsAs(otherId, 'rejected');
    });

    it('is not approved from the palette by a line that cannot show it whole: it opens to be read', async () => {
      const { window } = scene;
      const command = `npm test -- --reporter=spec --color=always${' '.repeat(30)}; echo hidden > hidden.txt`;
      scene.play({ lead: [[spawn('ivy')]], ivy: [[bash(command)], [text('It is green.')]] });
      await scene.tell('Start ivy.');
      const { id } = await scene.pending('ivy');
      await window.runCommand('Handshake: Approve a Request…');
      await window.quickInput.getByText('Longer than a line shows: opens to be read').waitFor();
      await window.page.keyboard.press('Enter');
      const panel = await scene.panel(id);
      await panel.getByText('echo hidden > hidden.txt').waitFor();
      await scene.goesThrough(id, 'opened');
      await panel.getByRole('button', { name: 'Approve' }).click();
      await scene.endsAs(id, 'approved');
      await appears('hidden.txt');
    });

    it('case 47: a link in its words is plain text in notification and tooltip', async () => {
      const { window } = scene;
      const link = '[details](command:handshake.approve)';
      scene.play({
        lead: [[spawn('eve')]],
        eve: [[bash(`echo hi # ${link}`, `Please see ${link}`)]],
      });
      await scene.tell('Start eve.');
      const { id } = await scene.pending('echo hi');
      await eventually(
        () => window.notifications(),
        (all) => all.some(({ message }) => message.includes('details')),
        'the notification',
      );
      const toast = window.page.locator('.notification-toast');
      assert.equal(await toast.locator('.notification-list-item-message a').count(), 0);
      await window.treeRow('Requests', id).hover();
      const tooltip = window.page
        .locator('.monaco-hover, .workbench-hover')
        .filter({ hasText: 'Please see' });
      await tooltip.first().waitFor();
      assert.match((await tooltip.first().textContent()) ?? '', /Please\ssee\sdetails/);
      assert.equal(await tooltip.locator('a').count(), 0);
      // A row that does not show all of a command offers no Approve, but a look at it.
      assert.equal(await window.inlineAction('Requests', id, 'Approve').count(), 0);
      await scene.goesThrough(id, 'opened');
      await window.clickInlineAction('Requests', id, 'Review');
      const panel = await scene.panel(id);
      await panel.locator('.code').getByText(`echo hi # ${link}`).waitFor();
      assert.equal(await panel.locator('.content a').count(), 0);
      await panel.getByRole('button', { name: 'Reject' }).click();
      await scene.endsAs(id, 'rejected');
    });

    it('for a file change shows what will change, and the change is made', async () => {
      const { window } = scene;
      scene.play({
        lead: [[spawn('finn')]],
        finn: [
          [toolUse('read_file', { path: 'README.md' })],
          [toolUse('write_file', { path: 'docs/notes.md', content: '# Notes\n\nWritten with leave.\n' })],
        ],
      });
      await scene.tell('Start finn.');
      const { id } = await scene.pending('docs/notes.md');
      await window.treeRow('Requests', id).click();
      const panel = await scene.panel(id);
      await panel.getByRole('heading', { name: 'finn wants to change a file' }).waitFor();
      await panel.locator('.diff .added').filter({ hasText: 'Written with leave.' }).waitFor();
      await panel.getByRole('button', { name: 'Approve' }).click();
      await panel.getByText('Approved by you.').waitFor();
      await appears('docs/notes.md');
    });
  });
}
