import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { countLines } from './text';

const CONTEXT_LINES = 3;
/** Bound for the search of the smallest difference; its cost grows with the square of it. */
const MAX_EDIT_LENGTH = 1000;
const MAX_CHARACTERS = 2 * 1024 * 1024;

/**
 * A unified diff for a person's review.
 * @param before content now, or undefined for a new file
 */
export function unifiedDiff(name: string, before: string | undefined, after: string): string {
  const from = before === undefined ? '/dev/null' : `a/${name}`;
  const to = `b/${name}`;
  const old = before ?? '';
  if (old.length + after.length > MAX_CHARACTERS) {
    const counts = `${countLines(old)} lines become ${countLines(after)} lines`;
    return `--- ${from}\n+++ ${to}\n[too large for a line by line view: ${counts}]\n`;
  }
  const patch = createTwoFilesPatch(from, to, old, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDIT_LENGTH,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch ?? `--- ${from}\n+++ ${to}\n${oneHunk(splitLines(old), splitLines(after))}`;
}

/** Everything between the first and the last changed line as one change, where too much differs for better. */
function oneHunk(old: readonly string[], next: readonly string[]): string {
  const shorter = Math.min(old.length, next.length);
  let head = 0;
  while (head < shorter && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === next[next.length - 1 - tail]) tail += 1;
  const start = Math.max(0, head - CONTEXT_LINES);
  const after = Math.max(0, tail - CONTEXT_LINES);
  const position = (lines: readonly string[]): string => {
    const count = lines.length - after - start;
    return `${count === 0 ? start : start + 1},${count}`;
  };
  return [
    `@@ -${position(old)} +${position(next)} @@\n`,
    ...old.slice(start, head).map((line) => diffLine(' ', line)),
    ...old.slice(head, old.length - tail).map((line) => diffLine('-', line)),
    ...next.slice(head, next.length - tail).map((line) => diffLine('+', line)),
    ...old.slice(old.length - tail, old.length - after).map((line) => diffLine(' ', line)),
  ].join('');
}

function diffLine(mark: string, line: string): string {
  return line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`;
}

/** Lines with their newlines. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
