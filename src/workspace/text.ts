import { isUtf8 } from 'node:buffer';
import { type ReadOptions, WorkspaceError } from './port';

export const BOM = '\ufeff';
/** Largest text that one read returns, in characters. */
const READ_LIMIT = 256 * 1024;
/** How far into a file a NUL byte is looked for. */
const BINARY_PROBE_BYTES = 8192;
const HALF_AT_END = /[\ud800-\udbff]$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** @throws {WorkspaceError} naming a file that is not text */
export function refuseBinary(name: string, bytes: Buffer): void {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new WorkspaceError(
      `'${name}' is UTF-16 text (${bytes.length} bytes). Convert it to UTF-8 to work on it.`,
    );
  }
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) {
    throw new WorkspaceError(
      `'${name}' is a binary file (${bytes.length} bytes) and cannot be handled as text.`,
    );
  }
}

/** @throws {WorkspaceError} for text with half a character in it, which UTF-8 cannot hold */
export function refuseBrokenText(what: string, text: string): void {
  if (LONE_SURROGATE.test(text))
    throw new WorkspaceError(`${what} holds half of a character (a lone surrogate). Send it again.`);
}

/**
 * The text of a UTF-8 file, its byte order mark included, such that encoding it again gives the same bytes.
 * @throws {WorkspaceError} for other encodings
 */
export function decodeExactly(name: string, bytes: Buffer): string {
  refuseBinary(name, bytes);
  if (!isUtf8(bytes)) {
    throw new WorkspaceError(
      `'${name}' is not UTF-8 text; an edit would damage it. Convert it first, or write it anew.`,
    );
  }
  return bytes.toString('utf8');
}

/**
 * What a read returns: whole lines as they are, without a byte order mark, and a note when there is more.
 * @throws {WorkspaceError} for a binary file, or an offset or limit that makes no sense
 */
export function readText(name: string, bytes: Buffer, { offset = 1, limit }: ReadOptions): string {
  refuseBinary(name, bytes);
  for (const [what, value] of [
    ['offset', offset],
    ['limit', limit],
  ] as const) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1)) {
      throw new WorkspaceError(`Cannot read '${name}': ${what} must be a whole number from 1, not ${value}.`);
    }
  }
  const decoded = bytes.toString('utf8');
  const text = decoded.startsWith(BOM) ? decoded.slice(BOM.length) : decoded;
  const notes = isUtf8(bytes) ? [] : ['not UTF-8: bytes that are no text are shown as \ufffd'];
  const total = countLines(text);
  if (offset > Math.max(total, 1)) {
    throw new WorkspaceError(`Cannot read '${name}' from line ${offset}: it has ${total} lines.`);
  }
  const start = afterLines(text, 0, offset - 1);
  const wanted = limit === undefined ? text.length : afterLines(text, start, limit);
  let end = wanted;
  if (end - start > READ_LIMIT) {
    end = text.lastIndexOf('\n', start + READ_LIMIT - 1) + 1;
    if (end <= start) {
      const lineEnd = afterLines(text, start, 1);
      notes.push(`line ${offset} is ${lineEnd - start} characters long; only its start is shown`);
      end = start + READ_LIMIT;
    }
  }
  const shown = text.slice(start, end).replace(HALF_AT_END, '');
  const next = offset + countLines(shown);
  if (next <= total)
    notes.push(`lines ${offset} to ${next - 1} of ${total} are shown; go on with offset ${next}`);
  if (notes.length === 0) return shown;
  return `${shown}${shown === '' || shown.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`;
}

/** How many lines a text has; a last one without a newline counts. */
export function countLines(text: string): number {
  let count = 0;
  let at = text.indexOf('\n');
  for (; at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return text === '' || text.endsWith('\n') ? count : count + 1;
}

/** The offset behind `count` lines from an offset, at most the length of the text. */
function afterLines(text: string, from: number, count: number): number {
  let at = from;
  for (let n = 0; n < count && at < text.length; n += 1) {
    const newline = text.indexOf('\n', at);
    at = newline === -1 ? text.length : newline + 1;
  }
  return at;
}
