import { WorkspaceError } from './port';

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'access is denied; check its permissions',
  EPERM: 'the operation is not permitted; check its permissions',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full; free some space and try again',
  EDQUOT: 'the disk quota is used up; free some space and try again',
  EIO: 'the disk reported an input/output error',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open; try again',
  ENFILE: 'too many files are open; try again',
  ENXIO: 'it is not a regular file',
};

/** The `code` of an error of Node's, or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/**
 * Puts an error of the system into words; a {@link WorkspaceError} stays as it is.
 * @param action what was tried, as in "read"
 * @param path as the caller named it
 */
export function workspaceError(action: string, path: string, error: unknown): WorkspaceError {
  if (error instanceof WorkspaceError) return error;
  const code = errorCode(error);
  const known = code === undefined ? undefined : ADVICE[code];
  const why = known ?? (error instanceof Error ? error.message : String(error));
  return new WorkspaceError(`Cannot ${action} '${path}': ${why}.`, { cause: error });
}
