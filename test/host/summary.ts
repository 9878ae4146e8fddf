import { addCounts, type Counts } from './counts';

/** Of one failed test, in the summary; the whole text stands above, where it ran. */
const MOST_LINES = 60;

/** One line of the summary. */
export interface Result {
  suite: string;
  /** What ran it, such as `VS Code server 1.139.1`. */
  where: string;
  /** Tests that ran; undefined for a step that is no test (lint, types, build). */
  counts?: Counts;
  /** How long it took. */
  seconds?: number;
  /** What went wrong besides failing tests; each counts as one failure. */
  problems: string[];
}

export interface Summary {
  lines: string[];
  /** The exit code of the run. */
  code: number;
}

/**
 * Says what ran where; the last line is `N passed, N failed`.
 * @param options.filtered tests were picked by title, so a suite without any is no mistake
 */
export function summarize(results: readonly Result[], options: { filtered: boolean }): Summary {
  const judged = results.map((result) => judge(result, options.filtered));
  const total = addCounts(judged.flatMap((result) => result.counts ?? []));
  const problems = judged.flatMap((result) => result.problems.map((text) => `${result.suite}: ${text}`));
  if (options.filtered && total.passed + total.failed === 0 && problems.length === 0) {
    problems.push('no test has such a title');
  }
  const failed = total.failed + problems.length;
  const failures = judged.flatMap(({ suite, counts }) =>
    (counts?.failures ?? []).map((text) => `${suite}: ${shorten(text)}`),
  );
  const retried = judged.flatMap(({ suite, counts }) =>
    (counts?.retried ?? []).map((text) => `${suite}: ${shorten(text)}`),
  );
  return {
    lines: [
      // At the end, where they are found when the rest of a long log is cut off.
      ...list('Failed', failures),
      ...list('Passed at the second try', retried),
      ...list('Problems', problems),
      ...['', 'Summary', ...table(judged)],
      ...['', `${total.passed} passed, ${failed} failed`],
    ],
    code: failed === 0 ? 0 : 1,
  };
}

function list(title: string, texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : ['', title, ...texts.map((text) => `  ${text.replaceAll('\n', '\n  ')}`)];
}

function shorten(text: string): string {
  const lines = text.split('\n');
  return lines.length <= MOST_LINES ? text : [...lines.slice(0, MOST_LINES), '…'].join('\n');
}

function table(results: readonly Result[]): string[] {
  const suiteWidth = Math.max(...results.map((result) => result.suite.length));
  const whereWidth = Math.max(...results.map((result) => result.where.length));
  return results.map(
    (result) =>
      `  ${result.suite.padEnd(suiteWidth)}  ${result.where.padEnd(whereWidth)}  ${outcome(result)}`,
  );
}

function judge(result: Result, filtered: boolean): Result {
  const { counts, problems } = result;
  const nothingRan = counts !== undefined && counts.passed + counts.failed === 0;
  if (!nothingRan || filtered || problems.length > 0) return result;
  return { ...result, problems: [`no test ran (${result.where})`] };
}

function outcome({ counts, seconds, problems }: Result): string {
  if (counts === undefined) return problems.length === 0 ? 'ok' : 'FAILED';
  const failed = counts.failed + problems.length;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  const retried = counts.retried?.length ? `, ${counts.retried.length} at the second try` : '';
  const took = seconds === undefined ? '' : ` (${seconds} s)`;
  return `${counts.passed} passed, ${failed} failed${retried}${skipped}${took}`;
}
