import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Mocha from 'mocha';
import type { Counts, Report } from './counts';
import { hasCode } from './errors';
import { mapStack } from './source-maps';

export interface MochaOptions {
  files: readonly string[];
  /** Milliseconds a test may take. */
  timeout: number;
  /**
   * So many tests that failed are tried once more, and named. For tests in a window of VS Code, whose own timing on a
   * busy machine is not ours. Default 0.
   */
  secondTries?: number;
  /** Only tests whose full title matches this regular expression. */
  grep?: string;
  /** Default: where standard output is a terminal. */
  color?: boolean;
}

/** Runs test bundles with mocha's `spec` output and counts what ran. */
/** What a test adds to its failure from a hook: what was to be seen. */
export interface Witness {
  seen?: string;
}

export async function runMocha(options: MochaOptions): Promise<Counts> {
  const mocha = new Mocha({
    ui: 'bdd',
    reporter: 'spec',
    timeout: options.timeout,
    color: options.color ?? process.stdout.isTTY === true,
    // `.only` left in a file would silently drop the others.
    forbidOnly: true,
    retries: options.secondTries === undefined ? 0 : 1,
    ...(options.grep ? { grep: new RegExp(options.grep) } : {}),
  });
  for (const file of options.files) mocha.addFile(file);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: Failure[] = [];
  const retried: Failure[] = [];
  await new Promise<void>((resolve) => {
    mocha
      .run(() => resolve())
      .on(Mocha.Runner.constants.EVENT_TEST_BEGIN, (test: Mocha.Test) => {
        if (retried.length >= (options.secondTries ?? 0) && !isSecondTry(test)) test.retries(0);
      })
      .on(Mocha.Runner.constants.EVENT_TEST_RETRY, (test: Mocha.Test, error: unknown) => {
        retried.push({ test, error });
      })
      .on(Mocha.Runner.constants.EVENT_TEST_PASS, () => {
        counts.passed += 1;
      })
      // Also called for a hook that fails, which takes its tests with it.
      .on(Mocha.Runner.constants.EVENT_TEST_FAIL, (test: Titled, error: unknown) => {
        counts.failed += 1;
        if (error instanceof Error && error.stack) error.stack = mapStack(error.stack);
        failures.push({ test, error });
      })
      .on(Mocha.Runner.constants.EVENT_TEST_PENDING, () => {
        counts.skipped += 1;
      });
  });
  const failedTitles = new Set(failures.map(({ test }) => test.fullTitle()));
  return {
    ...counts,
    failures: failures.map((failure) => {
      const first = retried.find(({ test }) => test.fullTitle() === failure.test.fullTitle());
      return first === undefined ? textOf(failure) : `${textOf(failure)}\nThe first try: ${textOf(first)}`;
    }),
    retried: retried.filter(({ test }) => !failedTitles.has(test.fullTitle())).map(textOf),
  };
}

type Titled = Witness & { fullTitle(): string };

interface Failure {
  test: Titled;
  error: unknown;
}

function isSecondTry(test: Mocha.Test): boolean {
  return (test as unknown as { currentRetry(): number }).currentRetry() > 0;
}

function textOf({ test, error }: Failure): string {
  const seen = test.seen === undefined ? '' : `\n${test.seen}`;
  return `${test.fullTitle()}\n${tellOf(error)}${seen}`;
}

function tellOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\nBecause of: ${tellOf(error.cause)}`;
}

/** The test bundles in a folder, in a stable order; none where there is no such folder. */
export async function testFiles(folder: string): Promise<string[]> {
  return (await namesIn(folder))
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .map((name) => join(folder, name));
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Hands the report to the process that started this one, if it asked for it. */
export async function reportCounts(report: Report): Promise<void> {
  const file = process.env.HANDSHAKE_TEST_RESULT;
  if (file) await writeFile(file, JSON.stringify(report));
}
