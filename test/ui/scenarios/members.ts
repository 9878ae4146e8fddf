import { text } from '../../model-server';
import { eventually } from '../driver-wait';
import { bash, held, newsOf, spawn, submit } from '../support/lines';
import type { Scene } from '../support/scene';

/** The rows of the Team view and their context menu. */
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

  describe('the rows of the members', () => {
    beforeEach(() => scene.fresh());

    it('stand in one line, whoever of them has something below', async () => {
      const { window } = scene;
      scene.play({
        lead: [[spawn('amy'), spawn('bob'), spawn('cleo')]],
        amy: [[bash('echo 1 > amy.txt')]],
        bob: [[bash('echo 2 > bob.txt')]],
      });
      const rows = window.view('Team').locator('.monaco-list-row[aria-level="1"]');
      /** Which members have something below, once all have their icons at the same distance from the left. */
      const inLine = async (...unfolded: string[]): Promise<void> => {
        const seen = async () => ({
          rows: (await window.treeRows('Team')).filter(({ level }) => level === 1),
          icons: await rows.locator('.custom-view-tree-node-item-icon').evaluateAll(lefts),
        });
        await eventually(
          seen,
          (now) =>
            now.rows.length === 4 &&
            new Set(now.icons).size === 1 &&
            now.rows.flatMap(({ label, expanded }) => (expanded === undefined ? [] : [label])).join() ===
              unfolded.join(),
          `four rows in one line, with something below ${unfolded.join(' and ') || 'none'}`,
        );
      };
      await scene.tell('Start all three.');
      const amy = await scene.pending('amy.txt');
      const bob = await scene.pending('bob.txt');
      await inLine('amy', 'bob');
      await window.screenshot('team rows, two with something below');
      await window.clickInlineAction('Requests', amy.id, 'Approve');
      await inLine('bob');
      await window.clickInlineAction('Requests', bob.id, 'Approve');
      await inLine();
      await window.screenshot('team rows, none with something below');
    });
  });
}

/** Runs in the page. */
function lefts(icons: { getBoundingClientRect(): { left: number } }[]): number[] {
  return icons.map((icon) => Math.round(icon.getBoundingClientRect().left));
}
