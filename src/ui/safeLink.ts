const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/**
 * The one rule for links in text that a model or a member wrote, on both sides of the webview border.
 * @returns the normalized address, or undefined where it is not an absolute http, https or mailto link
 */
export function safeHref(href: string): string | undefined {
  // The URL parser drops control characters and would let `java\nscript:` pass as something else.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are exactly what is refused
  if (/[\u0000-\u0020\u007f]/.test(href.trim())) return undefined;
  let url: URL;
  try {
    url = new URL(href.trim());
  } catch {
    return undefined;
  }
  if (!SCHEMES.has(url.protocol)) return undefined;
  // A name and password before the host are there to make one host look like another.
  if (url.username !== '' || url.password !== '') return undefined;
  return url.href;
}
