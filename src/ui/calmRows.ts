/** What keeps a list calm under the pointer: when a decided row leaves, and when a row may have buttons again. */

/** Rows that were just decided, and until when (milliseconds since the epoch) they keep their place. */
export class SettlingRows {
  readonly #until = new Map<string, number>();

  constructor(
    private readonly now: () => number,
    /** Milliseconds. */
    readonly duration = 2000,
  ) {}

  /**
   * @param atHand the person at the list decided it: whoever works down a list finds it unmoved, so those
   * that settle meanwhile stay as long, and leave together
   */
  add(requestId: string, atHand = false): void {
    const until = this.now() + this.duration;
    this.prune();
    if (atHand) for (const id of this.#until.keys()) this.#until.set(id, until);
    this.#until.set(requestId, until);
  }

  has(requestId: string): boolean {
    const until = this.#until.get(requestId);
    return until !== undefined && this.now() < until;
  }

  /** Forgets those whose time is over. @returns milliseconds until the next one's is, if any */
  prune(): number | undefined {
    return forgetPast(this.#until, this.now());
  }
}

/**
 * Rows that came to stand where something else stood a moment ago. They show no buttons until a click that
 * was on its way to what was there before has landed: it may open something, but decides nothing.
 */
export class MovedRows {
  readonly #until = new Map<string, number>();
  #before: readonly string[] = [];

  constructor(
    private readonly now: () => number,
    /** Milliseconds; longer than a pointer is on its way to what its owner last saw. */
    readonly duration = 700,
  ) {}

  /**
   * Compares the rows about to be drawn with those that stand there.
   * @param rows ids of all that has buttons, from top to bottom
   */
  note(rows: readonly string[]): void {
    const until = this.now() + this.duration;
    rows.forEach((id, place) => {
      const stoodHere = this.#before[place];
      if (stoodHere !== undefined && stoodHere !== id) this.#until.set(id, until);
    });
    this.#before = [...rows];
  }

  has(id: string): boolean {
    const until = this.#until.get(id);
    return until !== undefined && this.now() < until;
  }

  /** Forgets those whose time is over. @returns milliseconds until the next one's is, if any */
  prune(): number | undefined {
    return forgetPast(this.#until, this.now());
  }
}

function forgetPast(untilOf: Map<string, number>, now: number): number | undefined {
  let next: number | undefined;
  for (const [id, until] of untilOf) {
    const left = until - now;
    if (left <= 0) untilOf.delete(id);
    else next = next === undefined ? left : Math.min(next, left);
  }
  return next;
}

/** The earlier of two waits, where there is one. */
export function sooner(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
