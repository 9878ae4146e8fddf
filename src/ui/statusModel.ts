import { l10n } from './l10n';

export interface StatusInput {
  /** Members, the lead included, that work now. */
  working: number;
  /** Requests that wait for a decision. */
  pending: number;
  /** How many of these wait for longer than they should. */
  overdue: number;
  /** Members that do nothing before the human gives them more tokens, access to a model or the word to go on. */
  held?: number;
  demo: boolean;
}

export interface StatusText {
  text: string;
  spoken: string;
  warning: boolean;
}

/** In a window that only shows the team. */
export function readOnlyStatusText(pending: number): StatusText {
  const waiting = pending === 0 ? '' : ` · ${l10n.t('{0} waiting', pending)}`;
  return {
    text: `$(lock) ${l10n.t('read-only')}${waiting}`,
    spoken: l10n.t('Handshake: read-only, {0} waiting for a decision', pending),
    warning: false,
  };
}

export function statusBarText({ working, pending, overdue, held = 0, demo }: StatusInput): StatusText {
  const counts =
    working === 0 && pending === 0 ? 'Handshake' : l10n.t('{0} working · {1} waiting', working, pending);
  const late = overdue === 0 ? '' : ` · ${l10n.t('{0} overdue', overdue)}`;
  const onHold = held === 0 ? '' : l10n.t('{0} on hold', held);
  const suffix = demo ? ` · ${l10n.t('demo')}` : '';
  const spoken =
    overdue === 0
      ? l10n.t('Handshake: {0} working, {1} waiting for a decision', working, pending)
      : l10n.t(
          'Handshake: {0} working, {1} waiting for a decision, {2} of them overdue',
          working,
          pending,
          overdue,
        );
  return {
    text: `$(organization) ${counts}${late}${onHold && ` · ${onHold}`}${suffix}`,
    spoken: `${spoken}${onHold && `, ${onHold}`}`,
    warning: pending > 0,
  };
}
