import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { StorageError, storageError } from './errors';
import { nodeFileSystem, type StoreFileSystem, writeAll } from './fileSystem';

export interface AtomicWriteOptions {
  /** Whether the file is on the disk before this resolves (default true); the replacement is whole either way. */
  sync?: boolean;
  /** Permissions of the file; by default those the user's umask leaves. */
  mode?: number;
  fileSystem?: StoreFileSystem;
}

/**
 * Replaces a file by new content, so that a reader and a crash see the old or the new content, never a part.
 * @throws {StorageError} naming the file; the old content is then still there
 */
export async function atomicWriteFile(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const fs = options.fileSystem ?? nodeFileSystem;
  const sync = options.sync ?? true;
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  let made = false;
  try {
    const file = await fs.open(temporary, 'create', options.mode);
    made = true;
    try {
      await writeAll(file, bytes, 0);
      if (sync) await file.datasync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, path);
    made = false;
    if (sync) await fs.syncDirectory(dirname(path));
  } catch (error) {
    const failure = storageError('write', path, error);
    if (!made) throw failure;
    throw await withoutTemporary(fs, temporary, failure);
  }
}

/** Removes what a failed write left; when even that fails, the error says which file stayed behind. */
async function withoutTemporary(
  fs: StoreFileSystem,
  temporary: string,
  failure: StorageError,
): Promise<StorageError> {
  try {
    await fs.unlink(temporary);
    return failure;
  } catch {
    const message = `${failure.message} The unfinished copy ${temporary} could not be removed either.`;
    return new StorageError(message, failure.path, failure.code, { cause: failure.cause });
  }
}
