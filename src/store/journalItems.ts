import type { GapCause, GapMark, JournalEntry } from './journalFormat';
import type { JsonObject } from './lines';

/** What a journal gives back: its records, and where something between them is not there. */
export type JournalItem =
  | { record: JsonObject }
  | {
      /** Why, in a sentence for the user. */
      gap: string;
      cause: GapCause;
    };

/** Where a line stands. */
export interface Place {
  segmentNumber: number;
  line: number;
}

export function isBehind(place: Place, other: Place | undefined): boolean {
  if (other === undefined) return true;
  return (
    place.segmentNumber > other.segmentNumber ||
    (place.segmentNumber === other.segmentNumber && place.line > other.line)
  );
}

export function linesText(from: number, to: number): string {
  return from === to ? `line ${from}` : `lines ${from} to ${to}`;
}

/** Turns the chain into items, with a gap wherever numbers are missing. */
export class ItemBuilder {
  readonly items: JournalItem[] = [];
  /** Gaps that no damaged line explains: somebody took the lines away. */
  readonly missing: (Place & { reason: string })[] = [];
  #due: number;
  #before: JournalEntry | undefined;

  /**
   * @param due the number that comes first
   * @param aside lines that do not count: where one stands, the gap has been told
   */
  constructor(
    due: number,
    private readonly aside: readonly Place[],
  ) {
    this.#due = due;
  }

  add(entry: JournalEntry): void {
    const mark = entry.header?.gap ?? null;
    if (mark !== null) this.gap(mark);
    else if (entry.seq > this.#due) this.#skip(entry);
    for (const record of entry.records) this.items.push({ record });
    this.#due = entry.seq + entry.span;
    this.#before = entry;
  }

  gap({ text, cause }: GapMark): void {
    this.items.push({ gap: text, cause });
  }

  #skip(entry: JournalEntry): void {
    const which = linesText(this.#due, entry.seq - 1);
    const isOne = entry.seq - this.#due === 1;
    const isTold = this.aside.some((place) => isBehind(place, this.#before) && isBehind(entry, place));
    if (!isTold) {
      const reason = `${which} of the journal ${isOne ? 'is' : 'are'} missing before this line`;
      this.missing.push({ segmentNumber: entry.segmentNumber, line: entry.line, reason });
    }
    const what = isOne ? 'is damaged or missing and was' : 'are damaged or missing and were';
    this.gap({ cause: 'damage', text: `L${which.slice(1)} of the journal ${what} left out.` });
  }
}
