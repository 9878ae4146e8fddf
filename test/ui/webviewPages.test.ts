import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { LONGEST_FEEDBACK, LONGEST_MESSAGE } from '../../src/ui/messages';
import { conversationStrings, requestStrings } from '../../src/ui/webviewStrings';
import { launchChromium } from '../host/chromium';
import { eventually, holds } from './driver-wait';
import { keysAsTexts, openWebviewPage, type WebviewPage } from './webviewPage';

const state = {
  type: 'state',
  entries: [],
  busy: false,
  demo: false,
  draft: '',
  suggestions: ['Spawn alice'],
  welcome: [],
};

describe('the Conversation page', function () {
  this.timeout(60_000);
  let browser: Browser;
  let shown: WebviewPage;

  before(async () => {
    browser = await launchChromium();
  });
  beforeEach(async () => {
    shown = await openWebviewPage(browser, {
      bundle: 'conversation',
      strings: keysAsTexts(conversationStrings),
    });
    await shown.send(state);
  });
  afterEach(() => shown.close());
  after(() => browser.close());

  const types = async (type: string) =>
    (await shown.posted()).filter((message) => JSON.stringify(message).startsWith(`{"type":"${type}"`));
  const input = () => shown.page.getByRole('textbox', { name: 'input' });

  it('sends with Enter, makes a line with Shift+Enter, and leaves the text alone on Escape', async () => {
    await input().focus();
    await shown.page.keyboard.type('one');
    await shown.page.keyboard.press('Shift+Enter');
    await shown.page.keyboard.type('two');
    await shown.page.keyboard.press('Escape');
    await holds(input(), 'one\ntwo');
    await shown.page.keyboard.press('Enter');
    // The field is drawn a moment after it was emptied.
    await eventually(
      () => input().inputValue(),
      (value) => value === '',
      'the empty input',
    );
    assert.deepEqual((await shown.posted()).at(-1), { type: 'send', text: 'one\ntwo' });
  });

  it('keeps a text that is too long to send, and says so until it is shorter', async () => {
    const long = 'x'.repeat(LONGEST_MESSAGE + 1);
    await input().fill(long);
    await input().press('Enter');
    await shown.page.getByRole('alert').getByText('tooLong').waitFor();
    assert.equal((await input().inputValue()).length, long.length);
    assert.deepEqual(await types('send'), []);
    await input().fill('short');
    await shown.page.getByRole('alert').waitFor({ state: 'detached' });
    await input().press('Enter');
    await eventually(
      () => types('send'),
      (sent) => sent.length === 1,
      'the short text to be sent',
    );
  });

  it('offers sentences by name, and a click sends one', async () => {
    await shown.page.getByRole('button', { name: 'Spawn alice' }).click();
    assert.deepEqual((await shown.posted()).at(-1), { type: 'send', text: 'Spawn alice' });
  });

  it('shows Stop only while the lead works', async () => {
    const stop = shown.page.getByRole('button', { name: 'stop' });
    assert.equal(await stop.isVisible(), false);
    await shown.send({ type: 'busy', busy: true });
    await stop.click();
    assert.deepEqual((await shown.posted()).at(-1), { type: 'stop' });
  });

  it('follows what comes only while the reader is at the end', async () => {
    const human = (id: number) => ({
      type: 'upsert',
      entry: { kind: 'human', id: String(id), text: 'line\n'.repeat(10) },
    });
    for (let id = 0; id < 10; id++) await shown.send(human(id));
    const bottom = `(() => { const log = document.querySelector('.log');
      return log.scrollHeight - log.scrollTop - log.clientHeight; })()`;
    assert.ok((await shown.page.evaluate<number>(bottom)) < 2);
    await shown.page.evaluate(`document.querySelector('.log').scrollTop = 0`);
    await shown.send(human(10));
    await shown.send(human(11));
    assert.equal(await shown.page.evaluate(`document.querySelector('.log').scrollTop`), 0);
    await shown.page.getByRole('button', { name: 'newMessages' }).click();
    assert.ok((await shown.page.evaluate<number>(bottom)) < 2);
  });
});

