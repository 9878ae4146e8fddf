import type { Disposable } from '../team/events';

/** Waits for a condition that is looked at again whenever something has ended. */
export class Quiet {
  readonly #waiting = new Set<() => void>();
  #scheduled = false;

  constructor(private readonly isQuiet: () => boolean) {}

  /** Something ended; whoever waits looks again, after what it set off has begun. */
  poke(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.isQuiet()) for (const settle of [...this.#waiting]) settle();
    });
  }

  /** @throws an Error when the time-out comes first; it says what still ran */
  wait(timeoutMs: number, describe: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const end: Disposable = {
        dispose: () => {
          clearTimeout(timer);
          this.#waiting.delete(settle);
        },
      };
      const settle = (): void => {
        end.dispose();
        resolve();
      };
      this.#waiting.add(settle);
      timer = setTimeout(() => {
        end.dispose();
        reject(new Error(`The team was not idle after ${timeoutMs} ms: ${describe()}.`));
      }, timeoutMs);
      this.poke();
    });
  }
}
