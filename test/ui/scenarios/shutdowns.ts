import assert from 'node:assert/strict';
import { text } from '../../model-server';
import { answerShutdown, bash, held, spawn } from '../support/lines';
import type { Scene } from '../support/scene';

/** Ending a teammate: its panel, its context menu, and what that does to its other requests. */
export function shutdowns(scene: Scene): void {
  describe('a shutdown request', () => {
    beforeEach(() => scene.fresh());

    it('is approved in its panel, and the teammate is shown as shut down', async () => {
      const { window } = scene;
      const thinks = held();
      scene.play({
        lead: [[spawn('carol')]],
        carol: [[text('Ready.')], async () => thinks.until.then(() => [text('Still here.')])],
      });
      await scene.tell('Start carol.');
      await scene.becomes('carol', 'idle');
      await window.chooseFromContextMenu('Team', 'carol', 'Request Shutdown');
      const { id, row } = await scene.pending('carol');
      assert.equal(row.label, 'carol: shutdown');
      await window.treeRow('Requests', id).click();
      const panel = await scene.panel(id);
      await panel.getByRole('heading', { name: 'Shut down carol' }).waitFor();
      await panel.getByRole('button', { name: 'Force stop' }).waitFor();
      await panel.getByRole('button', { name: 'Approve' }).click();
      await panel.getByText('Approved by you.').waitFor();
      thinks.release();
      await scene.endsAs(id, 'approved');
      await window.treeRow('Team', 'carol').getByText('shut down').waitFor();
      await scene.becomes('carol', 'shutdown');
    });

    it('case 9: ends the wait for a permission, which is withdrawn, and the teammate shuts down', async () => {
      const { window } = scene;
      scene.play({
        lead: [[spawn('cora')]],
        cora: [[bash('echo x > never.txt')], answerShutdown(true)],
      });
      await scene.tell('Start cora.');
      const permission = await scene.pending('echo x');
      await window.chooseFromContextMenu('Team', 'cora', 'Request Shutdown');
      await window.treeRow('Requests', permission.id).getByText('withdrawn').waitFor();
      await scene.endsAs(permission.id, 'cancelled');
      await scene.becomes('cora', 'shutdown');
      await window.treeRow('Team', 'cora').getByText('shut down').waitFor();
      assert.equal(await scene.exists('never.txt'), false);
      await scene.waits(0);
    });
  });
}
