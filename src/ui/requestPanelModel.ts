import type { Core } from '../agent/coreApi';
import {
  acceptedOf,
  type HandshakeRequest,
  HUMAN,
  LEAD,
  type ProposalPayload,
  permissionPayload,
  planPayload,
  proposalPayload,
  type Role,
  RUNTIME,
  shutdownPayload,
  type Via,
} from '../protocol';
import { isGone } from '../team/member';
import { doingText } from './doingText';
import type { RequestView } from './messages';
import { readOnlyTexts } from './ownershipTexts';
import { plainLine } from './plainText';

/** The texts that depend on the request; translated by the editor side, plain in tests. */
export interface RequestTexts {
  planTitle(name: string): string;
  shutdownTitle(name: string): string;
  /** @param folder where, other than in the workspace folder */
  commandTitle(name: string, folder?: string): string;
  editTitle(name: string, folder?: string): string;
  teamTitle(name: string): string;
  you: string;
  lead: string;
  runtime: string;
  /** Who decided, and with which words where there were any. */
  approvedBy(who: string): string;
  rejectedBy(who: string): string;
  /** Who decided, where it was not with a click. */
  withCommand(who: string): string;
  throughApi(who: string): string;
  withFeedback(sentence: string, feedback: string): string;
  agreedToStop(name: string): string;
  refusedToStop(name: string): string;
  withdrawn(reason: string): string;
  withdrawnNoReason: string;
  noTeam: string;
  unknownRequest(requestId: string): string;
  notUnderstood: string;
  otherRequest: string;
  /** How many model calls a proposed team means at once. */
  estimate(calls: number): string;
}

type CoreFacts = Pick<Core, 'members' | 'member' | 'activity' | 'isOverdue' | 'readOnly'>;

/**
 * All that the panel of one request shows.
 * @param roles of the workspace's files, offered where members are edited
 */
export function requestView(
  core: CoreFacts,
  request: HandshakeRequest,
  texts: RequestTexts,
  roles: readonly Role[] = [],
): RequestView {
  const name = request.work.member;
  const member = core.member(name);
  const pending = request.status === 'pending';
  // A namesake that was started later is somebody else.
  const same = member !== undefined && member.incarnation === request.work.incarnation;
  const alive = name === LEAD || (same && !isGone(member));
  // One that waits for a permission does just that; it stands in the panel already.
  const isNews = alive && pending && request.kind !== 'tool_permission';
  const doing = isNews ? doingText(core.activity(name)) : '';
  return {
    requestId: request.requestId,
    kind: request.kind,
    from: partyName(request.from, texts),
    to: partyName(request.to, texts),
    status: request.status,
    overdue: pending && core.isOverdue(request),
    createdAt: request.createdAt,
    canForceStop: pending && request.kind === 'shutdown' && alive && name !== LEAD,
    role: same ? member.role : undefined,
    doing: doing === '' ? undefined : doing,
    outcome: outcomeOf(request, texts),
    ...(pending && core.readOnly ? { readOnly: readOnlyTexts(core.readOnly).why } : {}),
    ...contentOf(core, request, texts, roles),
  };
}

type Content = Pick<RequestView, 'title'> & Partial<RequestView>;

function contentOf(
  core: CoreFacts,
  request: HandshakeRequest,
  texts: RequestTexts,
  roles: readonly Role[],
): Content {
  const who = partyName(request.work.member, texts);
  switch (request.kind) {
    case 'plan_approval': {
      const { plan, files, commands } = planPayload.parse(request.payload);
      return { title: texts.planTitle(who), plan, files, commands };
    }
    case 'shutdown': {
      const { reason } = shutdownPayload.parse(request.payload);
      return { title: texts.shutdownTitle(who), reason };
    }
    case 'tool_permission': {
      const { access, subject, preview, description, folder } = permissionPayload.parse(request.payload);
      const common = { reason: description, diff: preview };
      if (access === 'command')
        return { title: texts.commandTitle(who, folder), command: subject, ...common };
      return { title: texts.editTitle(who, folder), path: subject, ...common };
    }
    case 'team_proposal': {
      const payload = proposalPayload.parse(request.payload);
      return { title: texts.teamTitle(who), proposal: proposalView(core, request, payload, texts, roles) };
    }
  }
}

function proposalView(
  core: CoreFacts,
  request: HandshakeRequest,
  payload: ProposalPayload,
  texts: RequestTexts,
  roles: readonly Role[],
): RequestView['proposal'] {
  const { calls_at_once: calls } = payload;
  return {
    payload,
    ...(request.accepted === undefined ? {} : { accepted: acceptedOf(request) }),
    taken: core
      .members()
      .filter((member) => !isGone(member))
      .map(({ name }) => name),
    roles: roles.map(({ name, description }) => ({ name, description: plainLine(description, 120) })),
    ...(calls === undefined ? {} : { estimate: texts.estimate(calls) }),
  };
}

/** One sentence on how a request ended; undefined while it is pending. */
export function outcomeOf(request: HandshakeRequest, texts: RequestTexts): string | undefined {
  if (request.status === 'pending') return undefined;
  if (request.status === 'cancelled') {
    const reason = request.cancelReason ?? '';
    return reason === '' ? texts.withdrawnNoReason : texts.withdrawn(reason);
  }
  const sentence = decisionSentence(request, texts);
  const feedback = request.feedback?.trim() ?? '';
  return feedback === '' ? sentence : texts.withFeedback(sentence, feedback);
}

function decisionSentence(request: HandshakeRequest, texts: RequestTexts): string {
  const approved = request.status === 'approved';
  const by = request.decidedBy ?? RUNTIME;
  if (request.kind === 'shutdown' && by === request.to) {
    return approved ? texts.agreedToStop(by) : texts.refusedToStop(by);
  }
  const who = deciderName(partyName(by, texts), request.via, texts);
  return approved ? texts.approvedBy(who) : texts.rejectedBy(who);
}

function deciderName(name: string, via: Via | undefined, texts: RequestTexts): string {
  if (via === 'command') return texts.withCommand(name);
  return via === 'api' ? texts.throughApi(name) : name;
}

function partyName(party: string, texts: RequestTexts): string {
  if (party === HUMAN) return texts.you;
  if (party === LEAD) return texts.lead;
  return party === RUNTIME ? texts.runtime : party;
}
