import type { Ledger } from './ledger';
import type { Clock } from './ports';
import type { CallRef } from './recordParts';
import type { TeamRecord } from './records';

/** What running loops leave in the journal, so that the next window knows how far they came. */
export class Marks {
  constructor(
    private readonly ledger: Ledger,
    private readonly clock: Clock,
  ) {}

  /**
   * A handler is about to run: it never runs a second time.
   * @param turn of the member's conversation
   * @param beside what takes effect together with that
   * @throws the journal's error; then it must not run
   */
  async begun(call: CallRef, tool: string, turn: number, beside: readonly TeamRecord[] = []): Promise<void> {
    await this.ledger.commit([{ t: 'started', call, tool, turn, at: this.clock.now() }, ...beside]);
  }

  /**
   * As {@link begun}, for a handler whose one record names the call: both are written together, or neither is, and
   * then it may run again.
   * @returns what the handler's end has to call
   */
  beginsWithRecord(call: CallRef, tool: string, turn: number): () => void {
    return this.ledger.beginsWith(call, { t: 'started', call, tool, turn, at: this.clock.now() });
  }

  /**
   * A member was called once more for something it had left open, and has replied.
   * @param key a request id, or another name of it that is used once
   */
  askedAgain(key: string): void {
    if (this.ledger.state.askedAgain.has(key)) return;
    this.ledger.commitSoon([{ t: 'asked_again', key, at: this.clock.now() }]);
  }

  /** The messages have entered the member's transcript. @throws the journal's error; then they are still unread */
  async shown(name: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.ledger.commit([{ t: 'shown', name, ids: [...ids], at: this.clock.now() }]);
  }

  /** A failed member is called again: after a reload, too, it is not listed as failed. */
  recovered(name: string): void {
    const member = this.ledger.state.member(name);
    if (member?.status !== 'failed') return;
    const { incarnation } = member;
    this.ledger.commitSoon([
      { t: 'status', name, incarnation, status: 'idle', cancels: [], at: this.clock.now() },
    ]);
  }
}
