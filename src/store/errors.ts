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

/** What the operating system's codes mean, and what to do. */
const KNOWN: Readonly<Record<string, { why: string; advice: string }>> = {
  ENOSPC: { why: 'the disk is full', advice: 'Free some space and try again.' },
  EDQUOT: { why: 'the disk quota is used up', advice: 'Free some space and try again.' },
  EACCES: { why: 'access is denied', advice: 'Check the permissions of the file and its folder.' },
  EPERM: {
    why: 'the operation is not permitted',
    advice: 'Check the permissions of the file and its folder.',
  },
  EROFS: { why: 'the file system is read-only', advice: 'Use a folder that can be written.' },
  EIO: { why: 'the disk reported an input/output error', advice: 'Check the disk.' },
  ENOTDIR: { why: 'a part of the path is a file, not a folder', advice: 'Move that file away.' },
  EISDIR: { why: 'there is a folder of that name', advice: 'Move it away.' },
  ENOENT: { why: 'it does not exist', advice: 'Check that its folder was not removed.' },
  EMFILE: { why: 'too many files are open', advice: 'Close some programs and try again.' },
  ENFILE: { why: 'too many files are open', advice: 'Close some programs and try again.' },
  ELOOP: { why: 'it is a link', advice: 'Replace it by a file of its own.' },
  ENAMETOOLONG: { why: 'the path is too long', advice: 'Use a folder with a shorter path.' },
  EFTYPE: { why: 'it is not a regular file', advice: 'Move it away.' },
  ENXIO: { why: 'it is not a regular file', advice: 'Move it away.' },
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
  const known = code === undefined ? undefined : KNOWN[code];
  const message = error instanceof Error ? error.message : String(error);
  const why = known === undefined ? message : `${known.why} (${code}). ${known.advice}`;
  return new StorageError(`Could not ${action} ${path}: ${why}`, path, code, { cause: error });
}
