import { costOf, type PriceTable } from '../model/prices';
import type { BudgetState } from '../team/budgets';
import type { TeamEvent } from '../team/events';
import { addCounts, type ModelUsage, type TokenCounts, tokensOf } from '../team/usageBook';
import { l10n } from './l10n';
import { plainLine } from './plainText';

type CountedCall = NonNullable<Extract<TeamEvent, { type: 'usage' }>['call']>;

const NOTHING: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** All tokens in a row, such as `12.3k tokens`; empty where there are none. */
export function tokensShort(usage: readonly ModelUsage[]): string {
  const total = tokensOf(sumOf(usage));
  if (total === 0) return '';
  const short = shortCount(total);
  return isEstimated(usage) ? l10n.t('about {0} tokens', short) : l10n.t('{0} tokens', short);
}

/** The tokens by kind, and what they cost, for a tooltip; empty where there are none. */
export function usageLines(usage: readonly ModelUsage[], prices: PriceTable): string[] {
  const sum = sumOf(usage);
  if (tokensOf(sum) === 0) return [];
  const tokens = kinds(sum);
  const lines = [isEstimated(usage) ? l10n.t('{0} (estimated)', tokens) : tokens];
  lines.push(costText(usage, prices));
  return lines.filter((line) => line !== '');
}

/** Such as `$0.12`; says of which models no price is known. */
export function costText(usage: readonly ModelUsage[], prices: PriceTable): string {
  const asked = usage.filter((each) => each.model !== 'demo');
  if (asked.length === 0) return '';
  const { dollars, unknown } = costOf(asked, prices);
  const models = plainLine(unknown.join(', '), 200);
  if (unknown.length === asked.length) return l10n.t('Cost unknown: no price is known for {0}', models);
  const sum = `${isEstimated(asked) ? '≈ ' : ''}$${dollars.toFixed(dollars < 10 ? 4 : 2)}`;
  return unknown.length === 0
    ? l10n.t('Cost {0}', sum)
    : l10n.t('Cost {0}, and what is unknown for {1}', sum, models);
}

/** How much of a budget is used; empty where there is none. */
export function budgetText({ used, limit }: BudgetState): string {
  if (limit === undefined) return '';
  return l10n.t(
    'Budget: {0} of {1} tokens used ({2} %)',
    used.toLocaleString(),
    limit.toLocaleString(),
    Math.floor((used / limit) * 100),
  );
}

/** The same as the lines of a tooltip. */
export function budgetLines(state: BudgetState): string[] {
  const text = budgetText(state);
  return text === '' ? [] : [text];
}

/** A call in the log. */
export function callLine(member: string, call: CountedCall): string {
  const broke = call.brokeOff ? ' in a call that broke off' : '';
  const about = `${broke}${call.estimated ? ' (estimated)' : ''}`;
  return `${member} used ${call.input} input, ${call.cacheRead} cache read, ${call.cacheWrite} cache write, ${call.output} output tokens of ${plainLine(call.model, 80)}${about}`;
}

function kinds({ input, output, cacheRead, cacheWrite }: TokenCounts): string {
  return l10n.t(
    '{0} tokens in, {1} read from cache, {2} written to cache, {3} out',
    input.toLocaleString(),
    cacheRead.toLocaleString(),
    cacheWrite.toLocaleString(),
    output.toLocaleString(),
  );
}

function sumOf(usage: readonly ModelUsage[]): TokenCounts {
  return usage.reduce<TokenCounts>(addCounts, NOTHING);
}

function isEstimated(usage: readonly ModelUsage[]): boolean {
  return usage.some(({ estimated }) => estimated);
}

/** Three digits at most, such as `950`, `12.3k`, `1.5M`. */
export function shortCount(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  const [value, unit] = tokens < 999_500 ? [tokens / 1000, 'k'] : [tokens / 1_000_000, 'M'];
  return `${value < 99.95 ? Number(value.toFixed(1)) : Math.round(value)}${unit}`;
}
