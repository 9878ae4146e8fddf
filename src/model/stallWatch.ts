import type { Timers } from './timers';

/** Tells once when no sign of life came for a while. */
export class StallWatch {
  #last: number;
  #cancel: () => void;

  constructor(
    private readonly timers: Timers,
    /** Milliseconds. */
    private readonly patience: number,
    private readonly onStall: () => void,
  ) {
    this.#last = timers.now();
    this.#cancel = timers.after(patience, () => this.#look());
  }

  /** A sign of life. It is called for each piece of a stream, so it only notes the time. */
  readonly alive = (): void => {
    this.#last = this.timers.now();
  };

  end(): void {
    this.#cancel();
  }

  #look(): void {
    const left = this.#last + this.patience - this.timers.now();
    if (left <= 0) this.onStall();
    else this.#cancel = this.timers.after(left, () => this.#look());
  }
}
