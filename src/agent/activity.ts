/** Counts what runs: turns of members, less the time they wait for a person. Zero means that all is quiet. */
export class Activity {
  #running = 0;

  constructor(private readonly onQuiet: () => void) {}

  get isQuiet(): boolean {
    return this.#running === 0;
  }

  enter(): void {
    this.#running++;
  }

  leave(): void {
    this.#running--;
    if (this.#running === 0) this.onQuiet();
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
}

/** One member's part of it. */
export class ActivityShare {
  #running = 0;
  #given = false;

  constructor(private readonly activity: Activity) {}

  enter(): void {
    if (this.#given) return;
    this.#running++;
    this.activity.enter();
  }

  leave(): void {
    if (this.#given) return;
    this.#running--;
    this.activity.leave();
  }

  /** What still runs hangs, and is nobody's business any more. */
  giveUp(): void {
    while (this.#running > 0) this.leave();
    this.#given = true;
  }
}
