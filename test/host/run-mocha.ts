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
  /** Only tests whose full title matches this regular expression. */
  grep?: string;
  /** Default: where standard output is a terminal. */
  color?: boolean;
}

/** Runs test bundles with mocha's `spec` output and counts what ran. */
export async function runMocha(options: MochaOptions): Promise<Counts> {
  const mocha = new Mocha({
    ui: 'bdd',
    reporter: 'spec',
    timeout: options.timeout,
    color: options.color ?? process.stdout.isTTY === true,
    // `.only` left in a file would silently drop the others.
    forbidOnly: true,
    ...(options.grep ? { grep: new RegExp(options.grep) } : {}),
  });
  for (const file of options.files) mocha.addFile(file);
  const failures: string[] = [];
  const counts = { passed: 0, failed: 0, skipped: 0, failures };
  await new Promise<void>((resolve) => {
    mocha
      .run(() => resolve())
      .on(Mocha.Runner.constants.EVENT_TEST_PASS, () => {
        counts.passed += 1;
      })
      // Also called for a hook that fails, which takes its tests with it.
      .on(Mocha.Runner.constants.EVENT_TEST_FAIL, (test: { fullTitle(): string }, error: unknown) => {
        counts.failed += 1;
        if (error instanceof Error && error.stack) error.stack = mapStack(error.stack);
        failures.push(`${test.fullTitle()}\n${tellOf(error)}`);
      })
      .on(Mocha.Runner.constants.EVENT_TEST_PENDING, () => {
        counts.skipped += 1;
      });
  });
  return counts;
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
