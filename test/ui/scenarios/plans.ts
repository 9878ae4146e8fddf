import assert from 'node:assert/strict';
import { text, toolUse } from '../../model-server';
import { eventually } from '../driver-wait';
import { newsOf, spawn, submit } from '../support/lines';
import type { Scene } from '../support/scene';

const PLAN =
  '# Split the router\n\n1. Move the routes of `src/router.js` to a file of their own.\n2. Run the tests.';

/** A plan waits, and the human decides it from the tree, from its panel, from the palette. */
export function plans(scene: Scene): void {
  describe('a pending plan', () => {
    beforeEach(() => scene.fresh());

    it('is counted, approved with one click in the tree, and its gate opens', async () => {
      const { window } = scene;
      scene.play({
        lead: [[spawn('bob', { plan: true })]],
        bob: [
          [submit(PLAN)],
          [text('I wait for word.')],
          [toolUse('write_file', { path: 'src/routes.js', content: 'export {};\n' })],
        ],
      });
      await scene.tell('Have bob split the router.');
      const { id, row } = await scene.pending('bob');
      assert.equal(row.label, 'bob: plan');
      await scene.waits(1);
      await window.page.locator('.statusbar-item.warning-kind[id$="handshake.status"]').waitFor();
      assert.equal(await scene.exists('src', 'routes.js'), false);

      await window.clickInlineAction('Requests', id, 'Approve');
      await scene.endsAs(id, 'approved');
      // The row stays where it was, without buttons, then goes to the decided ones.
      const settled = window.treeRow('Requests', id);
      await settled.getByText('approved by you').waitFor();
      assert.equal(await window.inlineAction('Requests', id, 'Approve').count(), 0);
      await settled.waitFor({ state: 'detached' });
      await window.treeRow('Requests', 'Decided').click();
      await window.treeRow('Requests', id).getByText('approved by you').waitFor();
      await window.treeRow('Requests', 'Decided').click();
      await scene.waits(0);
      await eventually(
        () => scene.exists('src', 'routes.js'),
        (there) => there,
        'the file that the plan allows',
      );
      await window.treeRow('Team', 'bob').getByText('plan approved').waitFor();
    });

    it('is rejected with feedback in its panel, which says so in place; the teammate reads it', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('bea', { plan: true })]], bea: [[submit(PLAN)]] });
      await scene.tell('Have bea split the router.');
      const { id } = await scene.pending('bea');
      await window.treeRow('Requests', id).click();
      const panel = await scene.panel(id);
      await panel.getByRole('heading', { name: 'Plan of bea' }).waitFor();
      await panel.locator('.plan').getByText('src/router.js').waitFor();
      await panel.getByRole('textbox', { name: 'Feedback' }).fill('Name the tests first.');
      await panel.getByRole('button', { name: 'Reject' }).click();
      await panel.getByText('Rejected by you. Feedback: Name the tests first.').waitFor();
      for (const name of ['Approve', 'Reject']) {
        assert.equal(await panel.getByRole('button', { name }).isVisible(), false);
      }
      await scene.endsAs(id, 'rejected');
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'bea' && /Name the tests first\./.test(newsOf(body)),
      );
      await scene.waits(0);
      await window.treeRow('Team', 'bea').getByText('plan rejected').waitFor();
    });

    it('is reviewed and approved from the palette, where it is named', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('ben', { plan: true })]], ben: [[submit(PLAN)]] });
      await scene.tell('Have ben split the router.');
      const { id } = await scene.pending('ben');
      await window.runCommand('Handshake: Review a Request…');
      await (await scene.panel(id)).getByRole('heading', { name: 'Plan of ben' }).waitFor();
      await window.runCommand('Handshake: Approve a Request…');
      await window.pick('ben asks for approval of a plan: Split the router');
      await (await scene.panel(id)).getByText('Approved by you.').waitFor();
      await scene.endsAs(id, 'approved');
    });

    it('stays when the question for feedback is left with Escape, and is rejected with an answer', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('bill', { plan: true })]], bill: [[submit(PLAN)]] });
      await scene.tell('Have bill split the router.');
      const { id } = await scene.pending('bill');
      await window.runCommand('Handshake: Reject a Request…');
      await window.pick('bill asks for approval of a plan: Split the router');
      await window.quickInput.getByText('What should change?').waitFor();
      await window.page.keyboard.press('Escape');
      await window.quickInput.waitFor({ state: 'hidden' });
      await window.clickInlineAction('Requests', id, 'Reject…');
      await window.quickInput.getByText('What should change?').waitFor();
      await scene.goesThrough(id, 'opened');
      await window.answerInput('Smaller steps.');
      await scene.endsAs(id, 'rejected');
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'bill' && /Smaller steps\./.test(newsOf(body)),
      );
    });
  });
}
