import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { errorCode } from './failures';

/** Of the file or link itself; undefined where there is none, also since a part of the path is a file. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
