import { CallLimiter, STALL_MS } from '../../../src/model/limiter';
import type { Timers } from '../../../src/model/timers';

/** A clock that stands still until the test moves it. */
export class VirtualTimers implements Timers {
  #now = 0;
  #next = 0;
  readonly #timers = new Map<number, { at: number; run: () => void }>();

  /** @param chance what `random` gives, in turns */
  constructor(private readonly chance: readonly number[] = [0]) {}

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + ms, run });
    return () => void this.#timers.delete(id);
  }

  #drawn = 0;
  random(): number {
    return this.chance[this.#drawn++ % this.chance.length] ?? 0;
  }

  /** How many timers are set; none when nothing waits. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on by so many milliseconds, from timer to timer, and lets follow what each sets off. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    for (;;) {
      const due = [...this.#timers]
        .filter(([, { at }]) => at <= until)
        .sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      const [id, { at, run }] = due;
      this.#timers.delete(id);
      this.#now = Math.max(this.#now, at);
      run();
      await settled();
    }
    this.#now = until;
  }
}

/** All that follows without I/O or timers has followed. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A limiter whose pauses between two tries are over at once. */
export function hastyLimiter(maxConcurrentCalls = 8): CallLimiter {
  let now = 0;
  const timers: Timers = {
    now: () => now,
    after: (ms, run) => {
      // The watch over a call is no pause.
      if (ms >= STALL_MS) return () => undefined;
      const timer = setImmediate(() => {
        now += ms;
        run();
      });
      return () => clearImmediate(timer);
    },
    random: () => 0,
  };
  return new CallLimiter({ maxConcurrentCalls: () => maxConcurrentCalls, timers });
}
