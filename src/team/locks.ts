/**
 * One at a time for each key. When the key is free the work starts synchronously, in the caller's tick: this
 * is what makes "the first caller reserves" true. Others wait, and look again when it is their turn.
 */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const mine = before === undefined ? work() : before.then(work);
    // A failed holder is its own caller's matter; the next in line starts all the same.
    const tail = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return mine;
  }

  /** With all of these keys held. They are taken in one order, so that two callers cannot hold each other up. */
  runAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const ordered = [...new Set(keys)].sort();
    return ordered.reduceRight<() => Promise<T>>((inner, key) => () => this.run(key, inner), work)();
  }
}
