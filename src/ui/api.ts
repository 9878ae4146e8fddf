import * as vscode from 'vscode';
import * as z from 'zod';
import { HUMAN, type RequestSnapshot, toSnapshot } from '../protocol';
import type { Session } from './session';

export type { RequestSnapshot } from '../protocol';

/**
 * What `activate()` returns, for other extensions:
 *
 * ```ts
 * const handshake = await vscode.extensions.getExtension<HandshakeApi>('handshake.handshake-team')?.activate();
 * ```
 *
 * Every method that changes something rejects with an `Error` whose message is meant for the user.
 */
export interface HandshakeApi {
  /** Raised only when something here changes in a way that breaks callers. */
  readonly apiVersion: 1;
  /** A copy of the roster: the teammates, in the order they first came; the lead is not listed. */
  team(): { name: string; members: { name: string; role: string; status: string }[] };
  /** Copies of every request there ever was, oldest first. */
  requests(): RequestSnapshot[];
  /**
   * Decides a request as the human.
   * @throws an `Error` with a `code`: `unknown_request`, `already_decided`, `stale_work`, `not_allowed` (while a
   * tool runs that is not Handshake's own), or `no_team`
   */
  decide(requestId: string, decision: { approve: boolean; feedback?: string }): Promise<RequestSnapshot>;
  /** Resolves when the turn that took the text has ended; rejects when that turn failed. */
  sendToLead(text: string): Promise<void>;
  /**
   * Resolves when no model call and no tool runs and no mail is due; waiting for a decision is not running.
   * @param timeoutMs rejects after this many milliseconds
   */
  whenIdle(timeoutMs?: number): Promise<void>;
  /** Anything of the team changed; streamed pieces of text are left out. */
  readonly onDidChange: vscode.Event<{ type: string }>;
}

/** Events that come many times a second, or that change nothing a caller can ask for. */
const STREAMED: ReadonlySet<string> = new Set([
  'text',
  'text_void',
  'usage',
  'uncounted',
  'call_retried',
  'call_waits',
  'settled',
]);

/** Callers in plain JavaScript are not held to the types: a decision is never guessed from something truthy. */
const decisionArgument = z.object({ approve: z.boolean(), feedback: z.string().optional() });
const textArgument = z.string().min(1);

function parsed<T>(schema: z.ZodType<T>, value: unknown, call: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new TypeError(`${call}: ${issue?.path.join('.') || 'argument'}: ${issue?.message ?? 'invalid'}.`);
}

/** No team can be had: no folder is open, or it could not be opened. */
class NoTeam extends Error {
  override readonly name = 'NoTeam';
  readonly code = 'no_team';
}

export function createApi(session: Session): HandshakeApi & vscode.Disposable {
  const changed = new vscode.EventEmitter<{ type: string }>();
  const subscription = session.onEvent(({ type }) => {
    if (!STREAMED.has(type)) changed.fire({ type });
  });
  const core = () => {
    const present = session.core();
    if (!present) throw new NoTeam(session.whyNoCore());
    return present;
  };
  return {
    apiVersion: 1,
    team() {
      const present = session.core();
      const members = present?.members() ?? [];
      return {
        name: present?.teamName ?? '',
        members: members.map(({ name, role, status }) => ({ name, role, status })),
      };
    },
    requests() {
      return (session.core()?.requests() ?? []).map(toSnapshot);
    },
    async decide(requestId, decision) {
      const call = 'decide(requestId, {approve, feedback?})';
      const { approve, feedback } = parsed(decisionArgument, decision, call);
      const answer = {
        requestId: parsed(textArgument, requestId, call),
        approve,
        by: HUMAN,
        via: 'api' as const,
      };
      return toSnapshot(await core().decide(feedback ? { ...answer, feedback } : answer));
    },
    async sendToLead(text) {
      await core().sendToLead(parsed(textArgument, text, 'sendToLead(text)'));
    },
    async whenIdle(timeoutMs) {
      await session.core()?.whenIdle(timeoutMs);
    },
    onDidChange: changed.event,
    dispose() {
      subscription.dispose();
      changed.dispose();
    },
  };
}
