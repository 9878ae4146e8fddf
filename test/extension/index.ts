// What VS Code calls in the extension host, on the desktop and on the server host alike.
import { format } from 'node:util';
import Mocha from 'mocha';
import * as vscode from 'vscode';
import { reportCounts, runMocha, testFiles } from '../host/run-mocha';

/**
 * Runs the extension tests: all beside this bundle, or the one file that `HANDSHAKE_TEST_FILE` names.
 * @throws when a test failed, which makes VS Code exit with an error
 */
export async function run(): Promise<void> {
  process.setSourceMapsEnabled(true);
  markOutput();
  const only = process.env.HANDSHAKE_TEST_FILE;
  const files = only ? [only] : await testFiles(__dirname);
  const counts = await runMocha({
    files,
    timeout: 120_000,
    grep: process.env.HANDSHAKE_TEST_GREP,
    color: false,
  });
  const ranOn = `VS Code ${vscode.version} (${vscode.env.appName}), Node ${process.versions.node}`;
  await reportCounts({ ...counts, ranOn });
  if (counts.failed > 0) throw new Error(`${counts.failed} extension test(s) failed`);
}

/** On the server host, tells mocha's output from the workbench's, which takes the same way out. */
function markOutput(): void {
  const mark = process.env.HANDSHAKE_TEST_MARK;
  if (!mark) return;
  const print = console.log.bind(console);
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => print(format(...args).replace(/^/gm, mark));
}
