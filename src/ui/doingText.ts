import type { MemberActivity } from '../agent/coreApi';
import type { Doing } from '../agent/doing';
import type { WaitState } from '../model/waitState';
import { l10n } from './l10n';

/** What a member is doing, in a few words; empty when nothing runs. */
export function doingText({ doing, asksPermission }: MemberActivity): string {
  if (doing === undefined) return '';
  const text = textOf(doing);
  return asksPermission ? l10n.t('waiting for permission: {0}', text) : text;
}

function textOf(doing: Doing): string {
  switch (doing.what) {
    case 'thinking':
      return l10n.t('thinking');
    case 'call':
      return doing.call;
    case 'waits':
      return waitText(doing.for);
    case 'needs_key':
      return l10n.t('waiting for an API key');
  }
}

function waitText(state: WaitState): string {
  if (state.for === 'slot') return l10n.t('waiting for other model calls to end');
  return l10n.t('waiting {0} s: {1}', Math.max(1, Math.ceil(state.ms / 1000)), reasonText(state.why));
}

function reasonText(why: Extract<WaitState, { for: 'pause' }>['why']): string {
  switch (why) {
    case 'rate_limit':
      return l10n.t('rate limit');
    case 'overloaded':
      return l10n.t('endpoint overloaded');
    case 'unreachable':
      return l10n.t('endpoint not reached');
    case 'timeout':
      return l10n.t('no answer came');
    case 'interrupted_stream':
      return l10n.t('the answer broke off');
    default:
      return l10n.t('the call failed');
  }
}
