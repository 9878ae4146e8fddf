import { randomBytes } from 'node:crypto';
import { existsSync, promises as fs } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { errorCode, storageError } from './errors';
import { nodeFileSystem } from './fileSystem';

/**
 * The epochs of a team: files `epoch-000001`, `epoch-000002`, … in its storage folder, one for every owner
 * there was. Each is made exclusively, so an epoch has one owner; the newest one owns the team. Older files
 * are removed in their order, oldest first, so that an owner is replaced exactly when its own file is gone
 * or the one after it is there.
 */

const NAME = /^epoch-(\d{6,})$/;
const TEMPORARY = /^\.epoch-[0-9a-f]+\.tmp$/;
/** What file systems without hard links answer. */
const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EISDIR', 'UNKNOWN']);

const ownerRecord = z.object({
  pid: z.int().positive(),
  /** Milliseconds since 1970. */
  since: z.number(),
  /** Where the owner listens (see `ownershipSocket.ts`). */
  address: z.string().min(1),
});

export type OwnerRecord = z.infer<typeof ownerRecord>;

export interface Epoch {
  epoch: number;
  /** Undefined when the file cannot be understood: a power cut left it so, and no owner survives one. */
  owner: OwnerRecord | undefined;
}

export function epochName(epoch: number): string {
  return `epoch-${String(epoch).padStart(6, '0')}`;
}

/** True for the name of an epoch's file. */
export function isEpochName(name: string): boolean {
  return NAME.test(name);
}

/** True while the epoch is there and none has followed it. Two look-ups of a name; never throws. */
export function isNewestEpoch(dir: string, epoch: number): boolean {
  return existsSync(join(dir, epochName(epoch))) && !existsSync(join(dir, epochName(epoch + 1)));
}

/**
 * The newest epoch, or undefined when the team never had an owner.
 * @throws {StorageError} when the folder or the file cannot be read
 */
export async function newestEpoch(dir: string): Promise<Epoch | undefined> {
  for (;;) {
    const epoch = (await list(dir)).at(-1);
    if (epoch === undefined) return undefined;
    const path = join(dir, epochName(epoch));
    try {
      return { epoch, owner: parseOwner(await fs.readFile(path, 'utf8')) };
    } catch (error) {
      // Replaced and removed between the two looks: look again.
      if (errorCode(error) !== 'ENOENT') throw storageError('read', path, error);
    }
  }
}

/**
 * Makes an epoch, whole from its first moment.
 * @returns false when somebody was quicker
 * @throws {StorageError} when it cannot be written
 */
export async function createEpoch(dir: string, epoch: number, owner: OwnerRecord): Promise<boolean> {
  const path = join(dir, epochName(epoch));
  const temporary = join(dir, `.epoch-${randomBytes(6).toString('hex')}.tmp`);
  const text = `${JSON.stringify(owner)}\n`;
  try {
    await fs.mkdir(dir, { recursive: true });
    await fs.writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
    try {
      await linkOrWrite(temporary, path, text);
    } finally {
      await fs.rm(temporary, { force: true });
    }
    await nodeFileSystem.syncDirectory(dir);
    return true;
  } catch (error) {
    const code = errorCode(error);
    // ENOENT: a new owner tidied the temporary file away, so it was quicker too.
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw storageError('write', path, error);
  }
}

/**
 * Removes the epochs before one, oldest first; stops at the first that cannot be removed.
 * @throws {StorageError} naming that one
 */
export async function removeOlderEpochs(dir: string, epoch: number): Promise<void> {
  for (const older of await list(dir)) {
    if (older >= epoch) break;
    await remove(join(dir, epochName(older)));
  }
  for (const name of await fs.readdir(dir)) {
    if (TEMPORARY.test(name)) await remove(join(dir, name));
  }
}

async function remove(path: string): Promise<void> {
  try {
    await fs.rm(path, { force: true });
  } catch (error) {
    throw storageError('remove', path, error);
  }
}

async function linkOrWrite(temporary: string, path: string, text: string): Promise<void> {
  try {
    await fs.link(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error) ?? '')) throw error;
    // Whoever reads it before it is whole takes the next epoch, and this one's owner sees that it lost.
    await fs.writeFile(path, text, { flag: 'wx', mode: 0o600 });
  }
}

async function list(dir: string): Promise<number[]> {
  try {
    const numbers = (await fs.readdir(dir)).flatMap((name) => NAME.exec(name)?.[1] ?? []);
    return numbers.map(Number).sort((a, b) => a - b);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw storageError('read', dir, error);
  }
}

function parseOwner(text: string): OwnerRecord | undefined {
  try {
    return ownerRecord.safeParse(JSON.parse(text)).data;
  } catch {
    // That it is not JSON is the answer.
    return undefined;
  }
}
