/** How often a failed call is tried again, and after what pause. */

import { ModelError, type ModelErrorKind } from './port';

/** A pause that the endpoint asks for and that is longer than this is the user's to wait for. */
export const LONGEST_PAUSE_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_OWN_PAUSE_MS = 60_000;

/** Limits and overloads pass by themselves, so they are waited for (about two minutes); a fault is not. */
const TRIES_WHEN_BUSY = 8;
const TRIES_OTHERWISE = 4;

/** What holds for every call to the same endpoint, not just for the one that met it. */
export function concernsAll(kind: ModelErrorKind): boolean {
  return kind === 'rate_limit' || kind === 'overloaded';
}

/**
 * @param tries how often the call was made
 * @returns the pause before the next try, in milliseconds, or undefined when there is to be none
 */
export function pauseAfter(error: ModelError, tries: number): number | undefined {
  if (!error.retry) return undefined;
  if (tries >= (concernsAll(error.kind) ? TRIES_WHEN_BUSY : TRIES_OTHERWISE)) return undefined;
  const growing = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_OWN_PAUSE_MS);
  const { retryAfterMs } = error;
  if (retryAfterMs === undefined) return growing;
  return retryAfterMs > LONGEST_PAUSE_MS ? undefined : retryAfterMs;
}

/** The error that a call ends with: the last one, with how often it was tried. */
export function afterTries(error: ModelError, tries: number): ModelError {
  if (tries < 2) return error;
  return new ModelError(error.kind, `${error.message} It was tried ${tries} times.`, {
    cause: error.cause,
    retry: false,
  });
}
