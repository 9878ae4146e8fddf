import { readFile } from 'node:fs/promises';
import * as z from 'zod';

/** Also what is handed from one process of a run to another. */
export const countsSchema = z.object({
  passed: z.number().int().nonnegative(),
  failed: z.number().int().nonnegative(),
  skipped: z.number().int().nonnegative(),
  /** What failed, each with its title and why. */
  failures: z.array(z.string()).optional(),
  /** What passed at the second try alone, each with its title and why the first one failed. */
  retried: z.array(z.string()).optional(),
});

/** How many tests ended how, and what failed. */
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
  const total = { passed: 0, failed: 0, skipped: 0, failures: [] as string[], retried: [] as string[] };
  for (const counts of all) {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
    total.failures.push(...(counts.failures ?? []));
    total.retried.push(...(counts.retried ?? []));
  }
  return total;
}