describe('the request page', function () {
  this.timeout(60_000);
  let browser: Browser;
  let shown: WebviewPage;

  const view = {
    requestId: 'd08982e3',
    kind: 'shutdown',
    title: 'Shut down bob',
    from: 'lead',
    to: 'bob',
    status: 'pending',
    overdue: false,
    createdAt: 0,
    canForceStop: true,
  };
  const show = (more: object = {}) => ({
    type: 'show',
    view: { ...view, ...more },
    draft: 'a draft',
    focusFeedback: false,
  });

  before(async () => {
    browser = await launchChromium();
  });
  beforeEach(async () => {
    shown = await openWebviewPage(browser, {
      bundle: 'request',
      strings: keysAsTexts(requestStrings),
      requestId: 'd08982e3',
    });
    await shown.send(show());
  });
  afterEach(() => shown.close());
  after(() => browser.close());

  const named = (name: string) => shown.page.getByRole('button', { name, exact: true });
  const focused = () => shown.page.evaluate<string>('document.activeElement.textContent');
  const decisions = async () =>
    (await shown.posted()).filter((message) => JSON.stringify(message).includes('decide'));

  it('names what is hidden in a command, a path, a change or a name, so that what is read is what runs', async () => {
    const rlo = '\u202e';
    await shown.send(
      show({
        kind: 'tool_permission',
        title: `bob wants ${rlo}this`,
        command: `echo "${rlo}" ; rm -rf src`,
        path: `src/a\u200b.js`,
        reason: `No${rlo} reason`,
        diff: `--- a\n+++ a\n@@ -1 +1 @@\n-x\n+x${rlo}y\n`,
        files: [`b${rlo}.js`],
      }),
    );
    const texts = await shown.page.locator('.hidden-character').allTextContents();
    assert.deepEqual(texts, ['U+202E', 'U+202E', 'U+200B', 'U+202E', 'U+202E', 'U+202E']);
    assert.equal(await shown.page.locator('pre').first().textContent(), 'echo "U+202E" ; rm -rf src');
    assert.doesNotMatch((await shown.page.locator('main').textContent()) ?? '', /[\u202e\u200b]/);
  });

  it('sends one decision for a double click, with its own id and the feedback', async () => {
    await named('approve').dblclick();
    assert.deepEqual(await decisions(), [
      { type: 'decide', requestId: 'd08982e3', approve: true, feedback: 'a draft' },
    ]);
  });

  it('decides by no key but on a button, which the Tab key reaches in order', async () => {
    await shown.page.getByRole('textbox', { name: 'feedback' }).focus();
    for (const key of ['Control+Enter', 'Meta+Enter', 'Enter', 'Escape'])
      await shown.page.keyboard.press(key);
    assert.deepEqual(await decisions(), []);
    const order: string[] = [];
    for (let i = 0; i < 3; i++) {
      await shown.page.keyboard.press('Tab');
      order.push((await focused()).trim());
    }
    assert.deepEqual(order, ['approve', 'reject', 'forceStop']);
    await shown.page.keyboard.press('Shift+Tab');
    await shown.page.keyboard.press('Enter');
    assert.equal((await decisions()).length, 1);
  });

  it('keeps feedback that is too long to send, and says so', async () => {
    const box = shown.page.getByRole('textbox', { name: 'feedback' });
    await box.fill('q'.repeat(LONGEST_FEEDBACK + 1));
    await named('reject').click();
    await shown.page.getByRole('alert').getByText('tooLong').waitFor();
    assert.deepEqual(await decisions(), []);
    await box.fill('Shorter.');
    await named('reject').click();
    await eventually(decisions, (all) => all.length === 1, 'the decision');
  });

  it('says a refusal in place and gives the keyboard back', async () => {
    await named('reject').click();
    await shown.send({ type: 'failed', text: 'Request d08982e3 was already approved by bob.' });
    assert.match((await shown.page.getByRole('alert').textContent()) ?? '', /already approved by bob/);
    assert.equal((await focused()).trim(), 'reject');
    assert.equal(await named('reject').isEnabled(), true);
  });

  it('shows how it ended in place of the buttons, also when it was decided elsewhere', async () => {
    await named('approve').focus();
    await shown.send(show({ status: 'rejected', outcome: 'bob declined.', canForceStop: false }));
    for (const name of ['approve', 'reject', 'forceStop']) assert.equal(await named(name).isVisible(), false);
    assert.equal(await focused(), 'bob declined.');
  });

  it('says that an overdue request is decided by nobody but a person', async () => {
    const hint = shown.page.getByText('overdueHint');
    assert.equal(await hint.isVisible(), false);
    await shown.send(show({ overdue: true }));
    assert.equal(await hint.isVisible(), true);
  });

  it('keeps what is typed while it is drawn again', async () => {
    const box = shown.page.getByRole('textbox', { name: 'feedback' });
    await box.fill('typed since');
    await shown.send(show({ doing: 'bash npm test' }));
    await holds(box, 'typed since');
  });

  it('says when there is no such request', async () => {
    await shown.send({ type: 'missing', text: 'No request d08982e3.' });
    assert.equal(await named('approve').isVisible(), false);
    assert.match((await shown.page.textContent('body')) ?? '', /No request d08982e3/);
  });
});
