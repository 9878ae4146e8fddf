import { errorCode, storageError } from './errors';
import { nodeFileSystem, type StoreFile, type StoreFileSystem } from './fileSystem';
import { parseLine, readLines } from './lines';

const FIRST_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * The newest records of a transcript in their order, from the newest that fits `isEnough` on; all of them
 * where none fits, and none where there is no file. Only as much of the file is read as that takes; lines
 * that cannot be used are passed over (loading the whole file names them).
 * @throws {StorageError} when the file cannot be read
 */
export async function readTranscriptTail(
  path: string,
  isEnough: (record: unknown) => boolean,
  fs: StoreFileSystem = nodeFileSystem,
): Promise<unknown[]> {
  return withFile(path, fs, [], async (file) => {
    const size = await file.size();
    for (let bytes = FIRST_BYTES; ; bytes *= 4) {
      const from = Math.max(0, size - bytes);
      const records = await recordsFrom(file, from, size);
      const start = records.findLastIndex(isEnough);
      if (start >= 0) return records.slice(start);
      if (from === 0) return records;
    }
  });
}

/**
 * Which of these strings stand in a file, looked for as bytes in portions.
 * @throws {StorageError} when the file cannot be read
 */
export async function findInTranscript(
  path: string,
  needles: readonly string[],
  isMatch: (line: Uint8Array, needle: string) => boolean,
  fs: StoreFileSystem = nodeFileSystem,
): Promise<string[]> {
  const found = new Set<string>();
  await withFile(path, fs, undefined, async (file) => {
    for await (const lines of readLines(file)) {
      for (const { bytes, terminated } of lines) {
        if (!terminated) continue;
        for (const needle of needles) {
          if (!found.has(needle) && bytes.includes(needle) && isMatch(bytes, needle)) found.add(needle);
        }
      }
      if (found.size === needles.length) return;
    }
  });
  return [...found];
}

async function withFile<T>(
  path: string,
  fs: StoreFileSystem,
  missing: T,
  use: (file: StoreFile) => Promise<T>,
): Promise<T> {
  try {
    const file = await fs.open(path, 'read');
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return missing;
    throw storageError('read', path, error);
  }
}

async function recordsFrom(file: StoreFile, from: number, size: number): Promise<unknown[]> {
  const buffer = Buffer.alloc(size - from);
  let filled = 0;
  while (filled < buffer.length) {
    const count = await file.read(buffer.subarray(filled), from + filled);
    if (count === 0) break;
    filled += count;
  }
  const records: unknown[] = [];
  // The first line of a part is most likely the end of one.
  let start = from === 0 ? 0 : buffer.indexOf(NEWLINE) + 1;
  if (from > 0 && start === 0) return records;
  for (let end = buffer.indexOf(NEWLINE, start); end !== -1; end = buffer.indexOf(NEWLINE, start)) {
    const bytes = buffer.subarray(start, end);
    const value = parseLine({ bytes, number: 0, end: from + end + 1, terminated: true });
    if (typeof value !== 'string') records.push(value);
    start = end + 1;
  }
  return records;
}
