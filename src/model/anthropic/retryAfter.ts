/** What an endpoint's headers say about when to call again. */

/**
 * Milliseconds to wait: what `retry-after` says, else the latest reset of a limit that is used up.
 * @param now milliseconds since the epoch, for headers that give a time
 * @returns undefined where no header says anything that makes sense
 */
export function retryAfterMs(headers: Headers | undefined, now: number): number | undefined {
  if (!headers) return undefined;
  const exact = number(headers.get('retry-after-ms'));
  if (exact !== undefined) return exact;
  const after = headers.get('retry-after');
  const seconds = number(after);
  if (seconds !== undefined) return seconds * 1000;
  const date = after === null ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  return untilReset(headers, now);
}

function untilReset(headers: Headers, now: number): number | undefined {
  const resets: number[] = [];
  for (const [name, value] of headers) {
    const limit = /^anthropic-ratelimit-(.+)-reset$/.exec(name)?.[1];
    if (limit === undefined) continue;
    const remaining = headers.get(`anthropic-ratelimit-${limit}-remaining`);
    const status = headers.get(`anthropic-ratelimit-${limit}-status`);
    if (remaining === null ? status !== 'rejected' : number(remaining) !== 0) continue;
    // A date, or seconds since the epoch.
    const epoch = number(value);
    const at = epoch === undefined ? Date.parse(value) : epoch * 1000;
    if (!Number.isNaN(at)) resets.push(Math.max(0, at - now));
  }
  return resets.length > 0 ? Math.max(...resets) : undefined;
}

/** A number that is not negative, or undefined. */
function number(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
