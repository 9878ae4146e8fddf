import { l10n } from './l10n';

export interface StatusInput {
  /** Members, the lead included, that work now. */
  working: number;
  /** Requests that wait for a decision. */
  pending: number;
  /** How many of these wait for longer than they should. */
  overdue: number;
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

export function statusBarText({ working, pending, overdue, demo }: StatusInput): StatusText {
  const counts =
    working === 0 && pending === 0 ? 'Handshake' : l10n.t('{0} working · {1} waiting', working, pending);
  const late = overdue === 0 ? '' : ` · ${l10n.t('{0} overdue', overdue)}`;
  const suffix = demo ? ` · ${l10n.t('demo')}` : '';
  return {
    text: `$(organization) ${counts}${late}${suffix}`,
    spoken:
      overdue === 0
        ? l10n.t('Handshake: {0} working, {1} waiting for a decision', working, pending)
        : l10n.t(
            'Handshake: {0} working, {1} waiting for a decision, {2} of them overdue',
            working,
            pending,
            overdue,
          ),
    warning: pending > 0,
  };
}
