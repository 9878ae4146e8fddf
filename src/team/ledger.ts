import { Emitter, type TeamEvent } from './events';
import type { CallRef } from './recordParts';
import { type TeamRecord, teamRecord } from './records';
import { TeamState } from './state';

/** Where records are made durable. `append` resolves when all of them are on disk, or none counts. */
export interface Journal {
  /** @param onDurable called in the order of the appends, in the tick in which the records have become durable */
  append(records: readonly TeamRecord[], onDurable: () => void): Promise<void>;
  close(): Promise<void>;
}

/** What a journal holds: a record, or a place where lines may be missing. */
export type JournalItem = { record: unknown } | { gap: string };

/**
 * The one way state changes: write, then apply, then tell. Appends that wait together share one sync
 * (the journal's business) and are applied in the order they were written.
 */
export class Ledger {
  readonly state = new TeamState();
  readonly events: Emitter<TeamEvent>;
  #writing = 0;
  /** By call: what is written before the first record that names it. */
  readonly #beginnings = new Map<CallRef, TeamRecord>();
  #founded = false;

  /**
   * @param found gives the record that founds a new team; it is written with the first change, so that
   * merely opening a folder writes nothing
   */
  constructor(
    private readonly journal: Journal,
    private readonly found: () => TeamRecord,
    private readonly report: (error: unknown) => void,
  ) {
    this.events = new Emitter<TeamEvent>(report);
  }

  /** True while something is on its way to the disk. */
  get isWriting(): boolean {
    return this.#writing > 0;
  }

  /**
   * Rebuilds the state from the journal; nobody is told. A record that does not fit is reported and left out;
   * permits given before a gap are void.
   */
  replay(items: readonly JournalItem[], now: number): void {
    items.forEach((item, index) => {
      if ('gap' in item) {
        this.state.voidPermits(now);
        return;
      }
      const parsed = teamRecord.safeParse(item.record);
      if (!parsed.success) {
        this.report(new Error(`Journal record ${index + 1} is not understood and was left out.`));
        return;
      }
      try {
        this.state.apply(parsed.data);
        if (parsed.data.t === 'team' || parsed.data.t === 'snapshot') this.#founded = true;
      } catch (error) {
        this.report(error);
      }
    });
  }

  /**
   * Has a record written in one piece with the first that names the call, before it.
   * @param call as that record has it: this very object
   * @returns gives it up, where none has
   */
  beginsWith(call: CallRef, record: TeamRecord): () => void {
    this.#beginnings.set(call, record);
    return () => void this.#beginnings.delete(call);
  }

  /**
   * Writes the records, then applies them and tells what changed.
   * @throws the journal's error; then nothing was applied
   */
  async commit(given: readonly TeamRecord[]): Promise<void> {
    const records = [...this.#beginningsOf(given), ...given];
    const founding = !this.#founded;
    this.#founded = true;
    const all = founding && records[0]?.t !== 'team' ? [this.found(), ...records] : records;
    this.#writing++;
    try {
      await this.journal.append(all, () => this.#apply(all));
    } catch (error) {
      if (founding) this.#founded = false;
      throw error;
    } finally {
      this.#writing--;
    }
    this.events.fire({ type: 'settled' });
  }

  /** Writes in the background what no one waits for (a refusal, a delivery note); a failure is told as a notice. */
  commitSoon(records: readonly TeamRecord[]): void {
    this.commit(records).catch((error: unknown) => {
      this.events.fire({ type: 'notice', level: 'error', text: messageOf(error) });
    });
  }

  #beginningsOf(records: readonly TeamRecord[]): TeamRecord[] {
    if (this.#beginnings.size === 0) return [];
    return records.flatMap((record) => {
      const call = 'call' in record ? record.call : undefined;
      const beginning = call === undefined ? undefined : this.#beginnings.get(call);
      if (call === undefined || beginning === undefined) return [];
      this.#beginnings.delete(call);
      return [beginning];
    });
  }

  #apply(records: readonly TeamRecord[]): void {
    const events = records.flatMap((record) => {
      try {
        return this.state.apply(record);
      } catch (error) {
        // On the disk it is; replay will leave it out as well.
        this.report(error);
        return [];
      }
    });
    for (const event of events) this.events.fire(event);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message as a sentence that another one can follow; the system's own have no full stop. */
export function sentenceOf(error: unknown): string {
  const message = messageOf(error).trimEnd();
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}
