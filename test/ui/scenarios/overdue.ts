import assert from 'node:assert/strict';
import { text } from '../../model-server';
import { eventually } from '../driver-wait';
import { spawn } from '../support/lines';
import type { Scene } from '../support/scene';

/** What waits for longer than it should. The window keeps the short deadline: call it last. */
export function overdue(scene: Scene): void {
  describe('a shutdown request with a short deadline', () => {
    before(async () => {
      await scene.window.replaceUserSettings({
        'handshake.baseUrl': scene.model.url,
        'handshake.requestDeadlineSeconds': 5,
      });
      await scene.window.openView('Handshake');
    });
    beforeEach(() => scene.fresh());

    it('case 3: that is answered in prose only becomes overdue, is told once, and ends with Force Stop', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('dora')]], dora: [[text('Ready.')], [text('ok')], [text('ok')]] });
      await scene.tell('Start dora.');
      await scene.becomes('dora', 'idle');
      await window.chooseFromContextMenu('Team', 'dora', 'Request Shutdown');
      const { id } = await scene.pending('dora');
      const words =
        'Overdue: You asked dora to shut down. Nothing is decided by silence; it waits for an answer.';
      // What was told before it was overdue gives way to it.
      const told = async (): Promise<readonly string[] | undefined> => {
        const clear = window.page.locator('.notification-toast .codicon-notifications-clear').first();
        const all = await window.notifications();
        const found = all.find(({ message }) => message === words);
        if (found === undefined && all.length > 0) {
          await window.page.locator('.notification-toast').first().hover();
          if (await clear.isVisible()) await clear.click();
        }
        return found?.buttons;
      };
      const buttons = await eventually(told, (found) => found !== undefined, `the notification '${words}'`);
      assert.deepEqual(buttons, ['Review', 'Force Stop']);
      await window.treeRow('Requests', id).getByText('overdue').waitFor();
      await scene.status.filter({ hasText: '1 overdue' }).waitFor();
      await scene.goesThrough(id, 'opened', 'overdue');
      await window.treeRow('Requests', id).hover();
      await window.inlineAction('Requests', id, 'Reject…').waitFor();
      await window.screenshot('overdue shutdown');
      await window.clickInlineAction('Requests', id, 'Force Stop');
      await scene.becomes('dora', 'shutdown');
      await scene.goesThrough(id, 'opened', 'overdue', 'cancelled');
      await window.clickNotificationButton('Overdue: You asked dora', 'Force Stop');
      await eventually(
        () => window.notifications(),
        (all) => all.some(({ message }) => message.includes(`Request ${id} was withdrawn`)),
        'the late click to be told how it ended',
      );
    });
  });
}
