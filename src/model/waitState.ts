import type { ModelErrorKind } from './port';

/** What a call waits for before it is made. */
export type WaitState =
  /** As many calls are under way as may be. */
  | { for: 'slot' }
  /** The pause after a failure, its own or one that concerns all; `ms` is what is left of it. */
  | { for: 'pause'; why: ModelErrorKind; ms: number };

/** In a few words, such as `waiting 12 s: rate limit`. */
export function describeWait(state: WaitState): string {
  if (state.for === 'slot') return 'waiting for other model calls to end';
  return `waiting ${Math.max(1, Math.ceil(state.ms / 1000))} s: ${reason(state.why)}`;
}

function reason(why: ModelErrorKind): string {
  switch (why) {
    case 'rate_limit':
      return 'rate limit';
    case 'overloaded':
      return 'endpoint overloaded';
    case 'unreachable':
      return 'endpoint not reached';
    case 'timeout':
      return 'no answer came';
    case 'interrupted_stream':
      return 'the answer broke off';
    default:
      return 'the call failed';
  }
}
