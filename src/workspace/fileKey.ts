import { promises as fs } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from './failures';

/** Whether names that differ in case mean one file there, by folder; it does not change while we run. */
const ignoresCase = new Map<string, Promise<boolean>>();

/**
 * One key for all names of a file.
 * @param real absolute path without links; the file need not exist
 */
export async function fileKey(real: string): Promise<string> {
  return keyOf(real, await folderIgnoresCase(dirname(real)));
}

/** Where case makes no difference, neither does the way in which accents are written. */
export function keyOf(real: string, caseless: boolean): string {
  return caseless ? real.normalize('NFC').toLowerCase() : real;
}

function folderIgnoresCase(folder: string): Promise<boolean> {
  const known = ignoresCase.get(folder);
  if (known !== undefined) return known;
  const looked = look(folder);
  ignoresCase.set(folder, looked);
  return looked;
}

/** Looks for the folder under its name in the other case; one without letters is as the folder above it. */
async function look(folder: string): Promise<boolean> {
  const name = basename(folder);
  const other = swappedCase(name);
  const parent = dirname(folder);
  if (parent === folder) return false;
  if (other === name) return folderIgnoresCase(parent);
  try {
    const own = await fs.stat(folder);
    const same = await fs.stat(join(parent, other));
    return own.ino === same.ino && own.dev === same.dev;
  } catch (error) {
    // A folder that is still to be made is as the one above it.
    if (errorCode(error) !== 'ENOENT') throw error;
    return (await exists(folder)) ? false : folderIgnoresCase(parent);
  }
}

/** Whether something stands there; what cannot be looked at counts as nothing. */
export async function exists(path: string): Promise<boolean> {
  return fs.stat(path).then(
    () => true,
    () => false,
  );
}

function swappedCase(name: string): string {
  const upper = name.toUpperCase();
  return upper === name ? name.toLowerCase() : upper;
}
