import * as assert from 'node:assert/strict';
import { costOf, LIST_PRICES } from '../../src/model/prices';
import type { ModelUsage } from '../../src/team/usageBook';
import { budgetText, costText, shortCount, tokensShort, usageLines } from '../../src/ui/usageText';

const used = (model: string, change: Partial<ModelUsage> = {}): ModelUsage => ({
  model,
  calls: 1,
  input: 1_000_000,
  output: 100_000,
  cacheRead: 0,
  cacheWrite: 0,
  estimated: false,
  ...change,
});

describe('what tokens cost', () => {
  it('is the list price for a known model of Anthropic, cached tokens at their own', () => {
    const usage = used('claude-haiku-4-5-20251001', { cacheRead: 1_000_000, cacheWrite: 1_000_000 });
    assert.deepEqual(costOf([usage]), { dollars: 1 + 0.5 + 0.1 + 1.25, unknown: [] });
  });

  it('is unknown, and never a guess, for any other model or endpoint', () => {
    for (const model of [
      'claude-of-the-future',
      'gateway.example:443/claude-haiku-4-5',
      'vscode:copilot/gpt-4o',
    ]) {
      assert.deepEqual(costOf([used(model)]), { dollars: 0, unknown: [model] });
    }
    assert.equal(costText([used('x')], {}), 'Cost unknown: no price is known for x');
  });

  it('follows the table of the user, by the whole name or by the model of any endpoint', () => {
    const own = {
      'claude-haiku-4-5': { input: 2, output: 10 },
      'vscode:copilot/gpt-4o': { input: 0, output: 0 },
    };
    assert.equal(costOf([used('claude-haiku-4-5')], own).dollars, 3);
    assert.equal(costOf([used('gateway.example:443/claude-haiku-4-5')], own).dollars, 3);
    assert.deepEqual(costOf([used('vscode:copilot/gpt-4o')], own), { dollars: 0, unknown: [] });
  });

  it('is unknown where a kind of token was used that has no price', () => {
    const own = { m: { input: 2, output: 10 } };
    assert.deepEqual(costOf([used('m', { cacheRead: 1 })], own).unknown, ['m']);
  });

  it('says which part is unknown, and what is estimated', () => {
    assert.equal(
      costText([used('claude-haiku-4-5'), used('x')], {}),
      'Cost $1.5000, and what is unknown for x',
    );
    assert.equal(
      costText([used('m', { estimated: true })], { m: { input: 1, output: 0 } }),
      'Cost ≈ $1.0000',
    );
    assert.equal(costText([used('demo')], {}), '');
  });

  it('has a price for each kind of token of every model in its list', () => {
    for (const [model, prices] of Object.entries(LIST_PRICES)) {
      const { input, output, cacheRead = 0, cacheWrite = 0 } = prices;
      assert.ok(cacheRead > 0 && cacheRead < input && input < cacheWrite && cacheWrite < output, model);
    }
  });
});

describe('tokens in words', () => {
  it('are short in a row and whole in a tooltip', () => {
    assert.equal(tokensShort([]), '');
    assert.equal(tokensShort([used('a')]), '1.1M tokens');
    assert.equal(tokensShort([used('a', { estimated: true })]), 'about 1.1M tokens');
    assert.equal(
      usageLines([used('demo', { input: 1200, output: 34, cacheRead: 5, cacheWrite: 6 })], {}).join(),
      '1,200 tokens in, 5 read from cache, 6 written to cache, 34 out',
    );
    assert.match(usageLines([used('demo', { estimated: true })], {})[0] ?? '', / \(estimated\)$/);
  });

  it('have at most three digits and a unit', () => {
    const shown = [0, 999, 1000, 12_345, 99_949, 99_950, 999_499, 999_500, 12_345_678].map(shortCount);
    assert.deepEqual(shown, ['0', '999', '1k', '12.3k', '99.9k', '100k', '999k', '1M', '12.3M']);
  });

  it('say how much of a budget is used', () => {
    assert.equal(budgetText({ used: 5, estimated: false }), '');
    assert.equal(
      budgetText({ used: 850, limit: 1000, estimated: false }),
      'Budget: 850 of 1,000 tokens used (85 %)',
    );
  });
});
