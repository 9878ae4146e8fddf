import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { webviewHtml } from '../../src/ui/webviewHtml';
import type { conversationStrings, requestStrings } from '../../src/ui/webviewStrings';
import { root } from '../host/paths';

/**
 * A webview's built page in a plain browser, with the document and the content security policy that VS Code
 * would give it, and a stand-in for VS Code's side that records what the page says.
 */
export interface WebviewPage {
  readonly page: Page;
  /** What the page posted to the extension, oldest first. */
  posted(): Promise<unknown[]>;
  /** Delivers a message of the extension and waits until it is drawn. */
  send(message: unknown): Promise<void>;
  /** Every address the page asked for, other than its own files. */
  readonly foreignRequests: readonly string[];
  /** What the content security policy refused. */
  violations(): Promise<string[]>;
  close(): Promise<void>;
}

export interface PageOptions {
  bundle: 'conversation' | 'request';
  strings: Readonly<Record<string, string>>;
  requestId?: string;
  /** VS Code's variables, such as `--vscode-foreground`. */
  theme?: { kind: 'vscode-dark' | 'vscode-light'; variables: Readonly<Record<string, string>> };
  viewport?: { width: number; height: number };
}

/** Texts for a page in which every text says its own key. */
export function keysAsTexts(
  schema: typeof conversationStrings | typeof requestStrings,
): Record<string, string> {
  return Object.fromEntries(schema.keyType.options.map((key) => [key, key]));
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.ttf': 'font/ttf',
};

/** VS Code's side of the page, which records what is posted, and what the policy refused. */
const standIn = `
  window.testPosted = [];
  window.testRefused = [];
  let spoke;
  window.testSpoke = new Promise((done) => { spoke = done; });
  document.addEventListener('securitypolicyviolation', (event) => {
    window.testRefused.push(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile);
  });
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => { window.testPosted.push(message); spoke(); },
    setState: () => undefined,
  });
`;

/** Sets a theme as VS Code does: a class of the body, and variables of the root. */
const paint = `({ kind, variables }) => {
  document.addEventListener('DOMContentLoaded', () => {
    document.body.classList.add(kind);
    for (const [name, value] of Object.entries(variables)) document.documentElement.style.setProperty(name, value);
  });
}`;

export async function openWebviewPage(browser: Browser, options: PageOptions): Promise<WebviewPage> {
  const { bundle, strings, requestId, theme } = options;
  let html = '';
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (path === '/') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
      return;
    }
    readFile(join(root, 'dist', 'webview', path.slice(1))).then(
      (body) => response.writeHead(200, { 'content-type': types[extname(path)] ?? 'text/plain' }).end(body),
      (error: unknown) => response.writeHead(404).end(String(error)),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The page server has no port.');
  const origin = `http://127.0.0.1:${address.port}`;
  html = webviewHtml({
    cspSource: origin,
    nonce: 'bm9uY2U',
    bundle,
    title: bundle,
    language: 'en',
    strings,
    requestId,
    asset: (file) => `${origin}/${file}`,
  });

  const context = await browser.newContext({ viewport: options.viewport ?? { width: 420, height: 800 } });
  const page = await context.newPage();
  const foreignRequests: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) foreignRequests.push(request.url());
  });
  await page.addInitScript(standIn);
  if (theme !== undefined) await page.addInitScript(`(${paint})(${JSON.stringify(theme)})`);
  await page.goto(origin);
  // The page asks for its state once its script has run; before that nobody would hear a message.
  await page.evaluate('window.testSpoke');
  return {
    page,
    foreignRequests,
    posted: () => page.evaluate<unknown[]>('window.testPosted'),
    violations: () => page.evaluate<string[]>('window.testRefused'),
    async send(message) {
      await page.evaluate(`new Promise((drawn) => {
        window.postMessage(${JSON.stringify(message)}, '*');
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      })`);
    },
    async close() {
      await context.close();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
