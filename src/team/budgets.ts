import type { Ledger } from './ledger';
import type { Clock } from './ports';
import type { CoreSettings } from './settings';
import type { Spender } from './spending';
import { tokensOf, type UsageEntry } from './usageBook';
import type { UsageMeter } from './usageMeter';

/** How far somebody is with the tokens allowed; `limit` is undefined where there is none. */
export interface BudgetState {
  used: number;
  limit?: number;
  /** True where a part of `used` is an estimate. */
  estimated: boolean;
}

/** From this share on the human is warned. */
const WARN_AT = 0.8;

/**
 * The tokens that the team and each of its members may use. The settings give a limit; the human may allow
 * more, which is written. Checked before each model call, so that at most the calls under way go beyond it.
 */
export class Budgets {
  /** The limits that the human was warned about. */
  readonly #warned = new Set<string>();
  #isUsed = false;

  constructor(
    private readonly ledger: Ledger,
    private readonly clock: Clock,
    private readonly settings: () => CoreSettings,
    private readonly meter: UsageMeter,
  ) {}

  /** @param spender undefined for the whole team */
  state(spender?: Spender): BudgetState {
    const entries = spender === undefined ? this.meter.entries() : this.meter.of(spender);
    const limit = this.#limit(spender);
    return { ...sumOf(entries), ...(limit === undefined ? {} : { limit }) };
  }

  /** Why the member may not call its model now, in words for the human; undefined when it may. */
  exhausted(spender: Spender): string | undefined {
    // What is nearly used up since before a restart was told then.
    if (!this.#isUsed) for (const each of this.#spenders()) this.#noteWarning(each);
    this.#isUsed = true;
    const team = this.state();
    if (isUsedUp(team)) {
      return `The team has used ${tokens(team)} of the ${count(team.limit)} it may use. Raise the budget to let it go on.`;
    }
    const own = this.state(spender);
    if (!isUsedUp(own)) return undefined;
    return `${spender.name} has used ${tokens(own)} of the ${count(own.limit)} it may use. Raise its budget to let it go on.`;
  }

  /** Tells once for each limit that it is nearly used up. Called when a call has been counted. */
  warn(spender: Spender): void {
    for (const each of [undefined, spender]) {
      if (!this.#noteWarning(each)) continue;
      const state = this.state(each);
      const who = each === undefined ? 'The team' : each.name;
      this.ledger.events.fire({
        type: 'budget',
        ...(each === undefined ? {} : { name: each.name }),
        warning: `${who} has used ${tokens(state)} of the ${count(state.limit)} it may use.`,
      });
    }
  }

  /**
   * The human lets somebody use more.
   * @param limit tokens in all, or null for no limit
   * @param spender undefined for the whole team
   */
  async allow(limit: number | null, spender?: Spender): Promise<void> {
    const who = spender && { name: spender.name, incarnation: spender.incarnation };
    await this.ledger.commit([{ t: 'budget', ...who, limit, at: this.clock.now() }]);
  }

  #limit(spender: Spender | undefined): number | undefined {
    const { team = 0, member = 0 } = this.settings().tokenBudget ?? {};
    const set = spender === undefined ? team : member;
    const allowed = this.ledger.state.spending.allowed(spender);
    if (set <= 0 || allowed === null) return undefined;
    return Math.max(set, allowed ?? 0);
  }

  /** @returns true where the human has to be warned and was not before */
  #noteWarning(spender: Spender | undefined): boolean {
    const { used, limit } = this.state(spender);
    if (limit === undefined || used < limit * WARN_AT) return false;
    const key = `${spender ? `${spender.name}#${spender.incarnation}` : ''} ${limit}`;
    if (this.#warned.has(key)) return false;
    this.#warned.add(key);
    return true;
  }

  #spenders(): (Spender | undefined)[] {
    return [undefined, ...this.meter.entries()];
  }
}

function isUsedUp({ used, limit }: BudgetState): boolean {
  return limit !== undefined && used >= limit;
}

function sumOf(entries: readonly UsageEntry[]): { used: number; estimated: boolean } {
  return {
    used: entries.reduce((sum, { usage }) => sum + tokensOf(usage), 0),
    estimated: entries.some(({ usage }) => usage.estimated),
  };
}

function tokens({ used, estimated }: BudgetState): string {
  return `${estimated ? 'about ' : ''}${count(used)}`;
}

function count(tokens = 0): string {
  return `${tokens.toLocaleString('en')} tokens`;
}
