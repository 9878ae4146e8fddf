import { createHash, randomBytes } from 'node:crypto';
import { type BigIntStats, constants, promises as fs } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode, workspaceError } from './failures';
import type { ResolvedPath } from './paths';
import { WorkspaceError } from './port';

/** Larger files are not read whole. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
// Windows lacks both flags, and with them the things they guard against.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;
/** Codes with which file systems say that they have no hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL']);

/** A regular file as it was at one moment. */
export interface FileState {
  bytes: Buffer;
  /** Of the content. */
  hash: string;
  stats: BigIntStats;
}

export function contentHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/**
 * Reads a regular file whole.
 * @returns undefined when there is none
 * @throws {WorkspaceError} for folders, special files, links made since the path was resolved, files over 32 MiB
 */
export async function readRegularFile(path: ResolvedPath): Promise<FileState | undefined> {
  try {
    // Not waiting keeps a named pipe from hanging the member.
    const handle = await fs.open(path.real, constants.O_RDONLY | NO_FOLLOW | NO_WAIT);
    try {
      const stats = await handle.stat({ bigint: true });
      refuseIrregular(path, stats);
      await refuseMoved(path, path.real);
      const bytes = await handle.readFile();
      return { bytes, hash: contentHash(bytes), stats };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw workspaceError('read', path.given, error);
  }
}

/**
 * Puts new content in the place of a file, whole or not at all, with the file's permissions. The folders
 * above it are made.
 * @param expected the file as it was read, or undefined if there was none
 * @throws {WorkspaceError} when it cannot be written, or is no longer as expected
 */
export async function replaceFile(
  path: ResolvedPath,
  bytes: Buffer,
  expected: FileState | undefined,
): Promise<void> {
  const folder = dirname(path.real);
  const temporary = join(folder, `.handshake-${randomBytes(8).toString('hex')}.tmp`);
  if (expected !== undefined && (expected.stats.mode & 0o222n) === 0n) {
    throw new WorkspaceError(`Cannot write '${path.given}': it is read-only. Change its permissions first.`);
  }
  try {
    await fs.mkdir(folder, { recursive: true });
    await refuseMoved(path, folder);
    try {
      await writeTemporary(temporary, bytes, expected?.stats);
      await refuseMoved(path, folder);
      if (expected === undefined) await putNew(path, temporary);
      else await putOver(path, temporary, expected.stats);
    } finally {
      await fs.rm(temporary, { force: true });
    }
  } catch (error) {
    throw workspaceError('write', path.given, error);
  }
}

async function writeTemporary(
  temporary: string,
  bytes: Buffer,
  like: BigIntStats | undefined,
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const handle = await fs.open(temporary, flags, 0o666);
  try {
    await handle.writeFile(bytes);
    if (like !== undefined) await makeAlike(handle, like);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Only what differs is set: some mounted file systems refuse even to set what is there. */
async function makeAlike(handle: fs.FileHandle, like: BigIntStats): Promise<void> {
  const now = await handle.stat({ bigint: true });
  // Only root can give a file away, and only for root would it change hands otherwise.
  const hasOtherOwner = now.uid !== like.uid || now.gid !== like.gid;
  if (hasOtherOwner && process.getuid?.() === 0) await handle.chown(Number(like.uid), Number(like.gid));
  if (now.mode !== like.mode) await handle.chmod(Number(like.mode & 0o7777n));
}

/** Gives the new file its name, unless something took the name meanwhile. */
async function putNew(path: ResolvedPath, temporary: string): Promise<void> {
  try {
    await fs.link(temporary, path.real);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'EEXIST') throw changed(path);
    if (!NO_LINKS.has(code)) throw error;
    if ((await statIfAny(path.real)) !== undefined) throw changed(path);
    await fs.rename(temporary, path.real);
  }
}

async function putOver(path: ResolvedPath, temporary: string, expected: BigIntStats): Promise<void> {
  const now = await statIfAny(path.real);
  const same =
    now !== undefined &&
    now.ino === expected.ino &&
    now.size === expected.size &&
    now.mtimeNs === expected.mtimeNs &&
    now.ctimeNs === expected.ctimeNs;
  if (!same) throw changed(path);
  await fs.rename(temporary, path.real);
}

async function statIfAny(real: string): Promise<BigIntStats | undefined> {
  try {
    return await fs.lstat(real, { bigint: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function changed(path: ResolvedPath): WorkspaceError {
  return new WorkspaceError(
    `Cannot write '${path.given}': it changed just now. Read it again, then repeat the change.`,
  );
}

/** A folder on the way may have become a link since the path was resolved. */
async function refuseMoved(path: ResolvedPath, part: string): Promise<void> {
  if ((await fs.realpath(part)) === part) return;
  throw new WorkspaceError(`Cannot use '${path.given}': a folder on its way changed just now. Try again.`);
}

function refuseIrregular(path: ResolvedPath, stats: BigIntStats): void {
  if (stats.isDirectory()) {
    throw new WorkspaceError(
      `Cannot use '${path.given}' as a file: it is a folder. List it with a shell command.`,
    );
  }
  if (!stats.isFile()) throw new WorkspaceError(`Cannot use '${path.given}': it is not a regular file.`);
  if (stats.size > BigInt(MAX_FILE_BYTES)) {
    throw new WorkspaceError(
      `Cannot use '${path.given}' whole: it has ${stats.size} bytes, more than ${MAX_FILE_BYTES}. Take parts of it with a shell command.`,
    );
  }
}
