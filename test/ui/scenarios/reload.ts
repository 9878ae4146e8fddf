import assert from 'node:assert/strict';
import { type ScriptStep, text } from '../../model-server';
import { eventually, holds } from '../driver-wait';
import { held, newsOf, spawn, submit } from '../support/lines';
import type { Scene } from '../support/scene';

/** A reply that the window does not live to see. */
function cutOff(): { step: ScriptStep; begun: Promise<void>; end(): void } {
  const [begun, end] = [held(), held()];
  const step: ScriptStep = async () => {
    begun.release();
    await end.until;
    return [text('Too late.')];
  };
  return { step, begun: begun.until, end: end.release };
}

/** The window is loaded anew, its extension host with it. */
export function reload(scene: Scene): void {
  describe('a reload', () => {
    beforeEach(() => scene.fresh());

    /** VS Code may forget that a side bar was open when it was opened a moment before. */
    async function everythingInSight(): Promise<void> {
      await scene.window.openView('Handshake');
      await scene.window.runCommand('Handshake: Open Conversation');
    }

    it('shows work that waits for the word to go on until it is given, also after Not Now and a further reload', async () => {
      const { window } = scene;
      const [ofLead, ofMia] = [cutOff(), cutOff()];
      scene.play({
        lead: [
          [spawn('mia', { prompt: 'Count the folders.' })],
          ofLead.step,
          [text('There are seven files.')],
        ],
        mia: [ofMia.step, [text('And two folders.')]],
      });
      await scene.tell('Count the files.');
      await Promise.all([ofLead.begun, ofMia.begun]);

      const offer = 'The lead and mia had work left when this window was closed.';
      const notice = async () => (await scene.conversation()).locator('.notice').filter({ hasText: offer });
      const rows = () => window.view('Team').getByText('waits for your word to go on');
      const waits = async () => {
        await (await notice()).getByRole('button', { name: 'Go On' }).waitFor();
        await eventually(
          () => rows().count(),
          (count) => count === 2,
          'both rows to say that they wait',
        );
        await scene.status.filter({ hasText: '2 on hold' }).waitFor();
      };
      await window.reload();
      await window.clickNotificationButton(offer, 'Not Now');
      await everythingInSight();
      await waits();
      await window.screenshot('work that waits since a reload');
      await window.reload();
      await everythingInSight();
      await waits();
      await scene.tell('/team');
      const page = await scene.conversation();
      await page.locator('.notice').getByText('mia (coder): idle, waits for your word to go on').waitFor();
      await window.screenshot('work that waits since a reload, team');

      await window.clickInlineAction('Team', 'mia', 'Go On');
      await page.getByText('There are seven files.').waitFor();
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'lead' && /And two folders/.test(newsOf(body)),
      );
      await (await notice()).waitFor({ state: 'detached' });
      await eventually(
        () => rows().count(),
        (count) => count === 0,
        'no row to say that it waits',
      );
      await scene.status.filter({ hasText: 'on hold' }).waitFor({ state: 'detached' });
      for (const { end } of [ofLead, ofMia]) end();
    });

    it('lets the lead go on by the button below the words that it had not answered', async () => {
      const { window } = scene;
      const ofLead = cutOff();
      scene.play({
        lead: [ofLead.step, [text('There are seven files.')]],
      });
      await scene.tell('Count the files again.');
      await ofLead.begun;
      await window.reload();
      await everythingInSight();
      const page = await scene.conversation();
      const notice = page.locator('.notice').filter({ hasText: 'The lead had work left' });
      await notice.getByRole('button', { name: 'Go On' }).waitFor();
      // With nobody else in the team the lead has its row all the same.
      await window.treeRow('Team', 'lead').getByText('waits for your word to go on').waitFor();
      await window.screenshot('work of the lead that waits');
      await notice.getByRole('button', { name: 'Go On' }).click();
      await page.getByText('There are seven files.').last().waitFor();
      await notice.waitFor({ state: 'detached' });
      ofLead.end();
    });

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
