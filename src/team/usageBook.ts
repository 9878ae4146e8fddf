import { incarnationKey } from './incarnation';

/** Tokens of model calls. What is read from or written into the endpoint's cache is not part of `input`. */
export interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** All calls to one model, by one member or by several. */
export interface ModelUsage extends TokenCounts {
  /** The name under which the calls are counted and priced. */
  model: string;
  calls: number;
  /** True where a source that gives no counts was estimated. */
  estimated: boolean;
}

/** What one start of one member has used of one model. */
export interface UsageEntry {
  name: string;
  incarnation: number;
  usage: ModelUsage;
  /** Of the newest call; milliseconds since the epoch. */
  at: number;
}

/** Who used how much. Entries are totals, so that setting one twice, or leaving one out, does no harm. */
export class UsageBook {
  readonly #entries = new Map<string, UsageEntry>();

  set(entry: UsageEntry): void {
    this.#entries.set(entryKey(entry.name, entry.incarnation, entry.usage.model), entry);
  }

  get(name: string, incarnation: number, model: string): UsageEntry | undefined {
    return this.#entries.get(entryKey(name, incarnation, model));
  }

  /** In the order in which they were first set. */
  all(): UsageEntry[] {
    return [...this.#entries.values()];
  }
}

export function entryKey(name: string, incarnation: number, model: string): string {
  return `${incarnationKey(name, incarnation)} ${model}`;
}

/** All tokens, those that came from a cache included. */
export function tokensOf({ input, output, cacheRead, cacheWrite }: TokenCounts): number {
  return input + output + cacheRead + cacheWrite;
}

export function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

/** One sum for each model, in the order in which the models first appear. */
export function byModel(entries: readonly UsageEntry[]): ModelUsage[] {
  const sums = new Map<string, ModelUsage>();
  for (const { usage } of entries) {
    const sum = sums.get(usage.model);
    sums.set(
      usage.model,
      sum === undefined
        ? usage
        : {
            ...addCounts(sum, usage),
            model: usage.model,
            calls: sum.calls + usage.calls,
            estimated: sum.estimated || usage.estimated,
          },
    );
  }
  return [...sums.values()];
}
