import type { Disposable } from '../team/events';

const FIRST_MS = 1000;
const LAST_MS = 60_000;

/** Tries something again after a while, and after twice as long each time. Keeps no process alive. */
export class Retry implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #pause: number;

  /** @param firstMs the first pause; it grows up to a minute */
  constructor(
    private readonly attempt: () => void,
    private readonly firstMs = FIRST_MS,
  ) {
    this.#pause = firstMs;
  }

  /** Once more, later; a second call before that changes nothing. */
  schedule(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.attempt();
    }, this.#pause).unref();
    this.#pause = Math.min(this.#pause * 2, LAST_MS);
  }

  /** It is not needed any more; the next time begins with the short pause. */
  reset(): void {
    this.dispose();
    this.#pause = this.firstMs;
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
