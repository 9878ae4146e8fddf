import { storageError } from './errors';
import { nodeFileSystem, type StoreFile, type StoreFileSystem, writeAll } from './fileSystem';

const NEWLINE = 0x0a;
const CHUNK_BYTES = 1 << 16;

/**
 * Adds lines to the end of a file that nobody else writes to; made when missing. A tail without a line end, which
 * a crash left, is removed first. Not synced: for files that can be made anew.
 * @throws {StorageError} naming the file; then none of the lines is in it, or what is of them goes with the next call
 */
export async function appendOwnLines(
  path: string,
  lines: readonly string[],
  fs: StoreFileSystem = nodeFileSystem,
): Promise<void> {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
  try {
    const file = await fs.open(path, 'update');
    try {
      const size = await file.size();
      const end = await endOfLines(file, size);
      if (end < size) await file.truncate(end);
      await writeOrCutOff(file, bytes, end);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw storageError('write', path, error);
  }
}

async function writeOrCutOff(file: StoreFile, bytes: Uint8Array, end: number): Promise<void> {
  try {
    await writeAll(file, bytes, end);
  } catch (error) {
    // Whole lines of a part that was written would be there twice after the next try.
    await file.truncate(end).catch(() => undefined);
    throw error;
  }
}

/** Byte offset behind the last line end. */
async function endOfLines(file: StoreFile, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const chunk = new Uint8Array(end - start);
    const count = await file.read(chunk, start);
    const at = chunk.subarray(0, count).lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}
