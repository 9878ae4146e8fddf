/** A file of ours that could not be read or written: which one, why, and what to do about it. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError';
  constructor(
    message: string,
    /** The file or folder that failed. */
    readonly path: string,
    /** The operating system's code, such as `ENOSPC`, where there is one. */
    readonly code: string | undefined,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Another window owns the store by now: what was to be written does not count. */
export class FencedError extends StorageError {
  override readonly name = 'FencedError';
  constructor(path: string) {
    super(`Could not write ${path}: another window has taken over this team.`, path, undefined);
  }
}

/**
 * The journal is there and whole, but none of its lines was written with the key of this machine. Another machine or
 * browser went on with the team, or somebody put another journal in its place: a person has to say which.
 */
export class ForeignKeyError extends StorageError {
  override readonly name = 'ForeignKeyError';
  constructor(path: string) {
    const text = `Could not read ${path}: it is signed with another key than the one kept here.`;
    super(text, path, undefined);
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space and try again.',
  EDQUOT: 'the disk quota is used up. Free some space and try again.',
  EACCES: 'access is denied. Check the permissions of the file and its folder.',
  EPERM: 'the operation is not permitted. Check the permissions of the file and its folder.',
  EROFS: 'the file system is read-only. Use a folder that can be written.',
  EIO: 'the disk reported an input/output error. Check the disk.',
  ENOTDIR: 'a part of the path is a file, not a folder. Move that file away.',
  EISDIR: 'there is a folder of that name. Move it away.',
  ENOENT: 'it does not exist. Check that its folder was not removed.',
  EMFILE: 'too many files are open. Close some programs and try again.',
  ENFILE: 'too many files are open. Close some programs and try again.',
  ELOOP: 'it is a link. Replace it by a file of its own.',
  ENAMETOOLONG: 'the path is too long. Use a folder with a shorter path.',
};

/** The `code` of an error of Node's file system, or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/**
 * Puts a file system error into words.
 * @param action what was tried, as in "write" or "read"
 */
export function storageError(action: string, path: string, error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const code = errorCode(error);
  const known = code === undefined ? undefined : ADVICE[code];
  const why = known ?? (error instanceof Error ? error.message : String(error));
  const suffix = known === undefined ? '' : ` (${code})`;
  return new StorageError(`Could not ${action} ${path}: ${why}${suffix}`, path, code, { cause: error });
}
