import type { HandshakeRequest, RefusalCode, TeamMessage } from '../protocol';
import type { Changes } from './records';
import type { TaskChange } from './task';
import type { CountedCall } from './usageMeter';

/** Everything that happens, as one union. State has changed before a listener hears of it. */
export type TeamEvent =
  /** A member came, changed, or left; with the status where that is what changed. Also told of `lead`. */
  | { type: 'member'; name: string; status?: string; reason?: string }
  | {
      type: 'request';
      change: 'opened' | 'approved' | 'rejected' | 'cancelled' | 'overdue';
      request: HandshakeRequest;
    }
  | { type: 'refusal'; code: RefusalCode; by: string; requestId?: string; text: string }
  | { type: 'message'; message: TeamMessage }
  /** A task of the board was made or changed; tasks that wait for it may be ready by that. */
  | { type: 'task'; id: string; change: TaskChange }
  /** Messages are in the member's transcript; the next model call shows them. */
  | { type: 'taken'; member: string; ids: readonly string[] }
  /** The mailbox has let them go: the note of it is in the journal. */
  | { type: 'shown'; member: string; ids: readonly string[] }
  | { type: 'turn_started'; member: string }
  | { type: 'turn_ended'; member: string; error?: TurnError }
  /** A piece of text of the running model call. */
  | { type: 'text'; member: string; text: string }
  /** The running call was given up; its streamed text is void. */
  | { type: 'text_void'; member: string }
  /** The running call's turn is whole and in the transcript. */
  | { type: 'assistant'; member: string; text: string; demo: boolean }
  | { type: 'tool_started'; member: string; id: string; name: string; input: unknown }
  | { type: 'tool_ended'; member: string; id: string; name: string; result: string; isError: boolean }
  /** A call broke off before its endpoint told of any tokens: what it may have used is not known. */
  | { type: 'uncounted'; member: string; model: string }
  /** A try of a model call failed, and another follows. */
  | { type: 'call_retried'; member: string; error: TurnError; tries: number }
  /** A model call has begun to wait, for what it says; once for each wait. */
  | { type: 'call_waits'; member: string; text: string }
  /** A member's tokens have changed; with the call where it ran in this window. */
  | { type: 'usage'; member: string; call?: CountedCall }
  /** Of a member, or of the whole team: nearly used up (with a warning in words), or raised by the human. */
  | { type: 'budget'; name?: string; warning?: string }
  /** Something the user should know: a damaged file, a refused line, a failed write. */
  | { type: 'notice'; level: 'info' | 'warning' | 'error'; text: string; member?: string }
  /** A write has ended; only of use to those who wait for everything to be still. */
  | { type: 'settled' }
  /** The lead started a new conversation. */
  | { type: 'conversation_reset' };

/** What became of a request, as it is told. */
export function requestEvent(
  change: Extract<TeamEvent, { type: 'request' }>['change'],
  request: HandshakeRequest,
): TeamEvent {
  return { type: 'request', change, request };
}

/** A refusal as it is told. */
export function refusalEvent({ code, by, text, request_id }: Changes<'refused'>): TeamEvent {
  const requestId = request_id === undefined ? {} : { requestId: request_id };
  return { type: 'refusal', code: code as RefusalCode, by, text, ...requestId };
}

export interface TurnError {
  /** What the user can do; a `ModelErrorKind`, or `storage`, or `internal`. */
  kind: string;
  text: string;
}

export interface Disposable {
  dispose(): void;
}

/** Tells listeners in order; one that throws is reported and hurts nobody else. */
export class Emitter<T> {
  /** Replaced, not changed: streamed pieces are many, and each is told without a copy of this. */
  #listeners: readonly { hear(event: T): void }[] = [];

  constructor(private readonly onListenerError: (error: unknown) => void) {}

  on(listener: (event: T) => void): Disposable {
    const entry = { hear: listener };
    this.#listeners = [...this.#listeners, entry];
    return {
      dispose: () => {
        this.#listeners = this.#listeners.filter((other) => other !== entry);
      },
    };
  }

  fire(event: T): void {
    for (const { hear } of this.#listeners) {
      try {
        hear(event);
      } catch (error) {
        this.onListenerError(error);
      }
    }
  }
}
