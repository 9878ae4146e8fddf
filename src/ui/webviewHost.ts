import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type WebviewDocument, webviewHtml } from './webviewHtml';

/** Gives a webview its rights and its document: scripts, and files from `dist/webview` only. */
export function fillWebview(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  content: Pick<WebviewDocument, 'bundle' | 'title' | 'strings' | 'requestId'>,
): void {
  const root = vscode.Uri.joinPath(extensionUri, 'dist', 'webview');
  webview.options = { enableScripts: true, enableForms: false, localResourceRoots: [root] };
  webview.html = webviewHtml({
    ...content,
    cspSource: webview.cspSource,
    nonce: randomBytes(16).toString('base64'),
    language: vscode.env.language,
    asset: (file) => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString(),
  });
}
