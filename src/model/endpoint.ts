/** Base URLs and proxies: how they are checked, compared and named to the user, never with a credential. */

import type { JsonObject } from './port';

export const DEFAULT_BASE_URL = 'https://api.anthropic.com';

export type Env = { readonly [name: string]: string | undefined };

/** True for a plain object, the shape of all JSON that crosses a border. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A base URL in one form, so that two of the same place are equal: no trailing slash, and no `/v1` or
 * `/v1/messages` that was copied along, because the client adds those itself.
 * @returns the URL, or a sentence that says what is wrong with the text
 */
export function parseBaseUrl(text: string): { url: string } | { problem: string } {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return { problem: 'it is not a URL. It should look like https://api.anthropic.com' };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { problem: `it begins with ${url.protocol}// and only http:// and https:// are possible` };
  if (url.username || url.password)
    return { problem: 'it holds a user name or password. Leave them out and give the key on its own' };
  if (url.search || url.hash)
    return { problem: 'it holds a query or a fragment. Leave out what follows ? or #' };
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1(\/messages)?$/, '');
  return { url: url.origin + path };
}

/** How a base URL is named in a message: scheme, host and path, without credentials or query. */
export function displayUrl(baseUrl: string): string {
  const parsed = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  return parsed ? parsed.origin + parsed.pathname.replace(/\/+$/, '') : 'the endpoint';
}

/** `host:port`, with the scheme's own port where none is written. */
export function hostAndPort(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { hostname, port, protocol } = new URL(baseUrl);
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
}

/**
 * Says which proxies are set, because one left behind explains many a failed connection.
 * @returns a sentence, or '' where none is set or the host is exempt
 */
export function proxyHint(baseUrl: string, env: Env, httpProxy?: string): string {
  if (isExempt(baseUrl, env)) return '';
  const found: string[] = [];
  const seen = new Set<string>();
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy', 'all_proxy']) {
    const value = env[name];
    if (!value || seen.has(name.toUpperCase())) continue;
    seen.add(name.toUpperCase());
    found.push(`${name} (${proxyHost(value)})`);
  }
  if (httpProxy) found.push(`the setting http.proxy (${proxyHost(httpProxy)})`);
  if (found.length === 0) return '';
  return `A proxy is set and may be the cause: ${found.join(', ')}. If you do not need it, remove it and start VS Code again.`;
}

function proxyHost(value: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  return URL.canParse(withScheme) ? new URL(withScheme).host || 'not a valid URL' : 'not a valid URL';
}

function isExempt(baseUrl: string, env: Env): boolean {
  const list = env.NO_PROXY ?? env.no_proxy ?? '';
  if (!list || !URL.canParse(baseUrl)) return false;
  const host = new URL(baseUrl).hostname.toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .map((entry) => entry.replace(/:\d+$/, '').replace(/^\*?\./, ''))
    .some((entry) => entry === '*' || (entry !== '' && (host === entry || host.endsWith(`.${entry}`))));
}
