/** Figures of repeated runs. */

export interface Spread {
  median: number;
  min: number;
  max: number;
  /** How many values there were. */
  count: number;
}

/** @throws {RangeError} without a value */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [sorted.at(0), sorted.at(-1)];
  if (min === undefined || max === undefined) throw new RangeError('There is no value to summarise.');
  return { median: median(sorted), min, max, count: sorted.length };
}

/** The value that so many percent of the values do not exceed. @throws {RangeError} without a value */
export function percentileOf(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
  if (value === undefined) throw new RangeError('There is no value to summarise.');
  return value;
}

export function medianOf(values: readonly number[]): number {
  return spreadOf(values).median;
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** How long something takes, in milliseconds. */
export async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
