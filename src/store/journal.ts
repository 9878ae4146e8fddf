import { AnchorKeeper } from './anchorKeeper';
import { FencedError, ForeignKeyError, StorageError } from './errors';
import { nodeFileSystem, type StoreFileSystem } from './fileSystem';
import { GroupCommit } from './groupCommit';
import { contentOf, type JournalContent } from './journalContent';
import type { GapMark } from './journalFormat';
import type { JournalItem } from './journalItems';
import { JournalKey } from './journalKey';
import { type ReadSegment, readSegments } from './journalReader';
import { JournalWriter } from './journalWriter';
import { encodeRecord, type JsonObject, type OnDamage } from './lines';
import type { Vault, VaultContent } from './vault';

export interface JournalOptions {
  /** Told of every line that could not be used; those lines stay in their files. */
  onDamage: OnDamage;
  fileSystem?: StoreFileSystem;
  /** Where the key and the anchor are. */
  vault: Vault;
  /**
   * Take over a journal that another key signed, as one whose key is lost: for a person to say, who was told.
   */
  acceptsForeignKey?: boolean;
  /** Counts the owners of the journal; with a new one, what an earlier owner still writes does not count. */
  epoch?: number;
  /** Whether this window owns the journal still; asked before anything is written, and after. */
  isHeld?: () => boolean;
  /** Told, in sentences for the user, what did not work and harms nothing now: the vault, making the journal smaller. */
  onWarning?: (text: string) => void;
  /** The journal is made smaller when it is larger than this and than four times its last snapshot. */
  compactBytes?: number;
}

/** Default of {@link JournalOptions.compactBytes}: read in a fraction of the time that a window takes to open. */
const COMPACT_BYTES = 4 << 20;
const COMPACT_FACTOR = 4;
/** Each opening that writes makes a segment; so many, and they are put together. */
const COMPACT_SEGMENTS = 64;
/** More than a journal makes between two snapshots: numbers that lines of its lost end may have. */
const LOST_SEGMENTS = 1000;

const LOST_KEY: GapMark = {
  cause: 'lost_key',
  text:
    'The key that proves who wrote the journal is not in the secret storage of this machine any more. ' +
    'This is no sign of a forgery. What the journal says was taken over, and a new key was made.',
};
const FOREIGN_KEY: GapMark = {
  cause: 'foreign_key',
  text:
    'The journal was signed with another key than the one that is kept here. ' +
    'It was adopted: what it says was taken over, and a new key was made.',
};
const NO_KEY_YET: GapMark = {
  cause: 'lost_key',
  text:
    'The journal was written by a version of Handshake that did not sign it. ' +
    'What it says was taken over, and it is signed from now on.',
};

/**
 * An append-only record on disk (see `journalFormat.ts`), chained and authenticated. What {@link append}
 * acknowledged is there after any crash; what it refused is not replayed, even if the bytes reached the disk.
 * What somebody changed, removed or added in the files is not replayed either, and is told.
 */
