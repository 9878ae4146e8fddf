/** Keeps keys out of everything that a person, a model or a log gets to read. */

const LOOKS_LIKE_A_KEY = /\bsk-[A-Za-z0-9_-]{8,}/g;

/** Replaces each secret, and whatever looks like an API key, by a mark. Secrets shorter than 4 characters stay. */
export function redact(text: string, secrets: readonly (string | undefined)[]): string {
  let safe = text;
  for (const secret of secrets) {
    if (!secret || secret.length < 4) continue;
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]))
      safe = safe.replaceAll(form, '[key]');
  }
  return safe.replace(LOOKS_LIKE_A_KEY, '[key]');
}
