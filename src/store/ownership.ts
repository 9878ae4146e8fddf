import { type FSWatcher, watch } from 'node:fs';
import { createEpoch, isEpochName, isNewestEpoch, newestEpoch, removeOlderEpochs } from './ownershipEpochs';
import {
  askOwner,
  connectToOwner,
  listenAsOwner,
  type OwnerAnswer,
  type OwnerSocket,
  removeLeftSocket,
} from './ownershipSocket';

/** The right to run a team: one process at a time has it. */
export interface Ownership {
  readonly epoch: number;
  /** Synchronous and cheap: false once a later epoch was claimed or it was released. Asked before every effect. */
  isHeld(): boolean;
  /** Told once, when another process has the team, or has asked for it and was given it; not by {@link release}. */
  readonly onLost: (listener: () => void) => void;
  /** Gives the team up of one's own accord; resolves at once when it is lost already. */
  release(): Promise<void>;
}

/** Another process that owns the team. */
export interface OwnerInfo {
  pid: number;
  /** Milliseconds since 1970. */
  since: number;
}

export interface ClaimOptions {
  /** Ask a living owner to give way, and take the team from one that does not answer. */
  takeOver?: boolean;
  /**
   * Another process asks for the team: stop everything and finish writing. When it resolves (or rejects),
   * the team is given up.
   */
  onAsked: (by: { pid: number }) => Promise<void>;
  /** Milliseconds that a living owner has to pause before the team is taken from it; 10 seconds by default. */
  patience?: number;
}

export type Claim =
  | {
      owner: Ownership;
      /** Why the owner before did not give way in order, in words for the log. */
      forced?: string;
    }
  | { heldBy: OwnerInfo };

const DEFAULT_PATIENCE = 10_000;

/**
 * Claims the team of a storage folder. The operating system frees it when the owner's process dies, however
 * it dies; one that only slept is fenced by the epoch of its successor.
 * @param dir the storage folder of the team, made when missing
 * @throws {StorageError} when the folder cannot be used or no socket can be had
 */
export async function claimOwnership(dir: string, options: ClaimOptions): Promise<Claim> {
  const owner = new Owner(dir, options.onAsked);
  let target: number | undefined;
  let forced: string | undefined;
  try {
    for (;;) {
      const newest = await newestEpoch(dir);
      target ??= newest?.epoch ?? 0;
      const before = newest?.owner;
      const connection = before && (await connectToOwner(before.address));
      if (before && connection) {
        // Whoever was quicker to take it over keeps it: two windows must not throw each other out.
        if (!options.takeOver || newest.epoch !== target) {
          connection.destroy();
          await owner.release();
          return { heldBy: { pid: before.pid, since: before.since } };
        }
        const request = { ask: 'take_over', pid: process.pid } as const;
        forced = whyForced(await askOwner(connection, request, options.patience ?? DEFAULT_PATIENCE));
      }
      try {
        if (await owner.become((newest?.epoch ?? 0) + 1)) {
          if (before && !connection) await removeLeftSocket(before.address);
          return forced === undefined ? { owner } : { owner, forced };
        }
      } finally {
        // Only now: the one that gave way looks for its successor when this closes.
        connection?.destroy();
      }
    }
  } catch (error) {
    await owner.release();
    throw error;
  }
}

function whyForced(answer: OwnerAnswer | 'silent' | 'gone'): string | undefined {
  if (answer === 'gone') return undefined;
  if (answer === 'silent') return 'the owner did not answer in time';
  if (answer.answer === 'failed' || answer.answer === 'refused') return answer.reason;
  return undefined;
}

class Owner implements Ownership {
  #epoch = 0;
  #socket: OwnerSocket | undefined;
  #watcher: FSWatcher | undefined;
  #released = false;
  #asked: Promise<OwnerAnswer> | undefined;
  #listeners: (() => void)[] = [];
  #lost = false;

  constructor(
    private readonly dir: string,
    private readonly pause: (by: { pid: number }) => Promise<void>,
  ) {}

  get epoch(): number {
    return this.#epoch;
  }

  /** @returns false when the epoch is another's */
  async become(epoch: number): Promise<boolean> {
    // Listening comes first: whoever sees the epoch can reach its owner.
    this.#socket ??= await listenAsOwner((pid, gone) => this.#giveWay(pid, gone));
    const record = { pid: process.pid, since: Date.now(), address: this.#socket.address };
    if (!(await createEpoch(this.dir, epoch, record))) return false;
    this.#epoch = epoch;
    this.#watch();
    // Nothing depends on it: what cannot be removed now is removed by a later owner.
    await removeOlderEpochs(this.dir, epoch).catch(() => undefined);
    return true;
  }

  isHeld(): boolean {
    if (this.#released || this.#epoch === 0) return false;
    if (isNewestEpoch(this.dir, this.#epoch)) return true;
    this.#end();
    // Not within the call of somebody who only asks.
    queueMicrotask(() => this.#tellLost());
    return false;
  }

  onLost = (listener: () => void): void => {
    if (this.#lost) queueMicrotask(listener);
    else this.#listeners.push(listener);
  };

  async release(): Promise<void> {
    await this.#asked;
    this.#end();
  }

  /** However many ask, it pauses once. */
  async #giveWay(pid: number, gone: Promise<void>): Promise<OwnerAnswer> {
    // A line that waited in the socket while this process slept: it is lost already.
    if (!this.#asked && !this.isHeld()) return { answer: 'released' };
    this.#asked ??= this.#pauseFor(pid);
    const answer = await this.#asked;
    // The successor closes the connection when its epoch is there.
    void gone.then(() => this.#tellLost());
    return answer;
  }

  async #pauseFor(pid: number): Promise<OwnerAnswer> {
    try {
      await this.pause({ pid });
      return { answer: 'released' };
    } catch (error) {
      return { answer: 'failed', reason: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#released = true;
    this.#watcher?.close();
    this.#socket?.close();
  }

  #tellLost(): void {
    if (this.#lost) return;
    this.#lost = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  /** So that an owner that slept hears of its successor when it wakes, not only at its next effect. */
  #watch(): void {
    try {
      this.#watcher = watch(this.dir, { persistent: false }, (_event, name) => {
        if (name === null || isEpochName(name)) this.isHeld();
      });
      // Where a folder cannot be watched, the next effect finds out.
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // See above.
    }
  }
}
