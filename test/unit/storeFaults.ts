import type { OpenMode, StoreFile, StoreFileSystem } from '../../src/store';

/** What goes wrong with one operation. */
export type Fault =
  /** It fails and does nothing. */
  | { kind: 'fails'; code: string }
  /** It fails, although its effect took place. */
  | { kind: 'fails after the fact'; code: string }
  /** A write takes only some of the bytes; other operations are as usual. */
  | { kind: 'short'; bytes: number };

export interface Operation {
  name:
    | 'open'
    | 'write'
    | 'read'
    | 'truncate'
    | 'datasync'
    | 'close'
    | 'rename'
    | 'unlink'
    | 'mkdir'
    | 'readdir'
    | 'syncDirectory';
  path: string;
}

interface MemoryContent {
  /** What programs see. */
  seen: Buffer;
  /** What the last sync put on the disk. */
  durable: Buffer;
}

function systemError(code: string, operation: Operation): Error {
  return Object.assign(new Error(`${code}: ${operation.name} '${operation.path}'`), { code });
}

/** A file system in memory that fails where a test says so, and that can lose what was not synced. */
export class FaultyFileSystem implements StoreFileSystem {
  readonly files = new Map<string, MemoryContent>();
  readonly operations: Operation[] = [];
  /** Asked before each operation. */
  fault: (operation: Operation, index: number) => Fault | undefined = () => undefined;

  text(path: string): string {
    return this.files.get(path)?.seen.toString('utf8') ?? '';
  }

  put(path: string, content: string | Buffer): void {
    const bytes = Buffer.from(content);
    this.files.set(path, { seen: bytes, durable: bytes });
  }

  count(name: Operation['name']): number {
    return this.operations.filter((operation) => operation.name === name).length;
  }

  /**
   * The machine loses power: of what was written behind the synced part, only some reaches the disk.
   * @param kept how much of it, from 0 to 1
   */
  crash(kept: (path: string) => number): void {
    for (const [path, content] of this.files) {
      const synced = content.durable.length;
      const extra = Math.max(0, content.seen.length - synced);
      const bytes = content.seen.subarray(0, synced + Math.floor(extra * kept(path)));
      this.files.set(path, { seen: bytes, durable: bytes });
    }
    this.fault = () => undefined;
  }

  async open(path: string, mode: OpenMode): Promise<StoreFile> {
    return this.#step({ name: 'open', path }, () => {
      const existing = this.files.get(path);
      if (existing === undefined && mode === 'read') throw systemError('ENOENT', { name: 'open', path });
      if (existing !== undefined && mode === 'create') throw systemError('EEXIST', { name: 'open', path });
      const content = existing ?? { seen: Buffer.alloc(0), durable: Buffer.alloc(0) };
      this.files.set(path, content);
      return this.#file(path, content);
    });
  }

  async readdir(path: string): Promise<string[]> {
    return this.#step({ name: 'readdir', path }, () => {
      const names = [...this.files.keys()].filter((file) => file.startsWith(`${path}/`));
      return names.map((file) => file.slice(path.length + 1));
    });
  }

  async mkdir(path: string): Promise<void> {
    await this.#step({ name: 'mkdir', path }, () => undefined);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step({ name: 'rename', path: to }, () => {
      const content = this.files.get(from);
      if (content === undefined) throw systemError('ENOENT', { name: 'rename', path: from });
      this.files.delete(from);
      this.files.set(to, content);
    });
  }

  async unlink(path: string): Promise<void> {
    await this.#step({ name: 'unlink', path }, () => {
      this.files.delete(path);
    });
  }

  async syncDirectory(path: string): Promise<void> {
    await this.#step({ name: 'syncDirectory', path }, () => undefined);
  }

  #file(path: string, content: MemoryContent): StoreFile {
    return {
      write: (data, position) =>
        this.#step({ name: 'write', path }, (limit) => {
          const part = data.subarray(0, limit);
          const length = Math.max(content.seen.length, position + part.length);
          const next = Buffer.alloc(length);
          content.seen.copy(next);
          next.set(part, position);
          content.seen = next;
          return part.length;
        }),
      read: (target, position) =>
        this.#step({ name: 'read', path }, () => {
          const part = content.seen.subarray(position, position + target.length);
          target.set(part);
          return part.length;
        }),
      size: async () => content.seen.length,
      truncate: (length) =>
        this.#step({ name: 'truncate', path }, () => {
          content.seen = content.seen.subarray(0, length);
          content.durable = content.durable.subarray(0, length);
        }),
      datasync: () =>
        this.#step({ name: 'datasync', path }, () => {
          content.durable = Buffer.from(content.seen);
        }),
      close: () => this.#step({ name: 'close', path }, () => undefined),
    };
  }

  async #step<Result>(operation: Operation, effect: (limit: number) => Result): Promise<Result> {
    await Promise.resolve();
    const fault = this.fault(operation, this.operations.length);
    this.operations.push(operation);
    if (fault?.kind === 'fails') throw systemError(fault.code, operation);
    const result = effect(fault?.kind === 'short' ? fault.bytes : Number.POSITIVE_INFINITY);
    if (fault?.kind === 'fails after the fact') throw systemError(fault.code, operation);
    return result;
  }
}
