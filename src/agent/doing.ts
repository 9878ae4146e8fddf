import { describeWait, type WaitState } from '../model/waitState';

/** What a member is doing in its turn. The UI says it in the user's language. */
export type Doing =
  | { what: 'thinking' }
  /** A tool call in one line. */
  | { what: 'call'; call: string }
  /** Its model call has to wait. */
  | { what: 'waits'; for: WaitState }
  /** Its turn ended for want of a key. */
  | { what: 'needs_key' };

/** In English, such as `thinking`, `bash npm test`, `waiting 12 s: rate limit`. */
export function describeDoing(doing: Doing): string {
  switch (doing.what) {
    case 'thinking':
      return 'thinking';
    case 'call':
      return doing.call;
    case 'waits':
      return describeWait(doing.for);
    case 'needs_key':
      return 'waiting for an API key';
  }
}

/** Whether a call waits on for what it waited for before; the time that is left only became less. */
export function isSameWait(before: Doing | undefined, now: WaitState): boolean {
  if (before?.what !== 'waits') return false;
  const was = before.for;
  if (was.for === 'slot' || now.for === 'slot') return was.for === now.for;
  return was.why === now.why && now.ms <= was.ms;
}
