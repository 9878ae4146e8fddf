import type { HandshakeRequest, WorkRef } from './request';

/** What the plan status lets a teammate's tools do. Computed from the requests, never stored. */
export type Gate = 'not_required' | 'required' | 'pending' | 'approved' | 'rejected';

/**
 * The gate of one piece of work: the status of the newest plan of this incarnation and work version that was
 * not cancelled, else `required` or `not_required`.
 * @param requests in the order they were opened
 */
export function computeGate(
  requests: Iterable<HandshakeRequest>,
  work: WorkRef,
  planRequired: boolean,
): Gate {
  let newest: HandshakeRequest | undefined;
  for (const request of requests) {
    if (request.kind === 'plan_approval' && request.status !== 'cancelled' && sameWork(request.work, work)) {
      newest = request;
    }
  }
  if (newest === undefined) return planRequired ? 'required' : 'not_required';
  return newest.status === 'cancelled' ? 'required' : newest.status;
}

export function isOpen(gate: Gate): boolean {
  return gate === 'not_required' || gate === 'approved';
}

/** The refusal a mutating tool returns while the gate is shut. */
export function blockedText(gate: Gate): string {
  const next: Record<Gate, string> = {
    required: 'Submit a plan with plan_approval and wait for its approval.',
    pending: 'Wait for the decision; it will reach you as a message.',
    rejected: 'Submit a revised plan with plan_approval that answers the feedback.',
    approved: '',
    not_required: '',
  };
  return `Blocked: plan status is ${gate}. ${next[gate]}`;
}

export function sameWork(a: WorkRef, b: WorkRef): boolean {
  return (
    a.member === b.member &&
    a.incarnation === b.incarnation &&
    a.taskId === b.taskId &&
    a.workVersion === b.workVersion
  );
}
