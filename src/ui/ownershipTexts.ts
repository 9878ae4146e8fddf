import type { ReadOnlyReason } from '../agent/readOnly';
import { l10n } from './l10n';
import { plainLine } from './plainText';

/** What a window that only shows the team says of it, everywhere the same. */
export interface ReadOnlyTexts {
  /** Who runs the team, in a sentence. */
  why: string;
  /** The button that changes it. */
  label: string;
  action: 'take_over' | 'adopt';
}

export function readOnlyTexts(reason: ReadOnlyReason): ReadOnlyTexts {
  const takeOver = { label: l10n.t('Take Over'), action: 'take_over' } as const;
  switch (reason.kind) {
    case 'held':
      return {
        why: l10n.t('Read-only: another window (process {0}) runs this team.', reason.pid),
        ...takeOver,
      };
    case 'free':
      return { why: l10n.t('Read-only: the window that ran this team is gone.'), ...takeOver };
    case 'foreign':
      return {
        why: l10n.t(
          "Read-only: the team '{0}' was run elsewhere, and its journal is not here.",
          plainLine(reason.teamName, 60),
        ),
        label: l10n.t('Adopt Team'),
        action: 'adopt',
      };
    case 'adopted':
      return {
        why: l10n.t(
          "Read-only: the team '{0}' was adopted by another window, which keeps its journal elsewhere.",
          plainLine(reason.teamName, 60),
        ),
        label: l10n.t('Adopt Team'),
        action: 'adopt',
      };
    case 'foreign_key':
      return {
        why: l10n.t(
          'Read-only: the journal is signed with another key than the one kept here. Another browser or machine ran this team, or somebody replaced its journal. Adopt it only if you know which.',
        ),
        label: l10n.t('Adopt Team'),
        action: 'adopt',
      };
    case 'storage':
      return {
        why: l10n.t('Read-only: {0} It is tried again by itself.', plainLine(reason.text, 300)),
        ...takeOver,
      };
  }
}

/** The line above the rows of a view: why there is no team, or why it is only shown. */
export function viewMessage(session: {
  readonly state: string;
  whyNoCore(): string;
  readOnly(): ReadOnlyReason | undefined;
}): string | undefined {
  if (session.state === 'failed') return session.whyNoCore();
  const reason = session.readOnly();
  return reason && readOnlyTexts(reason).why;
}
