import { readFile } from 'node:fs/promises';
import * as z from 'zod';

const countsSchema = z.object({
  passed: z.number().int().nonnegative(),
  failed: z.number().int().nonnegative(),
  skipped: z.number().int().nonnegative(),
});

/** How many tests ended how. */
export type Counts = z.infer<typeof countsSchema>;

const reportSchema = countsSchema.extend({
  /** The VS Code that ran the tests, as it names itself. */
  ranOn: z.string().optional(),
});

/** What a test process tells the one that started it. */
export type Report = z.infer<typeof reportSchema>;

/** @throws when the file is missing or is not what a test process writes */
export async function readReport(file: string): Promise<Report> {
  return reportSchema.parse(JSON.parse(await readFile(file, 'utf8')));
}

export function addCounts(all: readonly Counts[]): Counts {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const counts of all) {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  return total;
}
