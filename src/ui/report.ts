import * as vscode from 'vscode';
import { Refusal } from '../protocol';
import { Cancelled, problemText, UserError } from './userError';

/**
 * Shows what a command of the user ended in. A refusal that only says somebody was quicker is information;
 * everything else is a warning or an error. Does not wait for the message to be closed.
 */
export function reportProblem(error: unknown, log: vscode.LogOutputChannel): void {
  if (error instanceof Cancelled) return;
  const text = problemText(error);
  if (error instanceof Refusal) {
    log.warn(`Refused (${error.code}): ${text}`);
    if (error.code === 'already_decided') void vscode.window.showInformationMessage(text);
    else void vscode.window.showWarningMessage(text);
    return;
  }
  if (error instanceof UserError) {
    log.warn(text);
    const labels = error.actions.map((action) => action.label);
    void vscode.window.showWarningMessage(text, ...labels).then((label) => {
      error.actions.find((action) => action.label === label)?.run();
    });
    return;
  }
  log.error(error instanceof Error ? error : text);
  void vscode.window.showErrorMessage(text);
}
