import { HUMAN, LEAD } from './names';

/** A request is one handshake; see `registry.ts` for the only way its status changes. */

export const REQUEST_KINDS = ['shutdown', 'plan_approval', 'tool_permission', 'team_proposal'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

export type RequestStatus = 'pending' | 'approved' | 'rejected' | 'cancelled';

/** The way a decision came in. Nothing that a model can call carries any other than `tool`. */
export type Via = 'tool' | 'ui' | 'command' | 'api';

/** The piece of work a request belongs to; it goes stale when any part of it moves on. */
export interface WorkRef {
  member: string;
  /** Counts the starts of that name; a namesake started later is somebody else. */
  incarnation: number;
  taskId: string | null;
  workVersion: number;
}

export interface HandshakeRequest {
  readonly requestId: string;
  readonly kind: RequestKind;
  readonly from: string;
  readonly to: string;
  readonly status: RequestStatus;
  readonly payload: unknown;
  /** The teammate concerned; for the lead's own permissions its only incarnation is 0. */
  readonly work: WorkRef;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Wall clock, milliseconds since the epoch; past it the request is overdue, and still pending. */
  readonly deadlineAt: number;
  readonly decidedAt?: number;
  readonly decidedBy?: string;
  readonly via?: Via;
  readonly feedback?: string;
  /** What was approved in place of the payload, where the human changed it. */
  readonly accepted?: unknown;
  /** Why the runtime withdrew it (status `cancelled`). */
  readonly cancelReason?: string;
}

/** What other extensions and the UI see of a request; part of the exported API. */
export interface RequestSnapshot {
  requestId: string;
  kind: string;
  from: string;
  to: string;
  status: RequestStatus;
  payload: unknown;
  createdAt: number;
  decidedAt?: number;
  decidedBy?: string;
  via?: string;
  feedback?: string;
  /** What was approved in place of the payload, where the human changed it. */
  accepted?: unknown;
}

/** A copy that its receiver may change without any effect here. */
export function toSnapshot(request: HandshakeRequest): RequestSnapshot {
  const { requestId, kind, from, to, status, payload, createdAt } = request;
  const snapshot: RequestSnapshot = {
    requestId,
    kind,
    from,
    to,
    status,
    payload: structuredClone(payload),
    createdAt,
  };
  if (request.decidedAt !== undefined) snapshot.decidedAt = request.decidedAt;
  if (request.decidedBy !== undefined) snapshot.decidedBy = request.decidedBy;
  if (request.via !== undefined) snapshot.via = request.via;
  if (request.feedback !== undefined) snapshot.feedback = request.feedback;
  if (request.accepted !== undefined) snapshot.accepted = structuredClone(request.accepted);
  return snapshot;
}

export type PartyRole = 'lead' | 'human' | 'teammate';

export function roleOf(party: string): PartyRole {
  if (party === LEAD) return 'lead';
  return party === HUMAN ? 'human' : 'teammate';
}

const ID_PATTERN = /^[0-9a-f]{8}$/;

/**
 * The first 8 hex digits of a UUID v4, made again while the team has used it before.
 * @param uuid gives a fresh UUID v4
 */
export function makeRequestId(uuid: () => string, isUsed: (id: string) => boolean): string {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const id = uuid().slice(0, 8).toLowerCase();
    if (!ID_PATTERN.test(id)) throw new Error(`Not a UUID: its first 8 characters are '${id}'.`);
    if (!isUsed(id)) return id;
  }
  throw new Error('No unused request id was found in 1000 tries; the source of UUIDs repeats itself.');
}
