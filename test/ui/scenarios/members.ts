import { text } from '../../model-server';
import { held, newsOf, spawn, submit } from '../support/lines';
import type { Scene } from '../support/scene';

/** The context menu of a teammate. */
export function members(scene: Scene): void {
  describe('the menu of a teammate', () => {
    beforeEach(() => scene.fresh());

    it('sends a message, asks for a plan, opens the transcript, interrupts and force stops', async () => {
      const { window } = scene;
      const busy = held();
      scene.play({
        lead: [[spawn('nora', { role: 'tester' })]],
        nora: [
          [text('Ready.')],
          [text('The door is blue.')],
          [submit('# Look first')],
          [text('I wait for word.')],
          () => busy.until.then(() => [text('Too late.')]),
        ],
      });
      await scene.tell('Start nora.');
      await scene.becomes('nora', 'idle');

      await window.chooseFromContextMenu('Team', 'nora', 'Send a Message…');
      await window.answerInput('Which colour has the door?');
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'nora' && /Which colour has the door\?/.test(newsOf(body)),
      );
      await scene.becomes('nora', 'idle');

      await window.chooseFromContextMenu('Team', 'nora', 'Ask for a Plan…');
      await window.answerInput('painting the door');
      const { id } = await scene.pending('nora');
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'nora' && /painting the door/.test(newsOf(body)),
      );

      await window.chooseFromContextMenu('Team', 'nora', 'Open Transcript');
      const transcript = window.page.locator('.editor-instance .view-lines');
      await transcript.getByText('Transcript of nora').first().waitFor();
      await transcript.getByText('The door is blue.').first().waitFor();

      await window.clickInlineAction('Requests', id, 'Approve');
      await scene.endsAs(id, 'approved');
      // She thinks for ever now, until somebody stops her. Stopped before she has read it, she would read it next.
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'nora' && /plan_approval_response/.test(newsOf(body)),
      );
      await scene.becomes('nora', 'working');
      await window.chooseFromContextMenu('Team', 'nora', 'Interrupt');
      await scene.becomes('nora', 'idle');
      busy.release();

      await window.chooseFromContextMenu('Team', 'nora', 'Force Stop');
      await scene.becomes('nora', 'shutdown');
      await window.treeRow('Team', 'nora').getByText('shut down').waitFor();
    });
  });
}
