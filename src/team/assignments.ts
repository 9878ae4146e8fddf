/** Which members have been given something to do since they last were idle. */
export class Assignments {
  readonly #assigned = new Set<string>();
  /** How many messages are on their way to the disk, by recipient. */
  readonly #arriving = new Map<string, number>();

  /** @returns what takes it back, where it was not so before */
  begin(name: string): () => void {
    if (this.#assigned.has(name)) return () => undefined;
    this.#assigned.add(name);
    return () => this.drop(name);
  }

  drop(name: string): void {
    this.#assigned.delete(name);
  }

  isAssigned(name: string): boolean {
    return this.#assigned.has(name);
  }

  /**
   * The teammate has nothing more to do for what it was given.
   * @param hasMail whether messages wait that were sent while it was still at work: they go on with the same task
   */
  end(name: string, hasMail: boolean): void {
    if (!hasMail && (this.#arriving.get(name) ?? 0) === 0) this.drop(name);
  }

  /** Runs what gives a member something to do; where it fails, the member has it not. */
  give(name: string, work: () => Promise<void>): Promise<void> {
    return this.whileArriving(name, async () => {
      const undo = this.begin(name);
      try {
        await work();
      } catch (error) {
        undo();
        throw error;
      }
    });
  }

  /** Runs what brings a message to a member; until then its assignment does not end. */
  async whileArriving(name: string, deliver: () => Promise<void>): Promise<void> {
    this.#arriving.set(name, (this.#arriving.get(name) ?? 0) + 1);
    try {
      await deliver();
    } finally {
      this.#arriving.set(name, (this.#arriving.get(name) ?? 1) - 1);
    }
  }
}
