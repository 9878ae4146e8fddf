import assert from 'node:assert/strict';
import { text } from '../../model-server';
import { eventually, holds } from '../driver-wait';
import { newsOf, spawn, submit } from '../support/lines';
import type { Scene } from '../support/scene';

/** The window is loaded anew, its extension host with it. */
export function reload(scene: Scene): void {
  describe('a reload', () => {
    beforeEach(() => scene.fresh());

    it('brings back roster, request, badge, drafts and conversation; a decision then wakes the teammate', async () => {
      const { window } = scene;
      scene.play({
        lead: [[text('I start mia.'), spawn('mia', { plan: true })]],
        mia: [[submit('# Add a search')]],
      });
      await scene.tell('Have mia add a search.');
      const { id } = await scene.pending('mia');
      await window.treeRow('Requests', id).click();
      const feedback = (await scene.panel(id)).getByRole('textbox', { name: 'Feedback' });
      await feedback.fill('Half a thought');
      const input = (await scene.conversation()).getByRole('textbox', { name: 'Message to the lead' });
      await input.fill('Half a sentence');
      await scene.becomes('mia', 'waiting');
      scene.model.requests.length = 0;

      await window.reload();
      await window.openView('Handshake');
      const again = await scene.pending('mia');
      assert.equal(again.id, id);
      await scene.waits(1);
      await window.treeRow('Team', 'mia').getByText('plan waits for approval').waitFor();
      // VS Code may forget over a reload that its second side bar was open.
      await window.runCommand('Handshake: Open Conversation');
      const page = await scene.conversation();
      await page.getByText('Have mia add a search.').last().waitFor();
      await page.getByText('I start mia.').last().waitFor();
      await eventually(
        () => page.getByRole('textbox', { name: 'Message to the lead' }).inputValue(),
        (value) => value === 'Half a sentence',
        'the draft of the Conversation',
      );
      // VS Code keeps an editor over a reload only when it was open for some seconds.
      await window.treeRow('Requests', id).click();
      const panel = await scene.panel(id);
      await panel.getByRole('heading', { name: 'Plan of mia' }).waitFor();
      await holds(panel.getByRole('textbox', { name: 'Feedback' }), 'Half a thought');

      await panel.getByRole('button', { name: 'Approve' }).click();
      await panel.getByText('Approved by you. Feedback: Half a thought').waitFor();
      await scene.endsAs(id, 'approved');
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'mia' && /Half a thought/.test(newsOf(body)),
      );
      await page.getByRole('textbox', { name: 'Message to the lead' }).fill('');
    });
  });
}
