/** The HTML frame of every webview of Handshake, with its content security policy. */

export interface WebviewDocument {
  /** `webview.cspSource` */
  cspSource: string;
  /** Fresh for every document. */
  nonce: string;
  /** Name of the bundle in `dist/webview`, without its ending. */
  bundle: 'conversation' | 'request';
  title: string;
  /** BCP 47, such as `en`. */
  language: string;
  /** The translated texts of this webview. */
  strings: Readonly<Record<string, string>>;
  /** The one request that this document is about; the page keeps it for the time after a reload. */
  requestId?: string;
  /** The address of a file of `dist/webview`. */
  asset(file: string): string;
}

/**
 * Nothing is allowed but our one script, our style sheets and the icon font: no images, no frames, no
 * connections. Text of models and members can therefore load nothing even if the sanitiser had a hole.
 */
export function contentSecurityPolicy(cspSource: string, nonce: string): string {
  return [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    // The toolkit tries a rule in a style element of its own, marked with the nonce of `csp-nonce`.
    `style-src ${cspSource} 'nonce-${nonce}'`,
    `font-src ${cspSource}`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
}

export function webviewHtml(document: WebviewDocument): string {
  const { cspSource, nonce, bundle, title, language, strings, requestId = '', asset } = document;
  const style = (file: string) => `<link rel="stylesheet" href="${escapeHtml(asset(file))}">`;
  return `<!DOCTYPE html>
<html lang="${escapeHtml(language)}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${escapeHtml(contentSecurityPolicy(cspSource, nonce))}">
  <meta property="csp-nonce" content="${escapeHtml(nonce)}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  ${style('codicon.css')}
  ${style(`${bundle}.css`)}
  <title>${escapeHtml(title)}</title>
</head>
<body data-strings="${escapeHtml(JSON.stringify(strings))}" data-request-id="${escapeHtml(requestId)}">
  <script nonce="${escapeHtml(nonce)}" src="${escapeHtml(asset(`${bundle}.js`))}"></script>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
