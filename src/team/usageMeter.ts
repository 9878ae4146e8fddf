import { type Ledger, messageOf } from './ledger';
import type { Clock } from './ports';
import { type Spender, usageRecord } from './spending';
import {
  addCounts,
  entryKey,
  type ModelUsage,
  type TokenCounts,
  UsageBook,
  type UsageEntry,
} from './usageBook';

const NOTHING: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** A call as it is counted. */
export interface CountedCall extends TokenCounts {
  /** The name under which the call is counted and priced. */
  model: string;
  estimated?: boolean;
  /** It broke off: this is what its endpoint had counted by then. */
  brokeOff?: true;
}

/**
 * Counts the tokens of running loops. What it says holds at once, whether the disk takes it or not; the journal
 * follows in the background with totals, so that what it missed is in the next line.
 */
export class UsageMeter {
  readonly #live = new UsageBook();
  readonly #unwritten = new Map<string, UsageEntry>();
  #writing: Promise<void> | undefined;
  #isTold = false;

  constructor(
    private readonly ledger: Ledger,
    private readonly clock: Clock,
  ) {}

  /** Adds a call that has ended, in whatever way. */
  add({ name, incarnation }: Spender, call: CountedCall): void {
    const { model } = call;
    const before = this.#get(name, incarnation, model);
    const usage: ModelUsage = {
      ...whole(addCounts(before ?? NOTHING, whole(call))),
      model,
      calls: (before?.calls ?? 0) + 1,
      estimated: before?.estimated === true || call.estimated === true,
    };
    const entry = { name, incarnation, usage, at: this.clock.now() };
    this.#live.set(entry);
    this.#unwritten.set(entryKey(name, incarnation, model), entry);
    this.ledger.events.fire({ type: 'usage', member: name, call });
    this.#writing ??= this.#write();
  }

  /** Everything so far, of members that have left too. */
  entries(): UsageEntry[] {
    const written = this.ledger.state.spending.book
      .all()
      .filter(({ name, incarnation, usage }) => !this.#live.get(name, incarnation, usage.model));
    return [...written, ...this.#live.all()];
  }

  of({ name, incarnation }: Spender): UsageEntry[] {
    return this.entries().filter((entry) => entry.name === name && entry.incarnation === incarnation);
  }

  /** Resolves when the journal has what was counted, or would not take it. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#unwritten.size === 0) return;
    this.#writing ??= this.#write();
    await this.#writing;
  }

  #get(name: string, incarnation: number, model: string): ModelUsage | undefined {
    const { book } = this.ledger.state.spending;
    return (this.#live.get(name, incarnation, model) ?? book.get(name, incarnation, model))?.usage;
  }

  /** Calls that end while a line is being written share the next one. */
  async #write(): Promise<void> {
    try {
      while (this.#unwritten.size > 0) {
        const entries = [...this.#unwritten];
        await this.ledger.commit(entries.map(([, entry]) => usageRecord(entry)));
        for (const [key, entry] of entries) {
          if (this.#unwritten.get(key) === entry) this.#unwritten.delete(key);
        }
        this.#isTold = false;
      }
    } catch (error) {
      // The next call tries again, with this one in its total.
      if (!this.#isTold) this.ledger.events.fire({ type: 'notice', level: 'error', text: messageOf(error) });
      this.#isTold = true;
    } finally {
      this.#writing = undefined;
    }
  }
}

/** Beyond this a sum of several counts is no whole number any more. */
const MOST_TOKENS = 1e15;

/** As the journal takes them, whatever an endpoint sends. */
function whole({ input, output, cacheRead, cacheWrite }: TokenCounts): TokenCounts {
  const count = (tokens: number): number => Math.min(Math.max(0, Math.round(tokens)) || 0, MOST_TOKENS);
  return {
    input: count(input),
    output: count(output),
    cacheRead: count(cacheRead),
    cacheWrite: count(cacheWrite),
  };
}
