import { WorkspaceError } from './port';
import { refuseBrokenText } from './text';

/** A place in a text, in UTF-16 units. */
interface Range {
  start: number;
  end: number;
}

/**
 * Replaces the one occurrence of `oldText` by `newText`, literally; everything outside what really differs
 * stays as it is. Line ends: where `oldText` has `\n`, the file may have `\r\n`, and new lines get the line
 * end of their surroundings, unless the caller writes `\r` itself.
 * @param name of the file, for messages
 * @throws {WorkspaceError} for empty, missing, ambiguous or equal texts
 */
export function applyEdit(name: string, text: string, oldText: string, newText: string): string {
  if (oldText === '') {
    throw new WorkspaceError(
      `Cannot edit '${name}': old_text is empty. Give the text to replace; write_file makes whole files.`,
    );
  }
  refuseBrokenText('old_text', oldText);
  refuseBrokenText('new_text', newText);
  if (oldText === newText) {
    throw new WorkspaceError(
      `Cannot edit '${name}': old_text and new_text are the same, so nothing would change.`,
    );
  }
  if (oldText.includes('\r')) {
    const exact = occurrences(text, oldText);
    if (exact.length > 0) {
      const start = only(name, exact);
      return text.slice(0, start) + newText + text.slice(start + oldText.length);
    }
  }
  return editByLines(name, text, oldText.replaceAll('\r\n', '\n'), newText);
}

/** The edit for an `oldText` whose `\n` stands for either line end. */
function editByLines(name: string, text: string, oldText: string, newText: string): string {
  const plain = text.replaceAll('\r\n', '\n');
  const at = only(name, occurrences(plain, oldText));
  // A caller that writes \r decides about line ends itself.
  const [prefix, suffix] = newText.includes('\r') ? [0, 0] : commonEnds(oldText, newText);
  const start = at + prefix;
  const end = at + oldText.length - suffix;
  const range = plain.length === text.length ? { start, end } : originalRange(text, start, end);
  const inserted = newText.slice(prefix, newText.length - suffix);
  const adapted = newText.includes('\r') ? inserted : inserted.replaceAll('\n', lineEndAround(text, range));
  return text.slice(0, range.start) + adapted + text.slice(range.end);
}

/** Where `part` begins in `text`; overlapping places count, each would be another edit. */
function occurrences(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
}

function only(name: string, places: readonly number[]): number {
  const [first] = places;
  if (first === undefined) {
    throw new WorkspaceError(
      `Cannot edit '${name}': old_text was not found. Read the file again and copy the text exactly.`,
    );
  }
  if (places.length > 1) {
    throw new WorkspaceError(
      `Cannot edit '${name}': old_text occurs ${places.length} times. Add lines around it until it is unique.`,
    );
  }
  return first;
}

/** How many characters two texts share at their starts and at their ends, without overlap. */
function commonEnds(a: string, b: string): [prefix: number, suffix: number] {
  const shorter = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < shorter && a[prefix] === b[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < shorter - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) suffix += 1;
  return [prefix, suffix];
}

/** Translates a range of a text whose `\r\n` were read as `\n` back to the text itself. */
function originalRange(text: string, start: number, end: number): Range {
  const range: Range = { start: -1, end: -1 };
  let plain = 0;
  for (let at = 0; at <= text.length; at += 1) {
    if (plain === start && range.start === -1) range.start = at;
    if (plain === end && range.end === -1) range.end = at;
    if (range.start !== -1 && range.end !== -1) break;
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    plain += 1;
  }
  return range;
}

/** The line end in use at a place: within it, else of its line, else of the line before; `\n` in a text without any. */
function lineEndAround(text: string, { start, end }: Range): string {
  const within = text.indexOf('\n', start);
  const newline = within === -1 ? text.lastIndexOf('\n', Math.max(start, end) - 1) : within;
  return newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n';
}
