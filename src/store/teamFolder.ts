import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWriteFile } from './atomic';
import { errorCode, StorageError, storageError } from './errors';
import { nodeFileSystem, type StoreFileSystem } from './fileSystem';

/**
 * Makes the team's folder `.team/` in a workspace, with a `.gitignore` that hides it from git, where they
 * are missing. What is there already stays as it is.
 * @param workspaceRoot the workspace folder
 * @returns the path of the team folder
 * @throws {StorageError} when it cannot be made, or is a link (which could lead out of the workspace)
 */
export async function ensureTeamFolder(
  workspaceRoot: string,
  fs: StoreFileSystem = nodeFileSystem,
): Promise<string> {
  const folder = join(workspaceRoot, '.team');
  const ignore = join(folder, '.gitignore');
  try {
    await fs.mkdir(folder);
  } catch (error) {
    throw storageError('make', folder, namedNotDirectory(error));
  }
  try {
    await refuseLink(folder);
    // Whole or not at all: an empty one would stay, and show git all that is in the folder.
    if (!(await isThere(ignore))) await atomicWriteFile(ignore, '*\n', { sync: false, fileSystem: fs });
  } catch (error) {
    throw storageError('write', ignore, error);
  }
  return folder;
}

/** @throws {StorageError} when a folder is a link, which could lead out of the workspace */
export async function refuseLink(folder: string): Promise<void> {
  if (!(await lstat(folder)).isSymbolicLink()) return;
  const message = `Could not use ${folder}: it is a link. Replace it by a folder of the workspace.`;
  throw new StorageError(message, folder, undefined);
}

/** `mkdir` says EEXIST where a file has the name; the advice for ENOTDIR is the one that helps. */
export function namedNotDirectory(cause: unknown): unknown {
  if (errorCode(cause) !== 'EEXIST') return cause;
  return Object.assign(new Error('a file has the name of the folder', { cause }), { code: 'ENOTDIR' });
}

async function isThere(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
