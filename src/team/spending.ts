import type { TeamEvent } from './events';
import { incarnationKey } from './incarnation';
import type { TeamRecord } from './records';
import { UsageBook, type UsageEntry } from './usageBook';

type UsageRecord = Extract<TeamRecord, { t: 'usage' }>;
type BudgetRecord = Extract<TeamRecord, { t: 'budget' }>;

/** One start of one member. */
export interface Spender {
  name: string;
  incarnation: number;
}

/** The part of the team's state that is about tokens: who used how much, and what the human allowed. */
export class Spending {
  readonly book = new UsageBook();
  readonly #budgets = new Map<string, BudgetRecord>();

  /**
   * What the human allowed beyond the settings, in tokens; null is without an end.
   * @param spender undefined for the whole team
   */
  allowed(spender?: Spender): number | null | undefined {
    return this.#budgets.get(keyOf(spender?.name, spender?.incarnation))?.limit;
  }

  apply(record: UsageRecord | BudgetRecord): TeamEvent[] {
    if (record.t === 'usage') {
      this.book.set(entryOf(record));
      return [{ type: 'usage', member: record.name }];
    }
    this.#budgets.set(keyOf(record.name, record.incarnation), record);
    return [{ type: 'budget', ...(record.name === undefined ? {} : { name: record.name }) }];
  }

  /** The records that rebuild this. */
  snapshot(): TeamRecord[] {
    return [...this.book.all().map(usageRecord), ...this.#budgets.values()];
  }
}

export function usageRecord({ name, incarnation, usage, at }: UsageEntry): UsageRecord {
  const { model, calls, input, output, cacheRead, cacheWrite, estimated } = usage;
  return {
    t: 'usage',
    name,
    incarnation,
    model,
    calls,
    input,
    output,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    ...(estimated ? { estimated } : {}),
    at,
  };
}

function entryOf(record: UsageRecord): UsageEntry {
  const { name, incarnation, model, calls, input, output, cache_read, cache_write, estimated, at } = record;
  const counts = { input, output, cacheRead: cache_read, cacheWrite: cache_write };
  return { name, incarnation, at, usage: { model, calls, estimated: estimated === true, ...counts } };
}

function keyOf(name: string | undefined, incarnation = 0): string {
  return name === undefined ? '' : incarnationKey(name, incarnation);
}
