import { isUtf8 } from 'node:buffer';
import type { StoreFile } from './fileSystem';

/** A JSON object as it is stored; what is in it is parsed where it is used. */
export type JsonObject = { [key: string]: unknown };

/** Something in a file that could not be used. It stays in the file as it is. */
export interface Damage {
  /** Path of the file. */
  file: string;
  /** Line in it, from 1. */
  line: number;
  /** What is wrong, in words for a person. */
  reason: string;
  /** True when what the line says was used all the same. */
  counts?: boolean;
}

export type OnDamage = (damage: Damage) => void;

/** One line of a file, without its newline. */
export interface RawLine {
  bytes: Buffer;
  /** Line in the file, from 1. */
  number: number;
  /** Byte offset behind the line and its newline. */
  end: number;
  /** False for a last line without a newline: its writing was cut off. */
  terminated: boolean;
}

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/**
 * Reads a file line by line, in portions, so that its size is never in memory at once.
 * @param limit byte offset to stop at, by default the end of the file
 * @param chunkBytes how much is read at a time
 */
export async function* readLines(
  file: StoreFile,
  limit = Number.POSITIVE_INFINITY,
  chunkBytes = CHUNK_BYTES,
): AsyncGenerator<RawLine[]> {
  const end = Math.min(limit, await file.size());
  let position = 0;
  let number = 0;
  let begun: Buffer[] = [];
  while (position < end) {
    // A new buffer each time: the lines handed out are views of it.
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, end - position));
    const count = await file.read(chunk, position);
    if (count === 0) break;
    const lines: RawLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && at < count; at = chunk.indexOf(NEWLINE, from)) {
      const rest = chunk.subarray(from, at);
      const bytes = begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      begun = [];
      number += 1;
      from = at + 1;
      lines.push({ bytes, number, end: position + from, terminated: true });
    }
    if (from < count) begun.push(chunk.subarray(from, count));
    position += count;
    if (lines.length > 0) yield lines;
  }
  if (begun.length > 0) {
    yield [{ bytes: Buffer.concat(begun), number: number + 1, end: position, terminated: false }];
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses one stored line.
 * @returns the object, or the reason why there is none
 */
export function parseLine(line: RawLine): JsonObject | string {
  if (!line.terminated) return 'the line was cut off while it was written';
  if (line.bytes.includes(0)) return 'the line holds NUL bytes';
  if (!isUtf8(line.bytes)) return 'the line is not valid UTF-8';
  try {
    const value: unknown = JSON.parse(line.bytes.toString('utf8'));
    return isJsonObject(value) ? value : 'the line is not a JSON object';
  } catch (error) {
    return `the line is not valid JSON (${error instanceof Error ? error.message : String(error)})`;
  }
}

/**
 * The text of one record as JSON.
 * @throws {TypeError} when it is not an object that JSON can hold
 */
export function encodeRecord(record: JsonObject): string {
  const text: string | undefined = JSON.stringify(record);
  if (text === undefined || !text.startsWith('{'))
    throw new TypeError('A stored record must be a JSON object.');
  return text;
}
