import { dirname, join } from 'node:path';
import { errorCode, FencedError, StorageError, storageError } from './errors';
import { type StoreFile, type StoreFileSystem, writeAll } from './fileSystem';
import type { JournalContent } from './journalContent';
import {
  type GapMark,
  type LineContent,
  type SegmentEnd,
  type SegmentHeader,
  sealHeader,
  sealLine,
  segmentName,
} from './journalFormat';
import type { JournalKey } from './journalKey';
import { SegmentFiles } from './segmentFiles';
import type { Anchor, ChainHead } from './vault';

interface OpenSegment {
  number: number;
  path: string;
  file: StoreFile;
  /** The last number that counts of the segments before. */
  after: number;
  /** Byte offset behind the last acknowledged line. */
  end: number;
}

/** How often a number that somebody else took is answered with the next one. */
const NUMBER_TRIES = 100;

export interface WriterOptions {
  dir: string;
  fileSystem: StoreFileSystem;
  key: JournalKey;
  epoch: number;
  isHeld: () => boolean;
}

/**
 * Writes the lines of a journal. Each opening and each failed write is followed by a new segment, whose
 * header names the last valid byte of the one before; a segment is never continued by another writer.
 * Not for two calls at a time.
 */
export class JournalWriter {
  readonly files: SegmentFiles;
  readonly #options: WriterOptions;
  #head: ChainHead;
  /** Number of the last line that is there; less than the head's where the end was lost. */
  #lastSeq: number;
  /** What the anchor says of the segment of the last line. */
  #place: { segment: number; after: number } | undefined;
  #lastSegment: number;
  /** Where the valid part of the journal ends, for the next segment's header. */
  #end: SegmentEnd | null;
  #segment: OpenSegment | undefined;
  /** What the next header has to say. */
  #mark: GapMark | null;
  /** Whether something must be said by a header before this journal may be left. */
  #isHeaderDue = false;
  /** Whether the segment that was found on opening may hold bytes that are not on the disk yet. */
  #isUnsynced: boolean;

  constructor(content: JournalContent, options: WriterOptions) {
    this.#options = options;
    this.files = new SegmentFiles(options.dir, options.fileSystem, content);
    this.#head = content.head;
    this.#lastSeq = content.lastSeq;
    this.#place = content.lastPlace;
    this.#lastSegment = content.files.at(-1) ?? 0;
    this.#end = content.end;
    this.#mark = content.mark;
    this.#isUnsynced = content.end !== null;
  }

  /** The last line that counts; null before the first. */
  get anchor(): Anchor | null {
    return this.#head.seq === 0 ? null : { ...this.#head, ...this.#place };
  }

  /** Whether a gap was found at the end that no header tells yet. */
  get isGapUntold(): boolean {
    return this.#mark !== null;
  }

  /** Leaves numbers free, in which lines of a journal that was rolled back could otherwise find a place. */
  skipSegments(count: number): void {
    this.#lastSegment += count;
  }

  /**
   * Makes lines durable, all or none of them.
   * @throws {StorageError} when they could not be written; they are then not in the journal
   */
  async write(lines: readonly LineContent[]): Promise<void> {
    const segment = this.#segment ?? (await this.begin());
    const { bytes, head } = this.#seal(segment, this.#head, lines);
    try {
      await writeAll(segment.file, bytes, segment.end);
      await segment.file.datasync();
    } catch (error) {
      const failure = storageError('write', segment.path, error);
      await this.#abandon(segment);
      throw failure;
    }
    segment.end += bytes.length;
    this.#end = { segment: segment.number, bytes: segment.end };
    this.#moveTo(head);
    this.files.grow(segment.number, bytes.length);
  }

