import * as vscode from 'vscode';
import type { WorkspaceKey } from './fileKeys';
import { plainLine } from './plainText';
import type { Seat } from './seat';

/**
 * Offers the key that stands in a file of the workspace, where there is no other. A notification, not a dialog:
 * the question names the file and the address, and doing nothing means no.
 */
export async function offerWorkspaceKey(seat: Pick<Seat, 'choice' | 'files'>): Promise<void> {
  const { choice, files } = seat;
  await choice.loaded;
  const { offered } = files;
  if (!offered || files.agreed || choice.isDemo || choice.missing() === undefined) return;
  await askForWorkspaceKey(seat, offered);
}

/** @returns whether the user agreed */
export async function askForWorkspaceKey(
  { choice }: Pick<Seat, 'choice'>,
  { file, baseUrl }: WorkspaceKey,
): Promise<boolean> {
  const use = vscode.l10n.t('Use It Here');
  const label = await vscode.window.showWarningMessage(
    vscode.l10n.t(
      'This workspace has a model key in {0}. With it, everything that the team reads and says goes to {1}. Use it in this workspace?',
      file.name,
      plainLine(baseUrl, 120),
    ),
    use,
    vscode.l10n.t('Not Now'),
  );
  if (label !== use) return false;
  await choice.useWorkspaceKey(true);
  await choice.leaveDemo();
  return true;
}
