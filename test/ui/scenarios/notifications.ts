import assert from 'node:assert/strict';
import { eventually } from '../driver-wait';
import type { Notification } from '../driver-workbench';
import { bash, spawn } from '../support/lines';
import type { Scene } from '../support/scene';

/** What pops up, and what its buttons do, also when they are late. */
export function notifications(scene: Scene): void {
  describe('a notification', () => {
    beforeEach(() => scene.fresh());

    async function told(words: string): Promise<Notification> {
      const all = await eventually(
        () => scene.window.notifications(),
        (shown) => shown.some(({ message }) => message.includes(words)),
        `a notification with '${words}'`,
      );
      return all.find(({ message }) => message.includes(words)) ?? assert.fail();
    }

    it('approves by its button', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('gina')]], gina: [[bash('echo ok > told.txt')]] });
      await scene.tell('Start gina.');
      const { id } = await scene.pending('echo ok > told.txt');
      const words = 'gina wants to run: echo ok > told.txt';
      assert.deepEqual(await told(words), { message: words, buttons: ['Approve', 'Reject', 'Review'] });
      await window.clickNotificationButton(words, 'Approve');
      await scene.endsAs(id, 'approved');
      await eventually(
        () => scene.exists('told.txt'),
        (there) => there,
        'told.txt',
      );
      await scene.waits(0);
    });

    it('clicked late says who decided meanwhile', async () => {
      const { window } = scene;
      scene.play({ lead: [[spawn('gus')]], gus: [[bash('echo late')]] });
      await scene.tell('Start gus.');
      const { id } = await scene.pending('echo late');
      await told('gus wants to run');
      await window.runCommand('Handshake: Reject a Request…');
      await window.pick('gus wants to run: echo late');
      await window.answerInput('');
      await scene.endsAs(id, 'rejected');
      await window.clickNotificationButton('gus wants to run', 'Approve');
      await told(`Request ${id} was already rejected by`);
      await scene.endsAs(id, 'rejected');
    });

    it('is one for several requests, and leads to their list', async () => {
      const { window } = scene;
      scene.play({
        lead: [[spawn('hal'), spawn('ida'), spawn('jim')]],
        hal: [[bash('echo 1')]],
        ida: [[bash('echo 2')]],
        jim: [[bash('echo 3')]],
      });
      await scene.tell('Start all three.');
      await scene.waits(3);
      await eventually(
        () => window.notifications(),
        (all) => all.length === 1,
        'one notification',
      );
      const [first] = await window.notifications();
      if (first?.message !== '3 requests wait for a decision') {
        // The first of them was told alone; when that one is closed, the others are told together.
        await window.page.locator('.notification-toast').hover();
        await window.page.locator('.notification-toast .codicon-notifications-clear').click();
      }
      assert.deepEqual(await told('3 requests wait'), {
        message: '3 requests wait for a decision',
        buttons: ['Review'],
      });
      await window.openView('Explorer');
      await window.clickNotificationButton('3 requests wait', 'Review');
      await window.view('Requests').waitFor();
      await window.treeRow('Requests', 'echo 1').waitFor();
    });
  });
}
