import type { BrowserContext } from 'playwright-core';
import type { VscodeServer } from './server';

export interface WorkbenchAddress {
  server: VscodeServer;
  /** The folder or the `.code-workspace` file to open; without one the window is empty. */
  folder?: string;
  /** Folders of extensions to load as if under development; the server must have `automation`. */
  extensions?: readonly string[];
  /** The bundle whose `run()` is called in the extension host; likewise. */
  tests?: string;
}

/** The address that opens the workbench. */
export function workbenchUrl(address: WorkbenchAddress): string {
  const url = new URL('/', address.server.origin);
  if (address.folder === undefined) url.searchParams.set('ew', 'true');
  else
    url.searchParams.set(address.folder.endsWith('.code-workspace') ? 'workspace' : 'folder', address.folder);
  url.searchParams.set('payload', JSON.stringify(payload(address)));
  return url.href;
}

function payload(address: WorkbenchAddress): string[][] {
  const remote = (path: string): string => `vscode-remote://127.0.0.1:${address.server.port}${path}`;
  return [
    ...(address.extensions ?? []).map((path) => ['extensionDevelopmentPath', remote(path)]),
    ...(address.tests === undefined ? [] : [['extensionTestsPath', remote(address.tests)]]),
    ['skipWelcome', 'true'],
  ];
}

/**
 * Lets SecretStorage last within a browser context: VS Code's bare server has no end point for the key
 * that the page encrypts secrets with.
 */
export async function keepSecrets(context: BrowserContext): Promise<void> {
  await context.route('**/mint-key', (route) =>
    route.fulfill({ status: 200, contentType: 'application/octet-stream', body: Buffer.alloc(32, 7) }),
  );
}

/** Fails the page's requests to other hosts (extension gallery and the like) at once instead of in time. */
export async function blockOutside(context: BrowserContext): Promise<void> {
  await context.route(
    (url) => url.protocol.startsWith('http') && url.hostname !== '127.0.0.1',
    (route) => route.abort('internetdisconnected'),
  );
}
