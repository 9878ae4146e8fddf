interface Waiting<Job> {
  job: Job;
  onDone: (() => void) | undefined;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Lets jobs that arrive while a write is under way share the next one: a disk takes about as long to sync
 * fifty records as one. Jobs keep their order; all jobs of a write succeed or fail together.
 */
export class GroupCommit<Job> {
  #waiting: Waiting<Job>[] = [];
  #running: Promise<void> | undefined;

  /**
   * @param commit writes one group; never called twice at a time
   * @param between called behind each group that was written, before the next is; must not reject
   */
  constructor(
    private readonly commit: (jobs: readonly Job[]) => Promise<void>,
    private readonly between: () => Promise<void> = async () => {},
  ) {}

  /**
   * Resolves when the group that took the job is written; rejects with what its write threw.
   * @param onDone called in the order of the jobs once they are written; what it throws rejects this job alone
   */
  add(job: Job, onDone?: () => void): Promise<void> {
    const done = new Promise<void>((resolve, reject) => this.#waiting.push({ job, onDone, resolve, reject }));
    this.#running ??= this.#run();
    return done;
  }

  /** Resolves when nothing is waiting or being written. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Jobs of the same tick join the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.commit(group.map((waiting) => waiting.job));
      } catch (error) {
        for (const waiting of group) waiting.reject(error);
        continue;
      }
      for (const waiting of group) settle(waiting);
      await this.between();
    }
    this.#running = undefined;
  }
}

function settle<Job>({ onDone, resolve, reject }: Waiting<Job>): void {
  try {
    onDone?.();
    resolve();
  } catch (error) {
    reject(error);
  }
}
