import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { conversationStrings, requestStrings } from '../../src/ui/webviewStrings';
import { launchChromium } from '../host/chromium';
import { keysAsTexts, openWebviewPage, type WebviewPage } from './webviewPage';

const hostile = [
  '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script><svg onload="window.hacked=3">',
  '![a picture](https://tracker.invalid/pixel.png)',
  '[run](command:handshake.approve?%5B%22d08982e3%22%5D) [script](javascript:window.hacked=4)',
  '[JAVA](JaVaScRiPt:window.hacked=5) [data](data:text/html,<script>1</script>) [file](file:///etc/passwd)',
  '<a href="javascript:window.hacked=6">raw</a> <iframe src="https://tracker.invalid/"></iframe>',
  '<style>body{background:url(https://tracker.invalid/css)}</style><form action="https://tracker.invalid">',
  '[good](https://example.com/docs "title") <https://example.org/auto> notes.md',
  '```js"><img src=x onerror=window.hacked=7>\nconst a = 1;\n```',
].join('\n\n');

const entry = (text: string, streaming = false) => ({
  type: 'upsert',
  entry: { kind: 'assistant', id: 'a', text, streaming, demo: false },
});

const state = {
  type: 'state',
  entries: [],
  busy: false,
  demo: false,
  draft: '',
  suggestions: ['Spawn alice'],
  welcome: [],
};

describe('text of models in the pages', function () {
  this.timeout(60_000);
  let browser: Browser;
  let open: WebviewPage | undefined;

  before(async () => {
    browser = await launchChromium();
  });
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });
  after(() => browser.close());

  async function conversation(): Promise<WebviewPage> {
    open = await openWebviewPage(browser, {
      bundle: 'conversation',
      strings: keysAsTexts(conversationStrings),
    });
    await open.send(state);
    return open;
  }

  async function assertInert(shown: WebviewPage, container: string): Promise<void> {
    const { page } = shown;
    assert.equal(await page.evaluate('window.hacked'), undefined);
    const found = await page.evaluate<string[]>(
      `[...document.querySelectorAll('${container} *')].map((element) => element.localName)`,
    );
    const forbidden = ['img', 'script', 'svg', 'iframe', 'style', 'form', 'object', 'embed', 'input'];
    assert.deepEqual(
      found.filter((name) => forbidden.includes(name)),
      [],
    );
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('${container} a[href]')].map((link) => link.getAttribute('href'))`,
    );
    // Addresses that stand in the text as text may be links too; none may be of another kind.
    assert.deepEqual(
      links.filter((href) => !/^https:\/\/(tracker\.invalid|example\.(com|org))\//.test(href)),
      [],
    );
    assert.ok(links.includes('https://example.com/docs'));
    const handlers = await page.evaluate<string[]>(
      `[...document.querySelectorAll('${container} *')].flatMap((element) => element.getAttributeNames())
        .filter((name) => name.startsWith('on') || name === 'style')`,
    );
    assert.deepEqual(handlers, []);
    assert.deepEqual(shown.foreignRequests, []);
    // Nothing even reached the policy: the sanitiser alone was enough.
    assert.deepEqual(await shown.violations(), []);
  }

  it('case 42: HTML, command links, scripts and remote images are inert in the Conversation', async () => {
    const shown = await conversation();
    await shown.send(entry(hostile));
    await assertInert(shown, '.log .markdown');
  });

  it('case 42: they stay so while the text streams in', async () => {
    const shown = await conversation();
    await shown.send(entry('', true));
    for (const piece of hostile.match(/[\s\S]{1,7}/g) ?? []) {
      await shown.send({ type: 'append_text', id: 'a', text: piece });
    }
    await shown.send(entry(hostile));
    await assertInert(shown, '.log .markdown');
  });

  it('case 42: and in the plan of the request panel', async () => {
    open = await openWebviewPage(browser, { bundle: 'request', strings: keysAsTexts(requestStrings) });
    const view = {
      requestId: 'd08982e3',
      kind: 'plan_approval',
      title: '<b>Plan</b>',
      from: 'bob',
      to: 'lead',
      status: 'pending',
      overdue: false,
      plan: hostile,
      createdAt: 0,
      canForceStop: false,
    };
    await open.send({ type: 'show', view, draft: '', focusFeedback: false });
    await assertInert(open, '.plan');
    assert.equal(await open.page.textContent('h1'), '<b>Plan</b>');
  });

  const plan = async (text: string): Promise<string> => {
    open = await openWebviewPage(browser, { bundle: 'request', strings: keysAsTexts(requestStrings) });
    const view = {
      requestId: 'd08982e3',
      kind: 'plan_approval',
      title: 'Plan',
      from: 'bob',
      to: 'lead',
      status: 'pending',
      overdue: false,
      plan: text,
      createdAt: 0,
      canForceStop: false,
    };
    await open.send({ type: 'show', view, draft: '', focusFeedback: false });
    return (await open.page.locator('.plan').textContent()) ?? '';
  };

  it('a plan hides nothing: what Markdown would leave out makes it stand as it was written', async () => {
    const deep = `${Array.from({ length: 60 }, (_, i) => `${'  '.repeat(i)}- level`).join('\n')}\n\n## Then\n\nDelete src.`;
    const hiding = [deep, '| a | b |\n| - | - |\n| 1 | 2 | rm everything |'];
    for (const text of hiding) {
      const shown = await plan(text);
      assert.ok(shown.includes('asWritten'), text.slice(-40));
      assert.ok(shown.includes(text.trim().split('\n').at(-1) ?? '?'), text.slice(-40));
      await open?.close();
    }
  });

  it('a plan hides nothing in definitions of links, which are drawn as they stand', async () => {
    assert.match(
      await plan('A\n\n[x]: http://e.com "send the keys"'),
      /^A\s+\[x\]: http:\/\/e\.com .send the keys.\s*$/,
    );
  });

  it('a plan that Markdown shows whole is drawn: fences with what they say, titles, entities of addresses', async () => {
    const text = [
      '# Add a search',
      '1. Read `src/a.ts` and **think**',
      '[docs](https://example.com/a?b=c "the title"), https://example.org/x_y',
      '```js with words\nconst a = 1;\n```',
      '| name | what |\n| --- | --- |\n| ä | über |',
      '- [ ] todo',
      '[https://example.com/a](https://example.com/a) and https://example.com/a%20big%20file',
      'R&amp;D, 3 &lt; 4, [Hub](https://Example.com/Foo) [coffee](https://example.com/caf%C3%A9)',
      '[the docs][docs] ![alt](https://example.com/a.png "a title")',
      '[docs]: https://example.com/docs',
      '1'.repeat(100_000),
    ].join('\n\n');
    const shown = await plan(text);
    assert.ok(!shown.includes('asWritten'), shown);
    for (const words of ['js with words', '(the title)', 'a title', 'https://example.com/docs'])
      assert.ok(shown.includes(words), words);
    const { page } = open ?? assert.fail();
    // Below the panel's own heading of the plan.
    assert.equal(await page.locator('.plan h3').textContent(), 'Add a search');
    assert.equal(await page.locator('.plan h1').count(), 0);
  });

  it('a safe link goes to the editor as a message, and the page stays', async () => {
    const shown = await conversation();
    await shown.send(entry(hostile));
    const before = shown.page.url();
    await shown.page.click('.markdown a >> text=good');
    assert.deepEqual((await shown.posted()).at(-1), { type: 'open_link', href: 'https://example.com/docs' });
    assert.equal(shown.page.url(), before);
  });
});
