import { type FSWatcher, watch } from 'node:fs';
import type { Socket } from 'node:net';
import type { OwnerInfo } from './ownership';
import { isEpochName, newestEpoch } from './ownershipEpochs';
import { connectToOwner, type OwnerRequest } from './ownershipSocket';

const WATCH: OwnerRequest = { ask: 'watch' };

/** Knows who owns the team of a storage folder, without claiming it, and tells when that changes. */
export class OwnerWatch {
  #owner: OwnerInfo | undefined;
  #epoch: number | undefined;
  #socket: Socket | undefined;
  #folder: FSWatcher | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #disposed = false;

  /**
   * @param onChange another owner, or none; not told of what {@link start} finds
   * @param onError what kept it from looking; it looks again with the next change
   */
  constructor(
    private readonly dir: string,
    private readonly onChange: () => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The living owner, or undefined while there is none. */
  get owner(): OwnerInfo | undefined {
    return this.#owner;
  }

  /** Resolves when the present owner is known. */
  async start(): Promise<void> {
    try {
      this.#folder = watch(this.dir, { persistent: false }, (_event, name) => {
        if (name === null || isEpochName(name)) void this.#look(true);
      });
      this.#folder.on('error', this.onError);
    } catch (error) {
      this.onError(error);
    }
    await this.#look(false);
  }

  dispose(): void {
    this.#disposed = true;
    this.#folder?.close();
    this.#socket?.destroy();
  }

  /** One look at a time; what happens during one leads to another. */
  async #look(tell: boolean): Promise<void> {
    if (this.#looking) {
      this.#lookAgain = true;
      return this.#looking;
    }
    this.#looking = (async () => {
      do {
        this.#lookAgain = false;
        try {
          await this.#lookOnce(tell);
        } catch (error) {
          this.onError(error);
        }
      } while (this.#lookAgain && !this.#disposed);
    })();
    await this.#looking;
    this.#looking = undefined;
  }

  async #lookOnce(tell: boolean): Promise<void> {
    const newest = await newestEpoch(this.dir);
    if (newest?.epoch === this.#epoch && this.#socket && !this.#socket.destroyed) return;
    const socket = newest?.owner && (await connectToOwner(newest.owner.address));
    const before = this.#socket;
    this.#socket = socket;
    this.#epoch = newest?.epoch;
    before?.destroy();
    if (socket) {
      if (this.#disposed) socket.destroy();
      // The owner closes it by dying, or by giving the team up.
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        if (this.#socket === socket && !this.#disposed) void this.#look(true);
      });
      socket.unref();
      socket.resume();
      socket.write(`${JSON.stringify(WATCH)}\n`);
    }
    const owner = socket && newest?.owner && { pid: newest.owner.pid, since: newest.owner.since };
    const changed = owner?.pid !== this.#owner?.pid || owner?.since !== this.#owner?.since;
    this.#owner = owner;
    if (changed && tell && !this.#disposed) this.onChange();
  }
}
