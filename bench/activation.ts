/**
 * One start of the extension: the production bundle is required and activated in a fresh process, over the
 * stand-in for `vscode` (`NODE_PATH` leads to it). Arguments: bundle, storage.
 */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { argument, report } from './support/child';
import type { ActivationReport } from './support/reports';

/** Modules of Node's own that the editor's extension host has loaded before any extension. */
const LOADED_BY_THE_EDITOR = [
  'node:child_process',
  'node:crypto',
  'node:fs/promises',
  'node:http',
  'node:net',
  'node:os',
  'node:stream',
  'node:url',
  'node:util',
];

interface Extension {
  activate(context: object): Promise<unknown>;
  deactivate(): Promise<void>;
}

function isExtension(value: unknown): value is Extension {
  return (
    typeof value === 'object' &&
    value !== null &&
    'activate' in value &&
    typeof value.activate === 'function' &&
    'deactivate' in value &&
    typeof value.deactivate === 'function'
  );
}

function contextFor(root: string, storage: string): object {
  return {
    subscriptions: [],
    extensionPath: root,
    extensionUri: vscode.Uri.file(root),
    storageUri: vscode.Uri.file(storage),
    globalStorageUri: vscode.Uri.file(storage),
    secrets: {
      get: async () => undefined,
      store: async () => undefined,
      delete: async () => undefined,
      onDidChange: new vscode.EventEmitter<unknown>().event,
    },
    workspaceState: { get: () => undefined, update: async () => undefined },
    globalState: { get: () => undefined, update: async () => undefined },
    extension: { packageJSON: {} },
    languageModelAccessInformation: {
      canSendRequest: () => undefined,
      onDidChange: new vscode.EventEmitter<unknown>().event,
    },
    asAbsolutePath: (relative: string) => path.join(root, relative),
  };
}

report(async (): Promise<ActivationReport> => {
  const bundle = argument(0, 'bundle');
  const context = contextFor(path.dirname(path.dirname(bundle)), argument(1, 'storage'));
  for (const name of LOADED_BY_THE_EDITOR) require(name);
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  const loaded: unknown = createRequire(bundle)(bundle);
  const required = performance.now();
  const files = Object.keys(require.cache).filter((file) => file.startsWith(path.dirname(bundle)));
  if (!isExtension(loaded)) throw new Error(`${bundle} is not an extension.`);
  await loaded.activate(context);
  const activated = performance.now();
  const cpu = process.cpuUsage(cpuBefore);
  await loaded.deactivate();
  return {
    requireMs: required - begun,
    activateMs: activated - required,
    bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
    cpuMs: (cpu.user + cpu.system) / 1000,
  };
});