export class Journal {
  readonly #commits = new GroupCommit<readonly string[]>(
    (group) => this.#commit(group),
    () => this.#between(),
  );
  readonly #dir: string;
  readonly #writer: JournalWriter;
  readonly #anchors: AnchorKeeper;
  readonly #isHeld: () => boolean;
  readonly #warn: (text: string) => void;
  readonly #compactBytes: number;
  #makeSnapshot: (() => readonly JsonObject[]) | undefined;
  /** Whether the journal is to be written anew at the next occasion, whatever its size. */
  #isCompactionDue = false;
  /** Size at which a compaction that failed is tried again. */
  #retryBytes = 0;
  #isCompactionFailing = false;
  /** What has to be written with the new key before anything else, where the old key is lost. */
  #unverified: { records: readonly string[]; mark: GapMark } | undefined;
  #closed = false;

  private constructor(dir: string, writer: JournalWriter, anchors: AnchorKeeper, options: JournalOptions) {
    this.#dir = dir;
    this.#writer = writer;
    this.#anchors = anchors;
    this.#isHeld = options.isHeld ?? (() => true);
    this.#warn = options.onWarning ?? (() => undefined);
    this.#compactBytes = options.compactBytes ?? COMPACT_BYTES;
  }

  /**
   * Opens the journal in a folder, which need not exist yet. Writes to the vault, and to the folder only what
   * has to be said about records that are there: a new owner, a gap at the end, a new key.
   * @returns the journal, and every valid record in order, with the gaps between them
   * @throws {StorageError} when a file, or the key of a journal that is there, cannot be read
   * @throws {ForeignKeyError} when no line of the journal was written with the key that is there
   */
  static async open(
    dir: string,
    options: JournalOptions,
  ): Promise<{ journal: Journal; items: JournalItem[] }> {
    const fileSystem = options.fileSystem ?? nodeFileSystem;
    const warn = options.onWarning ?? (() => undefined);
    const isHeld = latch(options.isHeld);
    const { stored, failure } = await load(options.vault);
    const { content, isForeign } = await readContent(dir, fileSystem, stored);
    if (isForeign && options.acceptsForeignKey !== true) throw new ForeignKeyError(dir);
    if (failure !== undefined) {
      // A storage that fails has not lost the key: another one would make the journal's lines worthless to it.
      if (content.isCoded) throw new StorageError(failure, dir, undefined);
      warn(failure);
    }
    for (const damage of content.damage) options.onDamage(damage);
    const key = stored === undefined || isForeign ? JournalKey.random() : new JournalKey(stored.key);
    const epoch = newEpoch(options.epoch, content.epoch);
    const writer = new JournalWriter(content, { dir, fileSystem, key, epoch, isHeld });
    const onFailure = (error: unknown): void =>
      warn(`The newest position of the journal could not be kept in the secret storage: ${messageOf(error)}`);
    const anchors = new AnchorKeeper({ vault: options.vault, key: key.hex, isHeld, onFailure });
    const journal = new Journal(dir, writer, anchors, { ...options, isHeld });
    const mark = isForeign ? FOREIGN_KEY : content.isCoded ? LOST_KEY : NO_KEY_YET;
    await journal.#begin(content, stored === undefined || isForeign ? mark : undefined, epoch);
    return { journal, items: content.items };
  }

  /**
   * Reads a journal that another window owns. Writes nothing; what is being written at this moment may be told
   * as damage. One that another key signed is read as it stands: it is only looked at.
   * @throws {StorageError} when a file cannot be read
   */
  static async read(
    dir: string,
    options: Pick<JournalOptions, 'onDamage' | 'fileSystem' | 'vault' | 'onWarning'>,
  ): Promise<JournalItem[]> {
    const { stored, failure } = await load(options.vault);
    if (failure !== undefined) options.onWarning?.(failure);
    const { content } = await readContent(dir, options.fileSystem ?? nodeFileSystem, stored);
    for (const damage of content.damage) options.onDamage(damage);
    return content.items;
  }

  /**
   * Appends records, all or none of them. Resolves when they are on the disk; calls resolve in their order.
   * @param onDurable called once they are on the disk, in the order of the appends and before any of them
   * resolves; what it throws rejects this call, and the records are in the journal nevertheless
   * @throws {StorageError} when they could not be written; they are then not in the journal
   * @throws {FencedError} when another window owns the journal by now
   * @throws {TypeError} for a record that JSON cannot hold
   */
  async append(records: readonly JsonObject[], onDurable?: () => void): Promise<void> {
    if (this.#closed) throw this.#closedError();
    await this.#commits.add(records.map(encodeRecord), onDurable);
  }

  /**
   * Lets the journal be made smaller.
   * @param make gives records that stand for all that is in the journal; called between two writes, when
   * `onDurable` of all that is in it has run
   */
  useSnapshot(make: () => readonly JsonObject[]): void {
    this.#makeSnapshot = make;
  }

  /**
   * Waits for the appends under way and closes the file.
   * @throws {StorageError} when the file does not close, or a refused write could not be marked as such
   */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#commits.idle();
    try {
      await this.#writer.close();
    } finally {
      await this.#anchors.close();
    }
  }

  /** @param keyMark where the key is a new one: what that says of the records that are there */
  async #begin(content: JournalContent, keyMark: GapMark | undefined, epoch: number): Promise<void> {
    if (keyMark !== undefined && !content.isEmpty) {
      content.items.push({ gap: keyMark.text, cause: keyMark.cause });
      const records = content.items.flatMap((item) => ('record' in item ? [encodeRecord(item.record)] : []));
      this.#unverified = { records, mark: keyMark };
    }
    this.#isCompactionDue = content.damaged.size > 0 || content.items.some((item) => 'gap' in item);
    if (content.wasRolledBack) this.#writer.skipSegments(LOST_SEGMENTS);
    const mustBegin = content.mark !== null || (content.end !== null && epoch > content.epoch);
    if (!this.#isHeld()) return;
    try {
      if (this.#unverified !== undefined) await this.#signAnew(this.#unverified);
      else if (mustBegin) await this.#writer.begin();
    } catch (error) {
      this.#warn(
        `The journal could not be written, which is tried again with the next record: ${messageOf(error)}`,
      );
      // The anchor stays where it was: it is what tells the gap if this window ends before.
      return;
    }
    const saved = this.#anchors.save(this.#writer.anchor);
    // A new key has to be there before anything is acknowledged that only this key proves.
    if (keyMark !== undefined) await saved;
    await this.#removeUnneeded();
  }

  async #commit(group: readonly (readonly string[])[]): Promise<void> {
    if (!this.#isHeld()) throw new FencedError(this.#dir);
    if (this.#unverified !== undefined) await this.#signAnew(this.#unverified);
    const lines = group.filter((records) => records.length > 0);
    if (lines.length === 0) return;
    try {
      await this.#writer.write(lines);
    } catch (error) {
      // The segment that follows a refused write must not go missing unseen. Where a gap could not be written
      // down yet, the anchor stays where it was: it is what tells the gap.
      if (!this.#writer.isGapUntold) void this.#anchors.save(this.#writer.anchor);
      throw this.#isHeld() ? error : new FencedError(this.#dir);
    }
    // A new owner has read the journal without these lines: its first segment says where the journal ended.
    if (!this.#isHeld()) throw new FencedError(this.#dir);
    this.#anchors.moved(this.#writer.anchor);
  }

  /** Writes what was read without being verified with the new key, which counts from then on. */
  async #signAnew({ records, mark }: { records: readonly string[]; mark: GapMark }): Promise<void> {
    this.#writer.files.keepAll();
    await this.#writer.writeSnapshot(records, mark);
    this.#unverified = undefined;
    void this.#anchors.save(this.#writer.anchor);
    await this.#removeUnneeded();
  }

  async #between(): Promise<void> {
    const make = this.#makeSnapshot;
    if (make === undefined || !this.#isHeld() || !this.#isTooLarge()) return;
    try {
      await this.#writer.writeSnapshot(make().map(encodeRecord));
      this.#isCompactionDue = false;
      this.#retryBytes = 0;
      this.#isCompactionFailing = false;
    } catch (error) {
      // It is no worse than before; not at once again, that would cost every append.
      this.#isCompactionDue = false;
      this.#retryBytes = this.#writer.files.size.bytes + this.#compactBytes;
      if (!this.#isCompactionFailing && this.#isHeld()) {
        this.#warn(`The journal could not be made smaller: ${messageOf(error)}`);
      }
      this.#isCompactionFailing = true;
      return;
    }
    void this.#anchors.save(this.#writer.anchor);
    await this.#removeUnneeded();
  }

  #isTooLarge(): boolean {
    const { bytes, snapshotBytes, segments } = this.#writer.files.size;
    if (this.#isCompactionDue) return true;
    if (bytes < this.#retryBytes) return false;
    return (
      segments > COMPACT_SEGMENTS || bytes > Math.max(this.#compactBytes, COMPACT_FACTOR * snapshotBytes)
    );
  }

  async #removeUnneeded(): Promise<void> {
    if (!this.#isHeld()) return;
    const [error] = await this.#writer.files.removeUnneeded();
    if (error === undefined) return;
    this.#warn(`An old part of the journal could not be removed: ${messageOf(error)}`);
  }

  #closedError(): StorageError {
    return new StorageError(`Could not write ${this.#dir}: the journal is closed.`, this.#dir, undefined);
  }
}

async function load(vault: Vault): Promise<{ stored?: VaultContent | undefined; failure?: string }> {
  try {
    return { stored: await vault.load() };
  } catch (error) {
    const failure = `The key of the journal could not be read from the secret storage: ${messageOf(error)}. Unlock the keyring of this machine, or load the window anew.`;
    return { failure };
  }
}

async function readContent(
  dir: string,
  fs: StoreFileSystem,
  stored: VaultContent | undefined,
): Promise<{ content: JournalContent; isForeign: boolean }> {
  const key = stored === undefined ? undefined : new JournalKey(stored.key);
  const segments = await readSegments(dir, fs, key);
  const isForeign = key !== undefined && isOfOtherKey(segments);
  if (!isForeign) {
    const anchor = stored?.anchor ?? null;
    return { content: contentOf(dir, segments, { anchor, isVerified: key !== undefined }), isForeign };
  }
  const unproven = await readSegments(dir, fs, undefined);
  return { content: contentOf(dir, unproven, { anchor: null, isVerified: false }), isForeign };
}

/** Nothing in it fits the key, and it is no mere damage. A single line that fits makes the rest a forgery. */
function isOfOtherKey(segments: readonly ReadSegment[]): boolean {
  const isProven = segments.some(({ entries }) => entries.some(({ mac }) => mac !== ''));
  return !isProven && segments.some(({ otherKey }) => otherKey > 0);
}

/** Once another window owns the journal, it stays lost to this opening of it. */
function latch(isHeld: () => boolean = () => true): () => boolean {
  let held = true;
  return () => {
    held &&= isHeld();
    return held;
  };
}

/** An owner whose count was lost still comes after those that have written. */
function newEpoch(given: number | undefined, found: number): number {
  if (given === undefined) return found;
  return given < found ? found + 1 : given;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
