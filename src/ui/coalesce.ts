import type { Disposable } from '../team/events';

/**
 * Milliseconds between two changes of a tree. VS Code draws a tree once it has heard of no change for 200 ms: of a team
 * that never rests it would draw nothing.
 */
export const TREE_PACE_MS = 350;

/** Runs `action` once for any number of `request()`s within `delay` milliseconds. */
export class Coalescer implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(
    private readonly action: () => void,
    private readonly delay = 100,
  ) {}

  request(): void {
    if (this.#disposed) return;
    this.#timer ??= setTimeout(() => this.flush(), this.delay);
  }

  /** Runs the action now, and not again for what was requested before. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#disposed) this.action();
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
