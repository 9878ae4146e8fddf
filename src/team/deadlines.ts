import type { Disposable } from './events';
import { type Ledger, messageOf } from './ledger';
import type { Clock } from './ports';

/** A note that could not be written is tried again this much later. */
const RETRY_MS = 5000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Notes once when a pending request passes its deadline. Nothing is decided by it. */
export class Deadlines implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;
  /** The note of it is written, or on its way. */
  readonly #told = new Set<string>();
  readonly #subscription: Disposable;

  constructor(
    private readonly ledger: Ledger,
    private readonly clock: Clock,
  ) {
    this.#subscription = ledger.events.on((event) => {
      if (event.type === 'request' && event.change === 'opened') this.schedule();
    });
  }

  schedule(): void {
    const next = Math.min(...this.#open().map((request) => request.deadlineAt));
    if (!Number.isFinite(next)) return;
    this.#arm(Math.min(Math.max(next - this.clock.now(), 0), LONGEST_TIMER_MS));
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#subscription.dispose();
  }

  #open() {
    const { registry, overdue } = this.ledger.state;
    return registry
      .pending()
      .filter(({ requestId }) => !overdue.has(requestId) && !this.#told.has(requestId));
  }

  /** Notes what is overdue by now; the timer calls it when the next deadline has passed. */
  tellDue(): void {
    const at = this.clock.now();
    const due = this.#open().filter((request) => request.deadlineAt <= at);
    for (const { requestId } of due) void this.#note(requestId, at);
    this.schedule();
  }

  async #note(requestId: string, at: number): Promise<void> {
    this.#told.add(requestId);
    try {
      await this.ledger.commit([{ t: 'overdue', request_id: requestId, at }]);
    } catch (error) {
      this.ledger.events.fire({ type: 'notice', level: 'error', text: messageOf(error) });
      this.#told.delete(requestId);
      this.#arm(RETRY_MS);
    }
  }

  #arm(wait: number): void {
    clearTimeout(this.#timer);
    if (this.#disposed) return;
    this.#timer = setTimeout(() => this.tellDue(), wait);
    this.#timer.unref();
  }
}
