import assert from 'node:assert/strict';
import type { Browser, Locator } from 'playwright-core';
import { acceptAll, type ProposalPayload } from '../../src/protocol';
import { requestStrings } from '../../src/ui/webviewStrings';
import { launchChromium } from '../host/chromium';
import { holds } from './driver-wait';
import { keysAsTexts, openWebviewPage, type WebviewPage } from './webviewPage';

const prompt = 'Write it.\n<img src=x onerror=alert(1)>';
const payload: ProposalPayload = {
  members: [
    { name: 'ada', role: 'coder', prompt, task: 'parser' },
    { name: 'bert', role: 'tester', prompt: 'Test it.', require_plan: true, model: 'other' },
  ],
  tasks: [
    { key: 'parser', subject: 'Write the parser', description: 'In src/.', isolated: true },
    { key: 'tests', subject: 'Test the parser', description: 'All of it.', blocked_by: ['parser'] },
  ],
};

const roles = [
  { name: 'coder', description: 'Writes <b>code</b>.' },
  { name: 'reviewer', description: '' },
];

describe('the page of a proposed team', function () {
  this.timeout(60_000);
  let browser: Browser;
  let shown: WebviewPage;

  const show = (more: object = {}, beside: object = {}) => ({
    type: 'show',
    view: {
      requestId: 'd08982e3',
      kind: 'team_proposal',
      title: 'lead proposes a team',
      from: 'lead',
      to: 'you',
      status: 'pending',
      overdue: false,
      createdAt: 0,
      canForceStop: false,
      proposal: { payload, taken: ['carl'], roles, estimate: 'About 3 calls.' },
      ...more,
    },
    draft: '',
    focusFeedback: false,
    ...beside,
  });

  before(async () => {
    browser = await launchChromium();
  });
  beforeEach(async () => {
    const strings = {
      ...keysAsTexts(requestStrings),
      takeOne: 'take {0}',
      edit: 'edit {0}',
      fold: 'fold {0}',
    };
    shown = await openWebviewPage(browser, { bundle: 'request', strings, requestId: 'd08982e3' });
    await shown.send(show());
  });
  afterEach(() => shown.close());
  after(() => browser.close());

  const named = (name: string) => shown.page.getByRole('button', { name, exact: true });
  const box = (name: string) => shown.page.getByRole('checkbox', { name, exact: true });
  const field = (name: string) => shown.page.getByRole('textbox', { name, exact: true });
  /** A text with offers. */
  const roleField = () => shown.page.getByRole('combobox', { name: 'memberRole', exact: true });
  /** Whether the keyboard is on it. */
  const hasFocus = async (element: Locator) => {
    const focused = await shown.page.evaluateHandle('document.activeElement');
    return element.evaluate((own, other) => own === other, focused);
  };
  const decisions = async () =>
    (await shown.posted()).filter((message) => JSON.stringify(message).includes('"decide"'));
  const decide = { type: 'decide', requestId: 'd08982e3', approve: true, feedback: '' };
  const whole = () => structuredClone(acceptAll(payload));

  it('shows everybody and every task, and what models wrote as text', async () => {
    const [team, tasks] = await shown.page.getByRole('table').all();
    assert.ok(team && tasks);
    assert.deepEqual(await team.getByRole('rowheader').allTextContents(), ['ada', 'bert']);
    assert.ok((await team.textContent())?.includes(prompt));
    assert.equal(await team.locator('img').count(), 0);
    assert.match(
      (await team.getByRole('row').nth(1).textContent()) ?? '',
      /beginsWith: Write the parser.*isolated/,
    );
    assert.match((await tasks.getByRole('row').nth(1).textContent()) ?? '', /isolated/);
    assert.doesNotMatch((await tasks.getByRole('row').nth(2).textContent()) ?? '', /isolated/);
    assert.match((await team.getByRole('row').nth(2).textContent()) ?? '', /planFirst.*model: other/);
    assert.deepEqual(await tasks.getByRole('rowheader').allTextContents(), [
      'Write the parser',
      'Test the parser',
    ]);
    await shown.page.getByText('About 3 calls.').waitFor();
  });

  it('approves as it stands where nothing was changed', async () => {
    await named('edit ada').click();
    await named('fold ada').click();
    await named('approve').click();
    assert.deepEqual(await decisions(), [decide]);
  });

  it('approves a part, from the keyboard alone; what waits for what is left out waits no more', async () => {
    await box('take bert').focus();
    await shown.page.keyboard.press('Space');
    await box('take Write the parser').focus();
    await shown.page.keyboard.press('Space');
    // The row is drawn anew and keeps the keyboard.
    assert.equal(await hasFocus(box('take Write the parser')), true);
    await named('approveChanged').focus();
    await shown.page.keyboard.press('Enter');
    const accepted = whole();
    accepted.members.splice(1, 1);
    accepted.tasks.splice(0, 1);
    delete accepted.members[0]?.task;
    Object.assign(accepted.tasks[0] ?? {}, { blocked_by: [] });
    assert.deepEqual(await decisions(), [{ ...decide, accepted }]);
  });

  it('offers the roles there are for each member, as text, and takes any other', async () => {
    for (const name of ['edit ada', 'edit bert']) await named(name).click();
    for (const input of await roleField().all()) {
      const list = shown.page.locator(`datalist[id="${await input.getAttribute('list')}"] option`);
      const offers = await list.evaluateAll((all) =>
        all.map((each) => [each.getAttribute('value'), each.textContent]),
      );
      assert.deepEqual(offers, [
        ['coder', 'Writes <b>code</b>.'],
        ['reviewer', ''],
      ]);
    }
    assert.equal(await roleField().count(), 2);
  });

  it('takes edits of every field, and says in place what cannot be', async () => {
    await named('edit ada').click();
    await field('memberName').fill('Carl');
    assert.equal(await shown.page.getByText('problem_name_taken').isVisible(), true);
    await field('memberName').fill('lead');
    assert.equal(await shown.page.getByText('problem_name', { exact: true }).isVisible(), true);
    assert.equal(await field('memberName').getAttribute('aria-invalid'), 'true');
    await named('approveChanged').click();
    assert.deepEqual(await decisions(), []);
    assert.equal(await hasFocus(field('memberName')), true);
    await field('memberName').fill('Anna');
    assert.equal(await shown.page.getByText('problem_name', { exact: true }).isVisible(), false);
    await roleField().fill('architect');
    await field('memberTask').fill('Draw it.');
    await field('model').fill('big');
    await box('planFirst').check();
    await shown.page.getByRole('combobox', { name: 'beginsWith' }).selectOption('');
    await named('fold ada').click();
    await named('edit Test the parser').click();
    await shown.page.getByRole('spinbutton', { name: 'taskPriority' }).fill('1.5');
    assert.equal(await shown.page.getByText('problem_priority').isVisible(), true);
    await shown.page.getByRole('spinbutton', { name: 'taskPriority' }).fill('7');
    await shown.page.getByRole('group', { name: 'taskWaits' }).getByRole('checkbox').uncheck();
    await named('approveChanged').click();
    const accepted = whole();
    accepted.members[0] = {
      of: 'ada',
      name: 'anna',
      role: 'architect',
      prompt: 'Draw it.',
      require_plan: true,
      model: 'big',
    };
    Object.assign(accepted.tasks[1] ?? {}, { priority: 7, blocked_by: [] });
    const [sent] = await decisions();
    assert.deepEqual(sent, { ...decide, accepted });
  });

  it('makes a task isolated, or not, from the keyboard', async () => {
    await named('edit Write the parser').click();
    assert.equal(await box('isolated').isChecked(), true);
    await box('isolated').focus();
    await shown.page.keyboard.press('Space');
    await named('fold Write the parser').click();
    await named('edit Test the parser').click();
    await box('isolated').focus();
    await shown.page.keyboard.press('Space');
    await named('approveChanged').click();
    const accepted = whole();
    delete accepted.tasks[0]?.isolated;
    Object.assign(accepted.tasks[1] ?? {}, { isolated: true });
    assert.deepEqual(await decisions(), [{ ...decide, accepted }]);
  });

  it('opens the fields of the row in which something is wrong', async () => {
    await named('edit ada').click();
    await field('memberTask').fill(' ');
    await named('fold ada').click();
    assert.equal(await shown.page.getByText('problem_prompt').isVisible(), true);
    await named('approveChanged').click();
    assert.equal(await hasFocus(field('memberTask')), true);
    assert.deepEqual(await decisions(), []);
    for (const name of ['take ada', 'take bert', 'take Write the parser', 'take Test the parser'])
      await box(name).uncheck();
    await named('approveChanged').click();
    assert.equal(await shown.page.getByText('problem_nothing').isVisible(), true);
    assert.deepEqual(await decisions(), []);
    // A rejection needs nothing to be right.
    await named('reject').click();
    assert.deepEqual(await decisions(), [{ ...decide, approve: false }]);
  });

  it('keeps what is typed while it is drawn again, and has it back in a new page', async () => {
    await named('edit ada').click();
    await roleField().fill('architect');
    await box('take bert').uncheck();
    await shown.send(show({ doing: 'thinking', proposal: { payload, taken: ['ada'], roles } }));
    await holds(roleField(), 'architect');
    assert.equal(await shown.page.getByText('problem_name_taken').isVisible(), true);
    const kept = (await shown.posted()).flatMap((message) => {
      const { type, text } = message as { type: string; text: string };
      return type === 'edits' ? [text] : [];
    });
    await shown.close();
    const strings = { ...keysAsTexts(requestStrings), takeOne: 'take {0}', edit: 'edit {0}' };
    shown = await openWebviewPage(browser, { bundle: 'request', strings, requestId: 'd08982e3' });
    await shown.send(show({}, { edits: kept.at(-1) }));
    assert.equal(await box('take bert').isChecked(), false);
    await named('edit ada').click();
    await holds(roleField(), 'architect');
    for (const damaged of ['{', '{"members":[]}', '[]']) {
      await shown.close();
      shown = await openWebviewPage(browser, { bundle: 'request', strings, requestId: 'd08982e3' });
      await shown.send(show({}, { edits: damaged }));
      assert.equal(await box('take bert').isChecked(), true, damaged);
    }
  });

  it('shows what was proposed and what was made of it once it is decided, and nothing to edit', async () => {
    const accepted = whole();
    Object.assign(accepted.members[0] ?? {}, { name: 'anna' });
    accepted.members.splice(1, 1);
    const proposal = { payload, accepted, taken: [], roles };
    await shown.send(show({ status: 'approved', outcome: 'Approved by you.', proposal }));
    assert.equal(await shown.page.getByRole('checkbox').count(), 0);
    const rows = shown.page.getByRole('table').first().getByRole('row');
    assert.match((await rows.nth(1).textContent()) ?? '', /^anna.*memberName, was/s);
    assert.match((await rows.nth(2).textContent()) ?? '', /^bert.*nothingTaken/s);
    for (const name of ['approve', 'approveChanged', 'reject'])
      assert.equal(await named(name).isVisible(), false);
  });

  it('is only shown in a window that does not run the team', async () => {
    await shown.close();
    shown = await openWebviewPage(browser, {
      bundle: 'request',
      strings: keysAsTexts(requestStrings),
      requestId: 'd08982e3',
    });
    await shown.send(show({ readOnly: 'Another window runs the team.' }));
    assert.equal(await shown.page.getByRole('checkbox').count(), 0);
    assert.deepEqual(await shown.page.getByRole('rowheader').allTextContents(), [
      'ada',
      'bert',
      'Write the parser',
      'Test the parser',
    ]);
  });
});
