import * as vscode from 'vscode';
import { registerCommand } from './commands/register';
import { Commands, InternalCommands, Views } from './contributions';
import { readOnlyTexts } from './ownershipTexts';
import type { Session } from './session';

/** Take Over, Adopt Team, and the menu of the status bar item of a read-only window. */
export function registerOwnershipCommands(
  session: Session,
  log: vscode.LogOutputChannel,
): vscode.Disposable[] {
  return [
    registerCommand(Commands.takeOver, log, async () => {
      const wasReadOnly = session.readOnly() !== undefined;
      await withProgress(vscode.l10n.t('Taking the team over'), () => session.takeOver());
      say(wasReadOnly);
    }),
    registerCommand(Commands.adoptTeam, log, async () => {
      const wasReadOnly = session.readOnly() !== undefined;
      await withProgress(vscode.l10n.t('Adopting the team'), () => session.adopt());
      say(wasReadOnly);
    }),
    registerCommand(InternalCommands.readOnlyMenu, log, async () => {
      const reason = session.readOnly();
      if (!reason) return;
      const { why, label, action } = readOnlyTexts(reason);
      const change = { label, detail: why, id: action === 'adopt' ? Commands.adoptTeam : Commands.takeOver };
      const look = { label: vscode.l10n.t('Show Team'), id: `${Views.team}.focus` };
      const chosen = await vscode.window.showQuickPick([change, look], { title: 'Handshake' });
      if (chosen) await vscode.commands.executeCommand(chosen.id);
    }),
  ];
}

/** A living window needs a moment to pause; the status bar says so. */
async function withProgress(title: string, run: () => Promise<void>): Promise<void> {
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, run);
}

function say(wasReadOnly: boolean): void {
  const text = wasReadOnly
    ? vscode.l10n.t('This window runs the team now')
    : vscode.l10n.t('This window runs the team already');
  vscode.window.setStatusBarMessage(`$(check) ${text}`, 4000);
}
