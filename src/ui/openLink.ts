import * as vscode from 'vscode';
import { safeHref } from './safeLink';

/** Opens a link that a webview named, in the user's browser; anything but http, https and mailto is refused. */
export async function openLink(href: string, log: vscode.LogOutputChannel): Promise<void> {
  const safe = safeHref(href);
  if (safe === undefined) {
    log.warn(`A link was not opened, because it is not an http, https or mailto address: ${href}`);
    return;
  }
  const opened = await vscode.env.openExternal(vscode.Uri.parse(safe, true));
  if (!opened) log.info(`The link ${safe} was not opened.`);
}
