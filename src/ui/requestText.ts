import { type HandshakeRequest, HUMAN, permissionPayload, planPayload, proposalPayload } from '../protocol';
import { l10n } from './l10n';
import { firstLine, fitsInRow, plainLine } from './plainText';

/** Longest command or path that a row or a notification shows whole; what is longer is reviewed first. */
export const ROW_MAX = 60;

/** A request in words, for rows, notifications and quick picks. All texts are plain (see `plainText.ts`). */
export interface RequestText {
  /** What is asked, such as `alice: npm test`. */
  label: string;
  /** Kind and circumstances, less prominent. */
  description: string;
  /** One sentence, such as `alice wants to run: npm test`. */
  sentence: string;
  /** False where the row cannot show the whole of what would be approved. */
  whole: boolean;
}

export function requestText(request: HandshakeRequest): RequestText {
  const from = plainLine(request.from, 32);
  switch (request.kind) {
    case 'shutdown':
      return shutdownText(request, from);
    case 'plan_approval': {
      const plan = planPayload.safeParse(request.payload);
      const topic = plan.success ? plainLine(firstLine(plan.data.plan), 80) : '';
      return {
        label: l10n.t('{0}: plan', from),
        description: topic,
        sentence: topic
          ? l10n.t('{0} asks for approval of a plan: {1}', from, topic)
          : l10n.t('{0} asks for approval of a plan', from),
        whole: true,
      };
    }
    case 'tool_permission':
      return permissionText(request, from);
    case 'team_proposal': {
      const proposal = proposalPayload.safeParse(request.payload);
      const names = proposal.success
        ? plainLine(proposal.data.members.map(({ name }) => name).join(', '), 80)
        : '';
      return {
        label: l10n.t('Start {0}', names),
        description: l10n.t('proposed by {0}', from),
        sentence: l10n.t('{0} proposes to start {1}', from, names),
        whole: false,
      };
    }
  }
}

function shutdownText(request: HandshakeRequest, from: string): RequestText {
  const to = plainLine(request.to, 32);
  return {
    label: l10n.t('{0}: shutdown', to),
    description: l10n.t('asked by {0}', from === 'human' ? l10n.t('you') : from),
    sentence:
      from === 'human'
        ? l10n.t('You asked {0} to shut down', to)
        : l10n.t('{0} asks {1} to shut down', from, to),
    whole: true,
  };
}

function permissionText(request: HandshakeRequest, from: string): RequestText {
  const payload = permissionPayload.safeParse(request.payload);
  if (!payload.success) {
    const text = l10n.t('{0} asks for a permission', from);
    return { label: text, description: '', sentence: text, whole: false };
  }
  const { subject, access, tool } = payload.data;
  const whole = fitsInRow(subject, ROW_MAX);
  const shown = plainLine(subject, ROW_MAX);
  const label = l10n.t('{0}: {1}', from, shown);
  const what = plainLine(tool, 32);
  if (access === 'command') {
    return {
      label,
      description: l10n.t('command'),
      sentence: whole
        ? l10n.t('{0} wants to run: {1}', from, shown)
        : l10n.t('{0} wants to run a command that needs a look: {1}', from, shown),
      whole,
    };
  }
  return {
    label,
    description: l10n.t('file change ({0})', what),
    sentence: l10n.t('{0} wants to change {1}', from, shown),
    whole,
  };
}

/** Who decided, and how where it was not with a click. */
function deciderText({ decidedBy, via }: HandshakeRequest): string {
  const by = decidedBy === HUMAN ? l10n.t('you') : plainLine(decidedBy ?? '', 32);
  if (via === 'command') return l10n.t('{0}, with a command', by);
  return via === 'api' ? l10n.t('{0}, through the API', by) : by;
}

/** How a request ended, in a few words for its row. */
export function outcomeText(request: HandshakeRequest): string {
  const by = deciderText(request);
  switch (request.status) {
    case 'pending':
      return l10n.t('waits');
    case 'approved':
      return l10n.t('approved by {0}', by);
    case 'rejected':
      return l10n.t('rejected by {0}', by);
    case 'cancelled':
      return request.cancelReason
        ? l10n.t('withdrawn: {0}', plainLine(request.cancelReason, 80))
        : l10n.t('withdrawn');
  }
}
