import * as vscode from 'vscode';
import type { WorkspaceKey } from './fileKeys';
import { plainAddress } from './plainText';
import type { Seat } from './seat';

/**
 * Offers the key that stands in a file of the workspace, where there is no other, and asks again where the file was
 * changed after the user had agreed to it. A notification, not a dialog: the question names the file and the address,
 * and doing nothing means no. The same is asked once a window.
 */
export function offerWorkspaceKey(
  seat: Pick<Seat, 'choice' | 'files'>,
  report: (error: unknown) => void,
): vscode.Disposable {
  const { choice, files } = seat;
  const asked = new Set<string>();
  const look = async (): Promise<void> => {
    await choice.loaded;
    const { offered, agreed, hasMoved } = files;
    if (!offered || agreed || choice.isDemo || (!hasMoved && choice.missing() === undefined)) return;
    const what = JSON.stringify([offered.file.name, offered.baseUrl]);
    if (asked.has(what)) return;
    asked.add(what);
    await askForWorkspaceKey(seat, offered);
  };
  const tryLook = (): void => void look().catch(report);
  tryLook();
  return choice.onDidChange(tryLook);
}

/** @returns whether the user agreed */
export async function askForWorkspaceKey(
  { choice }: Pick<Seat, 'choice'>,
  shown: WorkspaceKey,
): Promise<boolean> {
  const { file, baseUrl } = shown;
  const use = vscode.l10n.t('Use It Here');
  const label = await vscode.window.showWarningMessage(
    vscode.l10n.t(
      'This workspace has a model key in {0}. With it, everything that the team reads and says goes to {1}. Use it in this workspace?',
      file.name,
      plainAddress(baseUrl),
    ),
    use,
    vscode.l10n.t('Not Now'),
  );
  if (label !== use) return false;
  await choice.useWorkspaceKey(shown);
  await choice.leaveDemo();
  return true;
}
