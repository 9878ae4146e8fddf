import { constants, promises as fs } from 'node:fs';
import { errorCode } from './errors';

/** An open file, with just the operations the store needs. */
export interface StoreFile {
  /**
   * Writes `data` at the byte offset `position`.
   * @returns how many bytes were written, which may be fewer than were given
   */
  write(data: Uint8Array, position: number): Promise<number>;
  /** Reads into `target` from the byte offset `position`; 0 at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>;
  /** Length in bytes. */
  size(): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Resolves when the content is on the disk. */
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `read`: an existing file; `create`: a new file, refused when there is one; `update`: read and write, made if
 * missing; `append`: every write goes to the end, whatever its position and whoever else writes; made if missing.
 */
export type OpenMode = 'read' | 'create' | 'update' | 'append';

/** The file system as the store uses it, so that tests can make each step of it fail. */
export interface StoreFileSystem {
  /** @param permissions of a new file, by default those the user's umask leaves */
  open(path: string, mode: OpenMode, permissions?: number): Promise<StoreFile>;
  readdir(path: string): Promise<string[]>;
  /** Makes the folder and its parents; no error when it is there. */
  mkdir(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes new and renamed names in the folder durable, where the system can do that for a folder. */
  syncDirectory(path: string): Promise<void>;
}

/** A link in the place of a file could lead anywhere. Windows has no such flag. */
const NO_LINK = constants.O_NOFOLLOW ?? 0;

const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
  update: constants.O_RDWR | constants.O_CREAT | NO_LINK,
  // Without O_NONBLOCK a pipe that lies in the way holds a thread for ever; to a file it means nothing.
  append: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NONBLOCK ?? 0) | NO_LINK,
};

/** Codes with which file systems (and Windows) say that a folder cannot be synced at all. */
const NO_DIRECTORY_SYNC = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM', 'EACCES', 'EBADF']);

/** The machine's own file system. */
export const nodeFileSystem: StoreFileSystem = {
  async open(path, mode, permissions = 0o666) {
    const handle = await fs.open(path, FLAGS[mode], permissions);
    // Some systems write at the given position even into a file that was opened to append.
    const at = (position: number): number | null => (mode === 'append' ? null : position);
    return {
      write: async (data, position) => (await handle.write(data, 0, data.length, at(position))).bytesWritten,
      read: async (target, position) => (await handle.read(target, 0, target.length, position)).bytesRead,
      size: async () => (await handle.stat()).size,
      truncate: (length) => handle.truncate(length),
      datasync: () => handle.datasync(),
      close: () => handle.close(),
    };
  },
  readdir: (path) => fs.readdir(path),
  async mkdir(path) {
    await fs.mkdir(path, { recursive: true });
  },
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  async syncDirectory(path) {
    try {
      const handle = await fs.open(path, constants.O_RDONLY);
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    } catch (error) {
      // Where folders cannot be synced the rename itself is all the durability there is.
      if (!NO_DIRECTORY_SYNC.has(errorCode(error) ?? '')) throw error;
    }
  },
};

/**
 * Writes all of `data` at `position`, however often the system takes only a part.
 * @throws when the system takes nothing at all
 */
export async function writeAll(file: StoreFile, data: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < data.length) {
    const written = await file.write(data.subarray(done), position + done);
    if (written <= 0) throw new Error('the system wrote nothing and gave no reason');
    done += written;
  }
}
