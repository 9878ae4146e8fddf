import assert from 'node:assert/strict';
import { decidePlan, newsOf, spawn, submit } from '../support/lines';
import type { Scene } from '../support/scene';

/** Whoever is second hears so, in the place where it was tried. */
export function second(scene: Scene): void {
  describe('whoever is second', () => {
    beforeEach(() => scene.fresh());

    it('sees in the open panel that the lead has decided, and a click that was under way is told so', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('kim', { plan: true })]], kim: [[submit('# Rename the store')]] });
      await scene.tell('Start kim.');
      const { id } = await scene.pending('kim');
      await window.treeRow('Requests', id).click();
      const panel = await scene.panel(id);
      await panel.getByRole('button', { name: 'Reject' }).waitFor();
      scene.play({ lead: [decidePlan(true, 'Go on.')] });
      await scene.tell('Decide the plan of kim.');
      await panel.getByText('Approved by lead. Feedback: Go on.').waitFor();
      assert.equal(await panel.getByRole('button', { name: 'Reject' }).isVisible(), false);
      // A click that was on its way when the buttons went.
      await panel.locator('vscode-button', { hasText: 'Reject' }).dispatchEvent('click');
      await panel.getByRole('alert').getByText(`Request ${id} was already approved by lead.`).waitFor();
      await scene.endsAs(id, 'approved');
    });

    it('is the lead where the human was first; its model is told', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('lea', { plan: true })]], lea: [[submit('# Rename the routes')]] });
      await scene.tell('Start lea.');
      const { id } = await scene.pending('lea');
      await window.clickInlineAction('Requests', id, 'Approve');
      await scene.endsAs(id, 'approved');
      scene.play({ lead: [decidePlan(false)] });
      await scene.tell('Reject the plan of lea.');
      await scene.model.waitForRequest(
        ({ member, body }) =>
          member === 'lead' && newsOf(body).includes(`${id} was already approved by human`),
      );
      await scene.endsAs(id, 'approved');
    });
  });
}
