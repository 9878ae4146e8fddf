import * as vscode from 'vscode';
import { Commands } from './contributions';
import { leftWork, leftWorkText } from './leftWork';
import type { Session } from './session';

/**
 * After a restart: says that members that were at work go on when the human says so. It goes by itself; the
 * Conversation and the Team view offer the same for as long as the work waits.
 */
export function offerToResume(session: Session, log: vscode.LogOutputChannel): void {
  const core = session.core();
  const names = core ? leftWork(core) : [];
  if (names.length === 0) return;
  log.info(`Waiting for the human's word to go on: ${names.join(', ')}`);
  const goOn = vscode.l10n.t('Go On');
  vscode.window
    .showInformationMessage(leftWorkText(names), goOn, vscode.l10n.t('Not Now'))
    .then((label) => (label === goOn ? vscode.commands.executeCommand(Commands.resumeTeam) : undefined))
    .then(undefined, (error: unknown) => log.error('The offer to go on could not be shown.', error));
}
