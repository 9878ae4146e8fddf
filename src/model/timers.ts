/** Time and chance, as those who wait need them; tests bring a clock of their own. */
export interface Timers {
  /** Milliseconds from some fixed moment; never goes back. */
  now(): number;
  /** Runs something once, so many milliseconds from now. @returns what takes it back */
  after(ms: number, run: () => void): () => void;
  /** At least 0 and less than 1. */
  random(): number;
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};
