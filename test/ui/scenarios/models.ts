import assert from 'node:assert/strict';
import { DEFAULT_MODEL } from '../../model-server';
import { eventually } from '../driver-wait';
import { newsOf, spawn } from '../support/lines';
import type { Scene } from '../support/scene';

/** Which model speaks for whom. */
export function models(scene: Scene): void {
  describe('the model quick pick', () => {
    beforeEach(() => scene.fresh());

    /** The model of the call in which a member read these words. */
    const modelOf = async (member: string, words: string): Promise<string | undefined> => {
      const { body } = await scene.model.waitForRequest(
        (request) => request.member === member && newsOf(request.body).includes(words),
      );
      return body?.model;
    };
    const openPick = async (): Promise<void> => {
      await scene.window.runCommand('Handshake: Select Model…');
      const whole = [DEFAULT_MODEL, 'Demo', 'Another model for teammates…'];
      await eventually(
        () => scene.window.pickLabels(),
        (labels) => whole.every((label) => labels.includes(label)),
        'the whole list of models',
      );
    };
    /** Clicks an entry as it stands: what is typed would be offered as a name of its own. */
    const choose = (label: string) =>
      scene.window.quickInput
        .locator('.quick-input-list .monaco-list-row')
        .filter({ has: scene.window.page.locator('.label-name').getByText(label, { exact: true }) })
        .click();
    const openForTeammates = async (): Promise<void> => {
      await openPick();
      await choose('Another model for teammates…');
      await scene.window.quickInput.getByText('Select the model of the teammates').waitFor();
    };
    /** A setting is written behind the pick; it holds once the pick says so. */
    const isInUse = async (label: string, open: () => Promise<unknown>): Promise<void> => {
      const { window } = scene;
      const chosen = async (): Promise<string[]> => {
        await open();
        const rows = window.quickInput.locator('.quick-input-list .monaco-list-row');
        const found = await rows.filter({ hasText: 'in use' }).locator('.label-name').allInnerTexts();
        await window.page.keyboard.press('Escape');
        return found;
      };
      await eventually(chosen, (found) => found.includes(label), `${label} to be in use`);
    };

    it('lists what the endpoint has and takes any name, for the team and for teammates alone', async () => {
      const { window } = scene;
      await openPick();
      await window.screenshot('model quick pick');
      await choose(DEFAULT_MODEL);
      await isInUse(DEFAULT_MODEL, openPick);
      await scene.tell('Which model are you?');
      assert.equal(await modelOf('lead', 'Which model are you?'), DEFAULT_MODEL);

      await openForTeammates();
      await window.pick('a-model-of-tomorrow');
      const other = window.quickInput.getByText('a-model-of-tomorrow');
      await eventually(
        async () => {
          await openPick();
          const isNamed = await other.isVisible();
          await window.page.keyboard.press('Escape');
          return isNamed;
        },
        (isNamed) => isNamed,
        'the name that was typed to be in use for teammates',
      );
      scene.play({ lead: [[spawn('moe', { prompt: 'Say which model you are.' })]] });
      await scene.tell('Start moe.');
      assert.equal(await modelOf('moe', 'Say which model you are.'), 'a-model-of-tomorrow');
      assert.equal(await modelOf('lead', 'Start moe.'), DEFAULT_MODEL);
      await scene.becomes('moe', 'idle');

      await openForTeammates();
      await choose('As the lead');
      await isInUse('As the lead', openForTeammates);
      await window.chooseFromContextMenu('Team', 'moe', 'Send a Message…');
      await window.answerInput('And which now?');
      assert.equal(await modelOf('moe', 'And which now?'), DEFAULT_MODEL);
    });
  });
}
