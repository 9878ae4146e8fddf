/**
 * The work a demo teammate does when it may: a health route in the sample workspace's router and a test for
 * it. In another workspace, where there is no such router, it leaves a note instead.
 */

import type { Call, Move } from './story';
import { act, argument, oneLine, say } from './story';

export const ROUTER = 'src/router.js';
export const TEST = 'test/health.test.js';
const NOTE = 'handshake-demo.md';

/** @param calls what was done since the work began */
export function workMove(calls: readonly Call[], task: string): Move {
  const read = calls.find((call) => call.name === 'read_file' && argument(call, 'path') === ROUTER);
  if (!read) return act(`I begin with \`${ROUTER}\`.`, 'read_file', { path: ROUTER });
  if (/^Not run\b/.test(read.result ?? '')) return say(`I stopped: ${oneLine(read.result ?? '')}`);
  const change = read.failed ? undefined : addRoute(read.result ?? '');
  if (!change) return leaveNote(calls, task);
  const done: string[] = [];
  if (change === 'present') {
    done.push(`\`${ROUTER}\` already has the route`);
  } else {
    const edit = calls.find((call) => call.name === 'edit_file' && argument(call, 'path') === ROUTER);
    if (!edit) return act('I add the route to the table.', 'edit_file', { path: ROUTER, ...change });
    if (edit.failed) return say(`I stopped: \`${ROUTER}\` was not changed. ${oneLine(edit.result ?? '')}`);
    done.push(`\`${ROUTER}\` has the route \`GET /health\``);
  }
  const test = writeOnce(calls, TEST, TEST_TEXT, 'I write a test for it.');
  if (test.move) return test.move;
  if (test.problem) return say(`${done.join(', ')}, but I stopped at the test: ${test.problem}`);
  done.push(`\`${TEST}\` tests it`);
  return say(`Done: ${done.join(', ')}.`);
}

function leaveNote(calls: readonly Call[], task: string): Move {
  const content = `# Handshake demo\n\nThis note stands for the work of a demo teammate, because this workspace has no \`${ROUTER}\` with a route table.\n\nTask: ${oneLine(task) || 'none'}\n`;
  const note = writeOnce(
    calls,
    NOTE,
    content,
    'This is not the sample workspace, so I leave a note instead.',
  );
  if (note.move) return note.move;
  return say(note.problem ? `I stopped: ${note.problem}` : `Done: I wrote \`${NOTE}\`.`);
}

/** Writes a file; one that is there and was not read is read first, then written again. */
function writeOnce(
  calls: readonly Call[],
  path: string,
  content: string,
  words: string,
): { move?: Move; problem?: string } {
  const about = calls.filter((call) => argument(call, 'path') === path);
  const writes = about.filter((call) => call.name === 'write_file');
  const write = act(words, 'write_file', { path, content });
  const last = writes.at(-1);
  if (!last) return { move: write };
  if (!last.failed) return {};
  const mayRetry =
    writes.length === 1 &&
    /\bread\b/i.test(last.result ?? '') &&
    !/^(?:Blocked|Refused|Not run)/.test(last.result ?? '');
  if (!mayRetry) return { problem: oneLine(last.result ?? '') };
  if (about.at(-1)?.name === 'read_file') return { move: write };
  return { move: act(`\`${path}\` is there already, so I read it first.`, 'read_file', { path }) };
}

/** The edit that adds the route, in the manner of the entries that are there; undefined in a router of another kind. */
function addRoute(shown: string): { old_text: string; new_text: string } | 'present' | undefined {
  const lines = fileLines(shown);
  if (!lines.some((line) => /^export function route\(/.test(line))) return undefined;
  if (lines.some((line) => /['"`]\/health['"`]/.test(line))) return 'present';
  const at = lines.findIndex((line) => /\broutes\b[^=]*=\s*\[\s*$/.test(line));
  const anchor = lines[at];
  if (anchor === undefined || lines.filter((line) => line === anchor).length !== 1) return undefined;
  return { old_text: anchor, new_text: `${anchor}\n${entryLike(lines[at + 1] ?? '')}` };
}

function entryLike(example: string): string {
  const indent = /^\s*/.exec(example)?.[0] || '  ';
  const quote = example.includes('"') ? '"' : "'";
  const q = (text: string): string => quote + text + quote;
  return `${indent}{ method: ${q('GET')}, path: ${q('/health')}, handler: () => ({ status: 200, body: { status: ${q('ok')} } }) },`;
}

/** The lines of a file as a tool shows it, without line numbers where it shows them. */
function fileLines(shown: string): string[] {
  const lines = shown.split(/\r?\n/);
  const number = /^\s*\d+(?:\t|→|: |\| )/;
  const numbered = lines.filter((line) => line.trim() !== '').every((line) => number.test(line));
  return numbered ? lines.map((line) => line.replace(number, '')) : lines;
}

const TEST_TEXT = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { route } from '../${ROUTER}';

test('GET /health answers ok', () => {
  const answer = route({ method: 'GET', path: '/health', query: new URLSearchParams() });
  assert.deepEqual(answer, { status: 200, body: { status: 'ok' } });
});
`;
