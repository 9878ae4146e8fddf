import type { HandshakeRequest, RequestKind } from '../protocol';
import { l10n } from './l10n';
import { outcomeText, requestText } from './requestText';

/** An icon by codicon name and theme colour id. */
export interface RowIcon {
  id: string;
  color?: string;
}

export interface RequestRow {
  /** Stable over refreshes. */
  id: string;
  requestId: string;
  /** Whose work it concerns. */
  member: string;
  label: string;
  description: string;
  /** For screen readers. */
  spoken: string;
  icon: RowIcon;
  /**
   * `request.<pending|shown|moved|deciding|settled|decided>.<kind>`, with `.review` where the row cannot show all and
   * `.overdue` where it waits for longer than it should.
   */
  contextValue: string;
}

export interface RequestsModel {
  /** Pending ones, oldest first, and those that keep their place for a moment after the decision. */
  open: RequestRow[];
  /** Newest first. */
  decided: RequestRow[];
  /** Decided ones that are not listed because there are too many. */
  omitted: number;
  pendingCount: number;
}

export interface RowState {
  /** Decided a moment ago: the row keeps its place, without buttons. */
  isSettling(requestId: string): boolean;
  /** A decision of this seat is being written: no buttons either. */
  isDeciding(requestId: string): boolean;
  /** Something else stood in the row's place a moment ago: no buttons yet. */
  isMoved(requestId: string): boolean;
  isOverdue(request: HandshakeRequest): boolean;
  /** The window only shows the team: no buttons. */
  isReadOnly(): boolean;
}

/** How many decided requests the folded group lists. */
export const DECIDED_MAX = 200;

/** Whether a request stands among the open ones: pending, or decided a moment ago. */
export function isOpen(request: HandshakeRequest, state: Pick<RowState, 'isSettling'>): boolean {
  return request.status === 'pending' || state.isSettling(request.requestId);
}

/** @param requests oldest first */
export function arrangeRequests(requests: readonly HandshakeRequest[], state: RowState): RequestsModel {
  const open: RequestRow[] = [];
  const decided: RequestRow[] = [];
  let pendingCount = 0;
  for (const request of requests) {
    if (request.status === 'pending') pendingCount++;
    if (isOpen(request, state)) {
      open.push(requestRow(request, state));
    } else {
      decided.push(requestRow(request, state));
    }
  }
  decided.reverse();
  return {
    open,
    decided: decided.slice(0, DECIDED_MAX),
    omitted: Math.max(0, decided.length - DECIDED_MAX),
    pendingCount,
  };
}

export function requestRow(request: HandshakeRequest, state: RowState): RequestRow {
  const text = requestText(request);
  const pending = request.status === 'pending';
  const overdue = pending && state.isOverdue(request);
  const phase = phaseOf(request, state);
  const about = pending ? (overdue ? l10n.t('overdue') : '') : outcomeText(request);
  const description = [about, text.description, request.requestId].filter((part) => part !== '').join(' · ');
  return {
    id: `request:${request.requestId}`,
    requestId: request.requestId,
    member: request.work.member,
    label: text.label,
    description,
    spoken: [text.sentence, about || l10n.t('waits for a decision')].join(', '),
    icon: iconOf(request, overdue, phase),
    contextValue: `request.${phase}.${request.kind}${text.whole ? '' : '.review'}${overdue ? '.overdue' : ''}`,
  };
}

function phaseOf({ requestId, status }: HandshakeRequest, state: RowState): string {
  if (status !== 'pending') return state.isSettling(requestId) ? 'settled' : 'decided';
  if (state.isReadOnly()) return 'shown';
  if (state.isDeciding(requestId)) return 'deciding';
  return state.isMoved(requestId) ? 'moved' : 'pending';
}

const KIND_ICONS: Readonly<Record<RequestKind, string>> = {
  shutdown: 'sign-out',
  plan_approval: 'checklist',
  tool_permission: 'terminal',
  team_proposal: 'organization',
};

function iconOf(request: HandshakeRequest, overdue: boolean, phase: string): RowIcon {
  if (phase === 'deciding') return { id: 'loading~spin' };
  switch (request.status) {
    case 'approved':
      return { id: 'pass', color: 'testing.iconPassed' };
    case 'rejected':
      return { id: 'error', color: 'testing.iconFailed' };
    case 'cancelled':
      return { id: 'circle-slash', color: 'disabledForeground' };
    case 'pending': {
      const edit = request.kind === 'tool_permission' && isEdit(request.payload);
      const id = edit ? 'edit' : KIND_ICONS[request.kind];
      return { id, color: overdue ? 'list.errorForeground' : 'list.warningForeground' };
    }
  }
}

function isEdit(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'access' in payload && payload.access === 'edit';
}
