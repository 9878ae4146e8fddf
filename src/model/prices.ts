import * as z from 'zod';

const price = z.number().finite().nonnegative();

/** What a million tokens cost, in US dollars. A kind that is left out has no known price. */
export const modelPrices = z.object({
  input: price,
  output: price,
  cacheRead: price.optional(),
  cacheWrite: price.optional(),
});
export type ModelPrices = z.infer<typeof modelPrices>;
/** By the name under which a model's calls are counted. */
export type PriceTable = Readonly<Record<string, ModelPrices>>;

/** A family of models whose input, output, cached reads and writes (kept five minutes) cost the same. */
function family(input: number, output: number, cacheRead: number, cacheWrite: number, ...models: string[]) {
  return models.map((model): [string, ModelPrices] => [model, { input, output, cacheRead, cacheWrite }]);
}

/**
 * Anthropic's list prices for its own endpoint, as published when this table was made. Models that are not here
 * have no known price, until the user gives one in `handshake.prices`.
 */
export const LIST_PRICES: PriceTable = Object.fromEntries([
  ...family(15, 75, 1.5, 18.75, 'claude-opus-4-1', 'claude-opus-4', 'claude-opus-4-0', 'claude-3-opus'),
  ...family(5, 25, 0.5, 6.25, 'claude-opus-4-5'),
  ...family(3, 15, 0.3, 3.75, 'claude-sonnet-4-5', 'claude-sonnet-4', 'claude-sonnet-4-0'),
  ...family(3, 15, 0.3, 3.75, 'claude-3-7-sonnet', 'claude-3-5-sonnet'),
  ...family(1, 5, 0.1, 1.25, 'claude-haiku-4-5'),
  ...family(0.8, 4, 0.08, 1, 'claude-3-5-haiku'),
  ...family(0.25, 1.25, 0.03, 0.3, 'claude-3-haiku'),
]);

interface Counted {
  /** The name under which the calls are counted. */
  model: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface Cost {
  /** In US dollars, of the models whose price is known. */
  dollars: number;
  /** The models of which no price is known. */
  unknown: string[];
}

/** What the tokens cost; never a guess. */
export function costOf(usage: readonly Counted[], own: PriceTable = {}): Cost {
  const cost: Cost = { dollars: 0, unknown: [] };
  for (const counted of usage) {
    const dollars = costOfModel(counted, own);
    if (dollars === undefined) cost.unknown.push(counted.model);
    else cost.dollars += dollars;
  }
  return cost;
}

function costOfModel({ model, ...tokens }: Counted, own: PriceTable): number | undefined {
  const prices = pricesOf(model, own);
  if (prices === undefined) return undefined;
  let micros = 0;
  for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) {
    const each = prices[kind];
    if (each !== undefined) micros += tokens[kind] * each;
    else if (tokens[kind] > 0) return undefined;
  }
  return micros / 1_000_000;
}

/**
 * The user's table goes first, by the whole name or, for another endpoint (`host/model`), by the model alone. The
 * list prices hold for Anthropic's own endpoint, whose models are counted by their plain names.
 */
function pricesOf(model: string, own: PriceTable): ModelPrices | undefined {
  if (model === 'demo') return { input: 0, output: 0 };
  const plain = model.slice(model.indexOf('/') + 1);
  return entry(own, model) ?? entry(own, plain) ?? entry(LIST_PRICES, model);
}

/** A name with a date (`claude-haiku-4-5-20251001`) or `-latest` at its end is the model without it. */
function entry(table: PriceTable, model: string): ModelPrices | undefined {
  const undated = model.replace(/-(\d{8}|latest)$/, '');
  for (const name of [model, undated]) if (Object.hasOwn(table, name)) return table[name];
  return undefined;
}
