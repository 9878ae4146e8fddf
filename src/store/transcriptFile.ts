import { dirname } from 'node:path';
import { errorCode, StorageError, storageError } from './errors';
import { nodeFileSystem, type StoreFile, type StoreFileSystem, writeAll } from './fileSystem';
import { GroupCommit } from './groupCommit';
import { encodeRecord, type JsonObject, type OnDamage, parseLine, readLines } from './lines';

export interface TranscriptAppendOptions {
  /** True: resolve when this record and all before it are on the disk. False: when the system has it. */
  sync: boolean;
}

interface Job {
  text: string;
  sync: boolean;
}

const NEWLINE = 0x0a;
/** Ends a line whose writing was cut off, and keeps it from being taken for a record later. */
const CUT_OFF_MARK = Buffer.from(' (cut off)\n');

/**
 * An append-only file of JSON lines, one record each, in the order of the calls. A record that was refused
 * is cut off again before the next one is written; a tail that a crash cut off is left in place, marked
 * as such, and reported by {@link load}.
 */
export class TranscriptFile {
  readonly #commits = new GroupCommit<Job>((group) => this.#commit(group));
  #file: StoreFile | undefined;
  /** Byte offset behind the last accepted record. */
  #end = 0;
  /** Whether a failed write may have left bytes behind `#end`. */
  #dirty = false;
  #closed = false;

  /** @param path the file, made with the first record; its folder must exist */
  constructor(
    readonly path: string,
    private readonly fs: StoreFileSystem = nodeFileSystem,
  ) {}

  /**
   * Every whole record of a file in order; none when there is no file.
   * @param onDamage told of every line that could not be used
   * @throws {StorageError} when the file cannot be read
   */
  static async load(
    path: string,
    onDamage: OnDamage,
    fs: StoreFileSystem = nodeFileSystem,
  ): Promise<unknown[]> {
    const records: unknown[] = [];
    try {
      const file = await fs.open(path, 'read');
      try {
        for await (const lines of readLines(file)) {
          for (const line of lines) {
            const value = parseLine(line);
            if (typeof value === 'string') onDamage({ file: path, line: line.number, reason: value });
            else records.push(value);
          }
        }
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError('read', path, error);
    }
    return records;
  }

  /**
   * @throws {StorageError} when the record could not be written; it is then not in the file
   * @throws {TypeError} for a record that JSON cannot hold
   */
  async append(record: JsonObject, { sync }: TranscriptAppendOptions): Promise<void> {
    if (this.#closed) {
      throw new StorageError(`Could not write ${this.path}: it is closed.`, this.path, undefined);
    }
    await this.#commits.add({ text: `${encodeRecord(record)}\n`, sync });
  }

  /** Waits for what is being written and closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#commits.idle();
    const file = this.#file;
    this.#file = undefined;
    try {
      if (this.#dirty) await this.#cutOff(file);
      await file?.close();
    } catch (error) {
      throw storageError('close', this.path, error);
    }
  }

  async #commit(group: readonly Job[]): Promise<void> {
    const bytes = Buffer.from(group.map((job) => job.text).join(''), 'utf8');
    try {
      this.#file ??= await this.#open();
      if (this.#dirty) await this.#cutOff(this.#file);
      this.#dirty = true;
      await writeAll(this.#file, bytes, this.#end);
      if (group.some((job) => job.sync)) await this.#file.datasync();
      this.#end += bytes.length;
      this.#dirty = false;
    } catch (error) {
      throw storageError('write', this.path, error);
    }
  }

  /** Opens the file at its end and ends the last line there: a cut-off tail must not swallow the next record. */
  async #open(): Promise<StoreFile> {
    const file = await this.fs.open(this.path, 'update');
    try {
      const size = await file.size();
      this.#end = size;
      if (size === 0) await this.fs.syncDirectory(dirname(this.path));
      const last = new Uint8Array(1);
      if (size > 0 && (await file.read(last, size - 1)) === 1 && last[0] !== NEWLINE) {
        await writeAll(file, CUT_OFF_MARK, size);
        this.#end = size + CUT_OFF_MARK.length;
      }
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #cutOff(file: StoreFile | undefined): Promise<void> {
    await file?.truncate(this.#end);
    this.#dirty = false;
  }
}
