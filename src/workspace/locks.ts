/** Lets one task at a time run for a path; others for the same path wait in order. */
export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Resolves or rejects as the task does. */
  run<Result>(path: string, task: () => Promise<Result>): Promise<Result> {
    // Some file systems take names that differ in case for one; waiting for a stranger costs little.
    const key = path.toLowerCase();
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(task);
    // The next in line waits for the end, whatever it was; the caller gets the error.
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return result;
  }
}
