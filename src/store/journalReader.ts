import { join } from 'node:path';
import { errorCode, StorageError, storageError } from './errors';
import type { StoreFileSystem } from './fileSystem';
import {
  FORMAT_VERSION,
  isAuthentic,
  type JournalEntry,
  type LinePosition,
  parseEntry,
  type SegmentHeader,
  segmentName,
  segmentNumber,
} from './journalFormat';
import type { JournalKey } from './journalKey';
import { isJsonObject, parseLine, type RawLine, readLines } from './lines';

const OTHER_CODE = 'its authentication code does not fit: it was changed, or written with another key';

/** A line that says nothing, and why. */
export interface BadLine extends LinePosition {
  reason: string;
  /** False for a last line whose writing was cut off, as a crash leaves it: nobody was told it is there. */
  terminated: boolean;
}

/** One segment as its file has it. */
export interface ReadSegment {
  number: number;
  header: SegmentHeader | undefined;
  /** In the order of the file; a header is an entry too. */
  entries: JournalEntry[];
  bad: BadLine[];
  /** How many of the bad lines are whole ones that another key signed. */
  otherKey: number;
  /** Byte offset behind the last whole line. */
  bytes: number;
}

/**
 * Reads every segment in a folder, oldest first; none when there is no folder.
 * @param key that the lines are checked with; without one, all lines that can be parsed are given
 * @throws {StorageError} when a segment cannot be read at all, or is of a newer format
 */
export async function readSegments(
  dir: string,
  fs: StoreFileSystem,
  key: JournalKey | undefined,
): Promise<ReadSegment[]> {
  const segments: ReadSegment[] = [];
  for (const number of await listSegments(dir, fs)) segments.push(await readSegment(dir, fs, number, key));
  return segments;
}

async function listSegments(dir: string, fs: StoreFileSystem): Promise<number[]> {
  try {
    const numbers = (await fs.readdir(dir)).map(segmentNumber);
    return numbers.filter((number) => number !== undefined).sort((a, b) => a - b);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw storageError('read', dir, error);
  }
}

async function readSegment(
  dir: string,
  fs: StoreFileSystem,
  number: number,
  key: JournalKey | undefined,
): Promise<ReadSegment> {
  const path = join(dir, segmentName(number));
  const segment: ReadSegment = { number, header: undefined, entries: [], bad: [], otherKey: 0, bytes: 0 };
  try {
    const file = await fs.open(path, 'read');
    try {
      for await (const lines of readLines(file)) {
        for (const line of lines) takeLine(segment, line, key, path);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw storageError('read', path, error);
  }
  if (segment.bytes === 0 && segment.bad.length === 0) {
    const reason = 'the segment is empty';
    segment.bad.push({ segmentNumber: number, line: 1, end: 0, terminated: false, reason });
  }
  return segment;
}

function takeLine(segment: ReadSegment, line: RawLine, key: JournalKey | undefined, path: string): void {
  const { terminated } = line;
  const at = { segmentNumber: segment.number, line: line.number, end: line.end };
  if (terminated) segment.bytes = line.end;
  if (line.number === 1) refuseNewer(line, path);
  const entry = entryOf(line, at, key);
  if (typeof entry === 'string') {
    segment.bad.push({ ...at, terminated, reason: entry });
    if (entry === OTHER_CODE && isSigned(line, at)) segment.otherKey += 1;
    return;
  }
  segment.header ??= entry.header;
  // A header of version 1 has no number of its own.
  if (entry.span > 0) segment.entries.push(entry);
}

function entryOf(line: RawLine, at: LinePosition, key: JournalKey | undefined): JournalEntry | string {
  if (key === undefined || !line.terminated) {
    const value = parseLine(line);
    return typeof value === 'string' ? value : parseEntry(value, at);
  }
  if (!isAuthentic(line.bytes, key)) {
    const value = parseLine(line);
    return typeof value === 'string' ? value : OTHER_CODE;
  }
  const value: unknown = JSON.parse(line.bytes.toString('utf8'));
  return isJsonObject(value) ? parseEntry(value, at) : 'the line is not a JSON object';
}

/** Whether it is a line of a journal, with some code. */
function isSigned(line: RawLine, at: LinePosition): boolean {
  const value = parseLine(line);
  const entry = typeof value === 'string' ? value : parseEntry(value, at);
  return typeof entry !== 'string' && entry.mac !== '';
}

function refuseNewer(line: RawLine, path: string): void {
  const value = parseLine(line);
  if (typeof value === 'string' || typeof value.journal !== 'number') return;
  if (value.journal <= FORMAT_VERSION) return;
  const message = `Could not read ${path}: a newer version of Handshake wrote it. Update Handshake.`;
  throw new StorageError(message, path, undefined);
}
