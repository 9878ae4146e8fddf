import type { TurnError } from '../team/events';

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Those who wait for the end of the turn that shows a message, by the message's id. */
export class TurnWaiters {
  readonly #waiting = new Map<string, Waiter>();

  /** Resolves when the turn that shows the message has ended. Call it before the message is sent. */
  turnWith(messageId: string): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.set(messageId, { resolve, reject }));
  }

  forget(messageId: string): void {
    this.#waiting.delete(messageId);
  }

  /** Their turn has ended, or there will be none because of the error. */
  settle(messageIds: readonly string[], failure: TurnError | undefined): void {
    const error = failure && Object.assign(new Error(failure.text), { kind: failure.kind });
    for (const id of messageIds) {
      const waiter = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiter?.reject(error);
      else waiter?.resolve();
    }
  }

  rejectAll(error: Error): void {
    for (const waiter of this.#waiting.values()) waiter.reject(error);
    this.#waiting.clear();
  }
}
