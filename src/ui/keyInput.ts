import { parseBaseUrl } from '../model/endpoint';
import { l10n } from './l10n';

/** What is wrong with a typed API key, or undefined. Never repeats the key. */
export function keyProblem(key: string): string | undefined {
  const trimmed = key.trim();
  if (trimmed === '') return l10n.t('A key is needed.');
  // A key travels in an HTTP header, which takes visible ASCII only.
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    return l10n.t('A key holds no spaces, line breaks or special characters. Copy it again.');
  }
  return undefined;
}

/** What is wrong with a base URL, or undefined. */
export function baseUrlProblem(baseUrl: string): string | undefined {
  const parsed = parseBaseUrl(baseUrl);
  return 'problem' in parsed ? l10n.t('This base URL cannot be used: {0}.', parsed.problem) : undefined;
}
