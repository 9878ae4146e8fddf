import * as vscode from 'vscode';

/** Says what the team waits for while the secret storage does not answer, and goes when it does. */
export function tellOfSlowKeyring(answer: Promise<unknown>, log: vscode.LogOutputChannel): void {
  const title = vscode.l10n.t(
    'Handshake is waiting for the keyring (secret storage) of this machine. The team opens when it answers; an unlock prompt may stand behind other windows.',
  );
  log.warn(title);
  const settled = answer.then(
    () => log.info('The keyring has answered.'),
    // Whoever asked says what it answered.
    () => log.info('The keyring has refused.'),
  );
  void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => settled);
}