  /**
   * Begins a new segment, with a header that ends the one before at its last valid byte.
   * @param mark what else the header says; by default what has been found and not been said yet
   * @throws {StorageError} when it cannot be made; the next write tries again
   */
  async begin(mark = this.#mark): Promise<OpenSegment> {
    if (!this.#options.isHeld()) throw new FencedError(this.#options.dir);
    await this.#leaveSegment();
    if (this.#isUnsynced) await this.#syncFound();
    const after = this.#lastSeq;
    const { bytes, number, path, file, head } = await this.#create({ snapshot: null, mark }, []);
    this.#place = { segment: number, after };
    this.#mark = null;
    this.#isHeaderDue = false;
    this.#moveTo(head);
    this.#end = { segment: number, bytes: bytes.length };
    this.#segment = { number, path, file, after, end: bytes.length };
    this.files.grow(number, bytes.length);
    return this.#segment;
  }

  /**
   * Writes a segment that holds the whole state, and a new one behind it; those before are not needed then.
   * Reading takes it for whole by the number of its lines, so that a crash at any point loses nothing.
   * @throws {StorageError} when it could not be made; the journal goes on without it
   */
  async writeSnapshot(records: readonly string[], mark: GapMark | null = null): Promise<void> {
    await this.#leaveSegment();
    const lines = records.map((state) => ({ state }));
    const after = this.#lastSeq;
    const { bytes, number, path, file, head } = await this.#create(
      { snapshot: lines.length, mark: null },
      lines,
    );
    this.#place = { segment: number, after };
    this.#moveTo(head);
    this.#end = { segment: number, bytes: bytes.length };
    this.#isHeaderDue = true;
    this.#isUnsynced = false;
    this.files.replaceBy(number, bytes.length);
    try {
      await file.close();
    } catch (error) {
      throw storageError('close', path, error);
    }
    await this.begin(mark);
  }

  /**
   * Closes the file.
   * @throws {StorageError} when it does not close, or a refused write could not be marked as such
   */
  async close(): Promise<void> {
    const { isHeld, dir } = this.#options;
    if (this.#isHeaderDue && isHeld()) await this.begin();
    const segment = this.#segment;
    this.#segment = undefined;
    try {
      await segment?.file.close();
    } catch (error) {
      throw storageError('close', segment?.path ?? dir, error);
    }
  }

  #moveTo(head: ChainHead): void {
    this.#head = head;
    this.#lastSeq = head.seq;
  }

  #seal(
    { number, after }: Pick<OpenSegment, 'number' | 'after'>,
    from: ChainHead,
    lines: readonly LineContent[],
  ): { bytes: Buffer; head: ChainHead } {
    let { seq, mac } = from;
    let text = '';
    for (const content of lines) {
      seq += 1;
      const line = sealLine({ seq, segment: number, after, prev: mac }, content, this.#options.key);
      text += line.text;
      mac = line.mac;
    }
    return { bytes: Buffer.from(text, 'utf8'), head: { seq, mac } };
  }

  /** Makes the next segment durable; what a failed attempt leaves is passed over by the header of the next. */
  async #create(
    { snapshot, mark }: { snapshot: number | null; mark: GapMark | null },
    lines: readonly LineContent[],
  ): Promise<{ bytes: Buffer; number: number; path: string; file: StoreFile; head: ChainHead }> {
    const { dir, fileSystem, key, epoch } = this.#options;
    if (this.#end === null) await this.#makeFolder();
    const { number, path, file } = await this.#createFile();
    try {
      const header: SegmentHeader = { segment: number, epoch, snapshot, previous: this.#end, gap: mark };
      const seq = this.#head.seq + 1;
      const after = this.#lastSeq;
      const first = sealHeader({ seq, segment: number, after, prev: this.#head.mac }, header, key);
      const rest = this.#seal({ number, after }, { seq, mac: first.mac }, lines);
      const bytes = Buffer.concat([Buffer.from(first.text, 'utf8'), rest.bytes]);
      await writeAll(file, bytes, 0);
      await file.datasync();
      await fileSystem.syncDirectory(dir);
      return { bytes, number, path, file, head: rest.head };
    } catch (error) {
      await closeFailed(file);
      await this.files.discard(number);
      throw storageError('write', path, error);
    }
  }

  async #createFile(): Promise<{ number: number; path: string; file: StoreFile }> {
    const { dir, fileSystem } = this.#options;
    for (let tries = 1; ; tries += 1) {
      this.#lastSegment += 1;
      const number = this.#lastSegment;
      const path = join(dir, segmentName(number));
      this.files.tried(number);
      try {
        return { number, path, file: await fileSystem.open(path, 'create') };
      } catch (error) {
        if (errorCode(error) !== 'EEXIST' || tries === NUMBER_TRIES) throw storageError('write', path, error);
      }
    }
  }

  async #makeFolder(): Promise<void> {
    const { dir, fileSystem } = this.#options;
    try {
      await fileSystem.mkdir(dir);
      await fileSystem.syncDirectory(dirname(dir));
    } catch (error) {
      throw storageError('write', dir, error);
    }
  }

  /** What was read on opening counts from now on, so it has to be on the disk, whoever wrote it. */
  async #syncFound(): Promise<void> {
    if (this.#end === null) return;
    const path = join(this.#options.dir, segmentName(this.#end.segment));
    try {
      const file = await this.#options.fileSystem.open(path, 'update');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (error) {
      throw storageError('write', path, error);
    }
    this.#isUnsynced = false;
  }

  /** Closes the segment in use; what comes next goes into a new one. */
  async #leaveSegment(): Promise<void> {
    const segment = this.#segment;
    this.#segment = undefined;
    await closeFailed(segment?.file);
  }

  /** Leaves a segment whose write failed, so that nothing of that write is replayed. */
  async #abandon(segment: OpenSegment): Promise<void> {
    this.#segment = undefined;
    this.#isHeaderDue = true;
    this.#end = { segment: segment.number, bytes: segment.end };
    // What another owner reads in this file by now is not ours to change.
    if (this.#options.isHeld()) {
      try {
        await this.begin();
      } catch (error) {
        // The next append tries again, and says so if it fails; cutting the bytes off serves the same end.
        if (!(error instanceof StorageError)) throw error;
      }
      if (this.#options.isHeld()) await cutOff(segment);
    }
    await closeFailed(segment.file);
  }
}

async function cutOff(segment: OpenSegment): Promise<void> {
  try {
    await segment.file.truncate(segment.end);
    await segment.file.datasync();
  } catch {
    // A second safety that failed too; the error that led here goes to the callers of the write.
  }
}

/** Closes a file that is not written any more: all that counts of it is synced, an error would add nothing. */
async function closeFailed(file: StoreFile | undefined): Promise<void> {
  try {
    await file?.close();
  } catch {
    // See above.
  }
}
