import { join } from 'node:path';
import { errorCode } from './errors';
import type { StoreFileSystem } from './fileSystem';
import type { JournalContent } from './journalContent';
import { segmentName } from './journalFormat';

/** Where segments go that nobody can verify, or in which something was set aside: people may want to look. */
const KEPT_FOLDER = 'kept';

/** Which segment files there are, how large the ones in use are, and which are not needed any more. */
export class SegmentFiles {
  /** Every file that may be in the folder. */
  readonly #there: Set<number>;
  /** Not needed any more, but still there. */
  readonly #unneeded: Set<number>;
  readonly #worthKeeping: Set<number>;
  readonly #inUse: Map<number, number>;
  #snapshotBytes = 0;

  constructor(
    private readonly dir: string,
    private readonly fs: StoreFileSystem,
    content: JournalContent,
  ) {
    this.#there = new Set(content.files);
    this.#unneeded = new Set(content.stale);
    this.#worthKeeping = new Set(content.damaged);
    this.#inUse = new Map(content.live.map((number) => [number, 0]));
    const [first] = content.live;
    if (first !== undefined) this.#inUse.set(first, content.liveBytes);
    this.#snapshotBytes = content.snapshotBytes;
  }

  /** Bytes of the segments in use, and of the snapshot among them. */
  get size(): { bytes: number; snapshotBytes: number; segments: number } {
    let bytes = 0;
    for (const part of this.#inUse.values()) bytes += part;
    return { bytes, snapshotBytes: this.#snapshotBytes, segments: this.#inUse.size };
  }

  tried(number: number): void {
    this.#there.add(number);
  }

  grow(number: number, bytes: number): void {
    this.#inUse.set(number, (this.#inUse.get(number) ?? 0) + bytes);
  }

  /** A snapshot is on the disk: whatever was there before is not needed. */
  replaceBy(number: number, bytes: number): void {
    for (const other of this.#there) if (other < number) this.#unneeded.add(other);
    this.#inUse.clear();
    this.#inUse.set(number, bytes);
    this.#snapshotBytes = bytes;
  }

  /** Nobody can verify the segments that are there: they are moved aside, not deleted. */
  keepAll(): void {
    for (const number of this.#there) this.#worthKeeping.add(number);
  }

  /** Removes a segment that was never used; where that fails it stays, passed over by the next one's header. */
  async discard(number: number): Promise<void> {
    try {
      await this.fs.unlink(join(this.dir, segmentName(number)));
      this.#there.delete(number);
    } catch {
      // See above: the error that led here is the one to tell.
    }
  }

  /**
   * Removes the segments that are not needed.
   * @returns errors of those that could not be removed; they stay, without effect, until the next time
   */
  async removeUnneeded(): Promise<unknown[]> {
    const errors: unknown[] = [];
    for (const number of this.#unneeded) {
      try {
        await this.#remove(number);
        this.#unneeded.delete(number);
        this.#there.delete(number);
        this.#worthKeeping.delete(number);
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }

  async #remove(number: number): Promise<void> {
    const path = join(this.dir, segmentName(number));
    try {
      if (!this.#worthKeeping.has(number)) return await this.fs.unlink(path);
      const folder = join(this.dir, KEPT_FOLDER);
      await this.fs.mkdir(folder);
      await this.fs.rename(path, join(folder, segmentName(number)));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}
