import assert from 'node:assert/strict';
import { safeHref } from '../../src/ui/safeLink';
import { contentSecurityPolicy, webviewHtml } from '../../src/ui/webviewHtml';

describe('the frame of a webview', () => {
  const html = webviewHtml({
    cspSource: 'https://source',
    nonce: 'n0nce',
    bundle: 'request',
    title: '</title><script>alert(1)</script>',
    language: 'en',
    strings: { approve: `"><img src=x onerror='alert(1)'>` },
    requestId: '"><b>',
    asset: (file) => `https://source/${file}`,
  });

  it('case 42: allows one script by its nonce and loads nothing else', () => {
    const policy = contentSecurityPolicy('https://source', 'n0nce').split('; ');
    assert.deepEqual(policy, [
      "default-src 'none'",
      "script-src 'nonce-n0nce'",
      "style-src https://source 'nonce-n0nce'",
      'font-src https://source',
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    assert.ok(!policy.join().includes('unsafe'));
  });

  it('case 42: lets no text out of its place', () => {
    assert.equal(html.match(/<script/g)?.length, 1);
    assert.ok(!html.includes('<img'));
    assert.ok(!html.includes('<b>'));
  });
});

describe('links in text of models', () => {
  const good = ['https://example.com/a?b=1', 'http://localhost:3000/', 'mailto:a@example.com'];
  for (const href of good) it(`${href} is opened`, () => assert.equal(safeHref(href), href));
  const bad = [
    'command:handshake.approve?%5B%22d08982e3%22%5D',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'https://a\n.example',
    'vscode://settings',
    'file:///etc/passwd',
    'data:text/html,x',
    '//example.com',
    'src/a.ts',
    'https://good.example@evil.example/',
    '',
  ];
  for (const href of bad) it(`${JSON.stringify(href)} is not`, () => assert.equal(safeHref(href), undefined));
});
