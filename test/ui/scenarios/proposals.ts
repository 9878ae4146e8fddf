import assert from 'node:assert/strict';
import { text, toolUse } from '../../model-server';
import { eventually } from '../driver-wait';
import { newsOf } from '../support/lines';
import type { Scene } from '../support/scene';

const ADA = { name: 'ada', role: 'coder', prompt: 'Write the parser.' };
const BERT = { name: 'bert', role: 'tester', prompt: 'Test the parser.' };

/** A team that the lead proposes: looked at as a table, sent back with a word, started with one click, or in part. */
export function proposals(scene: Scene): void {
  describe('a team proposal', () => {
    beforeEach(() => scene.fresh());

    it('is reviewed and sent back; the next one starts everybody', async () => {
      const { window } = scene;
      scene.play({
        lead: [
          [toolUse('propose_team', { members: [{ ...BERT, require_plan: true }] })],
          [text('Proposed.')],
          ({ body }) => {
            assert.match(newsOf(body), /type="permission_response"[\s\S]*Feedback: Add a coder\./);
            return [toolUse('propose_team', { members: [ADA, BERT] })];
          },
        ],
      });
      await scene.tell('Make a team for the parser.');
      const first = await scene.pending('bert');
      assert.equal(first.row.label, 'Start bert');
      // What a row cannot show is looked at first.
      await window.treeRow('Requests', first.id).hover();
      assert.equal(await window.inlineAction('Requests', first.id, 'Approve').count(), 0);
      await window.clickInlineAction('Requests', first.id, 'Review');
      const panel = await scene.panel(first.id);
      await panel.getByRole('heading', { name: 'lead proposes a team' }).waitFor();
      const row = panel.getByRole('row').filter({ hasText: 'Test the parser.' });
      await row.getByText('plan first').waitFor();
      await window.screenshot('team proposal');
      await panel.getByRole('textbox', { name: 'Feedback' }).fill('Add a coder.');
      await panel.getByRole('button', { name: 'Reject' }).click();
      await panel.getByText('Rejected by you. Feedback: Add a coder.').waitFor();
      await scene.endsAs(first.id, 'rejected');

      const second = await scene.pending('ada, bert');
      assert.deepEqual(await scene.members(), []);
      await window.treeRow('Requests', second.id).click();
      const next = await scene.panel(second.id);
      await next.getByRole('button', { name: 'Approve' }).click();
      await next.getByText('Approved by you.').waitFor();
      await scene.endsAs(second.id, 'approved');
      for (const name of ['ada', 'bert']) await window.treeRow('Team', name).waitFor();
      await eventually(
        async () => scene.model.requests.map(({ body }) => newsOf(body)).join('\n'),
        (news) => /Started: ada \(role: coder\), bert \(role: tester\)\./.test(news),
        'the lead to hear who was started',
      );
    });

    it('is edited and taken in part: that part starts, with its task, and the lead hears what was changed', async () => {
      const { window } = scene;
      const members = [{ ...ADA, task: 'parser' }, BERT];
      const tasks = [
        { key: 'parser', subject: 'Write the parser', description: 'In src/parser.js.' },
        { key: 'tests', subject: 'Test the parser', description: 'Each rule of it.', blocked_by: ['parser'] },
      ];
      scene.play({
        lead: [[toolUse('propose_team', { members, tasks, calls_at_once: 3 })], [text('Proposed.')]],
      });
      await scene.tell('Make a team for the parser.');
      const { id } = await scene.pending('ada, bert');
      await window.treeRow('Requests', id).click();
      const panel = await scene.panel(id);
      await panel.getByText('The lead expects about 3 model calls at once').waitFor();
      await panel.getByRole('button', { name: 'Edit ada' }).press('Enter');
      await panel.getByRole('textbox', { name: 'Name' }).fill('human');
      await panel.getByText('A name begins with a letter').waitFor();
      for (const theme of ['Light Modern', 'Dark Modern']) {
        await window.setTheme(theme);
        await window.screenshot(`team proposal edited ${theme.split(' ')[0]}`);
      }
      await panel.getByRole('textbox', { name: 'Name' }).fill('anna');
      await panel.getByRole('checkbox', { name: 'Take bert' }).uncheck();
      await panel.getByRole('button', { name: 'Approve With Changes' }).press('Enter');
      await panel.getByText('Approved by you.').waitFor();
      await panel.getByRole('row').filter({ hasText: 'was: ada' }).waitFor();
      await scene.endsAs(id, 'approved');
      await window.treeRow('Team', 'anna').waitFor();
      assert.deepEqual(
        (await scene.members()).map(({ name }) => name),
        ['anna'],
      );
      await eventually(
        async () => scene.model.requests.map(({ body }) => newsOf(body)).join('\n'),
        (news) =>
          /Started: anna \(role: coder\)\.\nTask parser is t\d+ on the board: Write the parser \(anna has it\)/.test(
            news,
          ) && /- ada: name: .*ada.* -> .*anna.*\n- bert: left out/.test(news),
        'the lead to hear what was changed',
      );
    });
  });
}
