// The window under test as another extension or a user's keybinding meets it: the exported API, the
// commands, the documents and the files of the workspace.
import * as vscode from 'vscode';
import type { HandshakeApi, RequestSnapshot } from '../../../src/ui/api';

export type { HandshakeApi, RequestSnapshot } from '../../../src/ui/api';

/** Milliseconds after which something awaited is given up, with words that say what it was. */
export const PATIENCE = 90_000;

export function extension(): vscode.Extension<HandshakeApi> {
  const found = vscode.extensions.getExtension<HandshakeApi>('handshake.handshake-team');
  if (!found) throw new Error('handshake.handshake-team is not installed in this window');
  return found;
}

export async function activate(): Promise<HandshakeApi> {
  return extension().activate();
}

/** The folder that is open. */
export function root(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error('No folder is open in this window');
  return folder.uri.fsPath;
}

/** Runs a command of Handshake, named without its prefix. */
export async function run(command: string, ...args: unknown[]): Promise<unknown> {
  return vscode.commands.executeCommand(`handshake.${command}`, ...args);
}

/** Runs a command whose result is text, such as `showTeam`. */
export async function runForText(command: string, ...args: unknown[]): Promise<string> {
  const result = await run(command, ...args);
  if (typeof result !== 'string') throw new Error(`handshake.${command} returned no text`);
  return result;
}

/**
 * Resolves with the first value that `look` gives, now or at a later event.
 * @param listen subscribes to whatever may change what `look` sees
 */
export function until<T>(
  what: string,
  listen: (changed: () => void) => vscode.Disposable,
  look: () => T | undefined,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      subscription.dispose();
    };
    const check = (): void => {
      const value = look();
      if (value === undefined) return;
      end();
      resolve(value);
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error(`Waited ${PATIENCE} ms in vain for ${what}`));
    }, PATIENCE);
    const subscription = listen(check);
    check();
  });
}

/** The newest pending request of a kind (and of a sender), once there is one. */
export async function pending(kind: string, from?: string): Promise<RequestSnapshot> {
  const api = await activate();
  return until(
    `a pending ${kind} request${from ? ` from ${from}` : ''}`,
    (changed) => api.onDidChange(changed),
    () =>
      api
        .requests()
        .findLast((r) => r.kind === kind && r.status === 'pending' && r.from === (from ?? r.from)),
  );
}

/** The request by its id, as it is now. */
export async function request(requestId: string): Promise<RequestSnapshot> {
  const found = (await activate()).requests().find((each) => each.requestId === requestId);
  if (!found) throw new Error(`There is no request ${requestId}`);
  return found;
}

export interface Moves {
  /** The statuses that the request was seen in, in their order. */
  of(requestId: string): string[];
  dispose(): void;
}

/** Follows the requests by the API's event, as a dashboard in another extension would. */
export async function watchRequests(): Promise<Moves> {
  const api = await activate();
  const seen = new Map<string, string[]>();
  const subscription = api.onDidChange(({ type }) => {
    if (type !== 'request') return;
    for (const { requestId, status } of api.requests()) {
      const statuses = seen.get(requestId) ?? [];
      if (statuses.at(-1) !== status) seen.set(requestId, [...statuses, status]);
    }
  });
  return { of: (requestId) => seen.get(requestId) ?? [], dispose: () => subscription.dispose() };
}

let reads = 0;

/** A member's conversation as its transcript document shows it now. */
export async function transcript(member: string): Promise<string> {
  // An open document keeps what it was opened with for a moment; one of another query is read anew.
  const uri = vscode.Uri.from({ scheme: 'handshake-transcript', path: `/${member}.md`, query: `${reads++}` });
  return (await vscode.workspace.openTextDocument(uri)).getText();
}

/** The text of Handshake's log channel once it fits, as the Output view shows it. */
export async function logged(fits: RegExp): Promise<string> {
  await run('showLogs');
  return until(
    `the log to say ${fits}`,
    (changed) =>
      vscode.Disposable.from(
        vscode.workspace.onDidOpenTextDocument(changed),
        vscode.workspace.onDidChangeTextDocument(changed),
      ),
    () =>
      vscode.workspace.textDocuments
        .filter((document) => document.uri.scheme === 'output')
        .map((document) => document.getText())
        .find((text) => fits.test(text)),
  );
}

/** Changes a user setting and resolves when the extension host has it; undefined takes it away. */
export async function setSetting(name: string, value: unknown): Promise<void> {
  const id = `handshake.${name}`;
  const isSet = (): boolean => vscode.workspace.getConfiguration().inspect(id)?.globalValue === value;
  if (isSet()) return;
  await vscode.workspace.getConfiguration().update(id, value, vscode.ConfigurationTarget.Global);
  await until(
    `the setting ${id}`,
    (changed) => vscode.workspace.onDidChangeConfiguration(changed),
    () => (isSet() ? true : undefined),
  );
}

/** What a promise was rejected with. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { code?: unknown; kind?: unknown }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('It was not rejected');
}
