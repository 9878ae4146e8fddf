import * as vscode from 'vscode';
import type { Attention } from '../model/attention';
import { resumeTeam } from './modelAccess';
import type { Session } from './session';

/** After a restart: members that were at work go on when the human says so. */
export function offerToResume(session: Session, attention: Attention, log: vscode.LogOutputChannel): void {
  const names = session.core()?.resumable() ?? [];
  if (names.length === 0) return;
  log.info(`Waiting for the human's word to go on: ${names.join(', ')}`);
  const goOn = vscode.l10n.t('Go On');
  const text = vscode.l10n.t('{0} had work left when this window was closed.', names.join(', '));
  vscode.window.showInformationMessage(text, goOn, vscode.l10n.t('Not Now')).then(
    (label) => {
      if (label === goOn) resumeTeam(session, attention);
    },
    (error: unknown) => log.error('The offer to go on could not be shown.', error),
  );
}
