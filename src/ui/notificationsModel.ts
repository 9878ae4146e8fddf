import { type ApprovalPolicy, type HandshakeRequest, HUMAN, KINDS } from '../protocol';
import { l10n } from './l10n';
import { requestText } from './requestText';

export type NotificationLevel = 'all' | 'requests' | 'none';

/** What a notification about requests says, and which requests its buttons mean. */
export type RequestNotice =
  | {
      kind: 'one';
      requestId: string;
      text: string;
      canApprove: boolean;
      overdue: boolean;
      /** The teammate that has not answered a shutdown request in time, to be stopped without its consent. */
      canStop?: string;
    }
  | { kind: 'several'; text: string; overdue: boolean };

/** True when nobody but the human is expected to answer: it is told at once. */
export function isForHuman(request: HandshakeRequest, policy: ApprovalPolicy): boolean {
  if (request.kind === 'plan_approval') return policy.plan === 'human';
  return KINDS[request.kind].answeredBy === HUMAN;
}

/** @param waiting the pending requests the notification is about, oldest first; not empty */
export function requestNotice(waiting: readonly HandshakeRequest[], overdue: boolean): RequestNotice {
  const [only, ...others] = waiting;
  if (only && others.length === 0) {
    const { sentence, whole } = requestText(only);
    const text = overdue
      ? l10n.t('Overdue: {0}. Nothing is decided by silence; it waits for an answer.', sentence)
      : sentence;
    const notice = { kind: 'one', requestId: only.requestId, text, canApprove: whole, overdue } as const;
    return overdue && only.kind === 'shutdown' ? { ...notice, canStop: only.to } : notice;
  }
  const text = overdue
    ? l10n.t('{0} requests wait for a decision, some for longer than they should', waiting.length)
    : l10n.t('{0} requests wait for a decision', waiting.length);
  return { kind: 'several', text, overdue };
}

/**
 * Decides when a notification about requests is due, so that at most one is in sight. VS Code cannot
 * withdraw or change one; so what comes while one is in sight is told, together, when that one is gone.
 */
export class NoticeQueue {
  readonly #waiting = new Set<string>();
  readonly #overdue = new Set<string>();
  #showing = false;

  /** @param overdue told once more, as overdue */
  add(requestId: string, overdue: boolean): void {
    this.#waiting.add(requestId);
    if (overdue) this.#overdue.add(requestId);
  }

  /** It needs no telling any more. */
  drop(requestId: string): void {
    this.#waiting.delete(requestId);
    this.#overdue.delete(requestId);
  }

  /**
   * Takes what is to be told now; nothing while a notification is in sight or nothing is new.
   * @param pending every pending request, oldest first: a joint notification counts them all
   */
  take(pending: readonly HandshakeRequest[]): RequestNotice | undefined {
    if (this.#showing) return undefined;
    const fresh = pending.filter((request) => this.#waiting.has(request.requestId));
    const overdue = fresh.some((request) => this.#overdue.has(request.requestId));
    this.#waiting.clear();
    this.#overdue.clear();
    if (fresh.length === 0) return undefined;
    this.#showing = true;
    return requestNotice(fresh.length === 1 ? fresh : pending, overdue);
  }

  /** The notification was closed, answered, or has left the screen for the notification list. */
  gone(): void {
    this.#showing = false;
  }
}
