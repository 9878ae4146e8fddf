import type { MemberActivity } from '../agent/coreApi';
import type { HoldKind } from '../agent/hold';
import type { Gate } from '../protocol';
import { LEAD } from '../protocol';
import { isGone, type Member, type MemberStatus } from '../team/member';
import { doingText } from './doingText';
import { l10n } from './l10n';
import { plainLine } from './plainText';
import type { RowIcon } from './requestsModel';

export interface MemberRow {
  /** Stable over refreshes. */
  id: string;
  name: string;
  label: string;
  description: string;
  spoken: string;
  icon: RowIcon;
  /** `member.lead` or `member.teammate.<alive|gone>`, with the kind of what it is held up by, as `.budget`. */
  contextValue: string;
}

export type LeadStatus = { status: 'working' | 'waiting' | 'idle' | 'failed'; reason?: string };

const ICONS: Readonly<Record<MemberStatus, RowIcon>> = {
  working: { id: 'pulse', color: 'charts.green' },
  waiting: { id: 'bell-dot', color: 'list.warningForeground' },
  idle: { id: 'circle-outline' },
  stopping: { id: 'debug-stop', color: 'charts.orange' },
  shutdown: { id: 'circle-slash', color: 'disabledForeground' },
  failed: { id: 'error', color: 'list.errorForeground' },
};

/** @param tokens what it has used, as a row says it */
export function leadRow(lead: LeadStatus, activity: MemberActivity, tokens = ''): MemberRow {
  const state = stateText(lead.status, lead.reason, activity);
  return {
    id: `member:${LEAD}`,
    name: LEAD,
    label: LEAD,
    description: joined(' · ', state, tokens),
    spoken: l10n.t('The lead, {0}', joined(', ', state, tokens)),
    icon: ICONS[waitsOr(lead.status, activity)],
    contextValue: `member.lead${holdSuffix(activity)}`,
  };
}

/** @param tokens what it has used, as a row says it */
export function memberRow(member: Member, activity: MemberActivity, gate: Gate, tokens = ''): MemberRow {
  const gone = isGone(member);
  const role = plainLine(member.role, 40);
  const state = stateText(member.status, member.statusReason, activity);
  const plan = gone ? '' : gateText(gate);
  return {
    // A later start of the same name is somebody else, yet the same row: what was unfolded stays so.
    id: `member:${member.name}`,
    name: member.name,
    label: member.name,
    description: joined(' · ', role, state, plan, tokens),
    spoken: l10n.t('{0}, {1}, {2}', member.name, role, joined(', ', state, plan, tokens)),
    icon: ICONS[gone ? member.status : waitsOr(member.status, activity)],
    contextValue: gone ? 'member.teammate.gone' : `member.teammate.alive${holdSuffix(activity)}`,
  };
}

/** What a member's status is called. */
export function statusText(status: MemberStatus): string {
  switch (status) {
    case 'working':
      return l10n.t('working');
    case 'idle':
      return l10n.t('idle');
    case 'waiting':
      return l10n.t('waiting');
    case 'stopping':
      return l10n.t('stopping');
    case 'shutdown':
      return l10n.t('shut down');
    case 'failed':
      return l10n.t('failed');
  }
}

function joined(separator: string, ...parts: string[]): string {
  return parts.filter((part) => part !== '').join(separator);
}

/** By which the row's menu knows what would let the member go on. */
function holdSuffix({ hold }: MemberActivity): string {
  return hold === undefined ? '' : `.${hold.kind}`;
}

/** One that does nothing since a restart is not idle for want of work. */
function waitsOr(status: MemberStatus, { hold }: MemberActivity): MemberStatus {
  return status === 'idle' && hold?.kind === 'restart' ? 'waiting' : status;
}

function holdText(kind: HoldKind): string {
  switch (kind) {
    case 'budget':
      return l10n.t('token budget used up');
    case 'no_access':
      return l10n.t('waits for access to its model');
    case 'restart':
      return l10n.t('waits for your word to go on');
  }
}

function stateText(status: MemberStatus, reason: string | undefined, activity: MemberActivity): string {
  const { hold } = activity;
  const doing = doingText(activity);
  // Why it failed is what has to be mended before it goes on.
  if (hold && !(status === 'failed' && hold.kind === 'restart')) return holdText(hold.kind);
  if (status === 'failed' && reason) return l10n.t('failed: {0}', plainLine(reason, 120));
  if ((status === 'working' || status === 'waiting') && doing !== '') return plainLine(doing, 80);
  return statusText(status);
}

function gateText(gate: Gate): string {
  switch (gate) {
    case 'required':
      return l10n.t('plan required');
    case 'pending':
      return l10n.t('plan waits for approval');
    case 'rejected':
      return l10n.t('plan rejected');
    case 'approved':
      return l10n.t('plan approved');
    case 'not_required':
      return '';
  }
}
