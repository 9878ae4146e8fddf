import assert from 'node:assert/strict';
import { text, toolUse } from '../../model-server';
import { eventually } from '../driver-wait';
import { held, newsOf, spawn } from '../support/lines';
import { MEMBER_BUDGET, type Scene } from '../support/scene';

/** A share of what a member may use, as an endpoint counts it. */
const reads = (percent: number) => ({ input_tokens: (MEMBER_BUDGET / 100) * percent, output_tokens: 0 });

/** A member that uses up what it may. */
export function budgets(scene: Scene): void {
  describe('a token budget', () => {
    beforeEach(() => scene.fresh());

    it('case 46: is warned of at 80 %, stops the member at 100 %, and is raised by a click', async () => {
      const { window } = scene;
      const warned = held();
      const look = [toolUse('list_tasks')];
      scene.play({
        lead: [[spawn('bea', { prompt: 'Look for ever.' })]],
        bea: [
          { content: look, usage: reads(85) },
          async () => {
            await warned.until;
            return { content: [toolUse('list_tasks')], usage: reads(20) };
          },
          [text('Now I am done.')],
        ],
      });
      const row = window.treeRow('Team', 'bea');
      const callsOfBea = () => scene.model.requests.filter(({ member }) => member === 'bea').length;
      await scene.tell('Start bea.');
      const warning = `bea has used ${(MEMBER_BUDGET * 0.85).toLocaleString('en')} tokens of the ${MEMBER_BUDGET.toLocaleString('en')} tokens it may use.`;
      const told = await eventually(
        () => window.notifications(),
        (all) => all.some(({ message }) => message === warning),
        `the warning '${warning}'`,
      );
      assert.deepEqual(told.find(({ message }) => message === warning)?.buttons, ['Raise Budget']);
      warned.release();

      await row.getByText('token budget used up').waitFor();
      await scene.becomes('bea', 'waiting');
      assert.equal(callsOfBea(), 2, 'the call that would be beyond it is not made');
      await scene.model.waitForRequest(
        ({ member, body }) => member === 'lead' && /bea has used [\d,]+ tokens/.test(newsOf(body)),
      );
      await window.screenshot('token budget used up');

      await window.clickInlineAction('Team', 'bea', 'Raise Budget…');
      await window.quickInput.getByText('Raise the token budget of bea').waitFor();
      await window.screenshot('token budget, quick pick');
      await window.quickInput.locator('.monaco-list-row').filter({ hasText: 'As much again' }).click();
      await scene.becomes('bea', 'idle');
      await row.getByText('idle').waitFor();
      assert.equal(callsOfBea(), 3);
    });
  });
}
