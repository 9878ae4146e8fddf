/**
 * One look at a time. Who asks while one is under way is answered by the next, which all who ask meanwhile share:
 * what had happened before somebody asked is never missed.
 */
export class FreshLook<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** @param look at what may change meanwhile; its failure is that of those who share it */
  constructor(private readonly look: () => Promise<T>) {}

  now(): Promise<T> {
    if (!this.#running) return this.#begin();
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  #begin(): Promise<T> {
    const running = this.look();
    this.#running = running;
    const end = (): void => {
      if (this.#running === running && !this.#next) this.#running = undefined;
    };
    running.then(end, end);
    return running;
  }

  async #after(running: Promise<T>): Promise<T> {
    // Whoever asked for that one hears of its failure.
    await running.catch(() => undefined);
    this.#next = undefined;
    return this.#begin();
  }
}
