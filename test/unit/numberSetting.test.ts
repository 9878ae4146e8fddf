import * as assert from 'node:assert/strict';
import { Settings } from '../../src/ui/contributions';
import {
  NUMBER_SETTINGS,
  type NumberSetting,
  numberSetting,
  UnreadNumbers,
} from '../../src/ui/numberSetting';

describe('number settings', () => {
  const read: [NumberSetting, unknown, number, string][] = [
    [Settings.tokenBudget, 100_000, 100_000, 'a number'],
    [Settings.tokenBudget, '100000', 100_000, 'a number as text'],
    [Settings.tokenBudget, ' 2e6 ', 2_000_000, 'a number as text, with blanks around'],
    [Settings.memberTokenBudget, 100_000.5, 100_000, 'a fraction is rounded down'],
    [Settings.memberTokenBudget, '100000.9', 100_000, 'so is one as text'],
    [Settings.tokenBudget, 0.5, 1, 'but never to zero, which is no limit'],
    [Settings.tokenBudget, 1e300, Number.MAX_SAFE_INTEGER, 'what is beyond all numbers is the largest'],
    [Settings.requestDeadlineSeconds, 172_800, 86_400, 'two days are the longest deadline'],
    [Settings.requestDeadlineSeconds, Number.POSITIVE_INFINITY, 86_400, 'as JSON reads 1e999'],
    [Settings.requestDeadlineSeconds, 1, 5, 'what is below the minimum is the minimum'],
    [Settings.maxTurns, '5000', 1000, 'the maximum holds for text too'],
    [Settings.maxTurns, 0, 1, 'zero turns are as few as there can be'],
    [Settings.maxConcurrentCalls, 1000, 64, 'the maximum of calls'],
  ];
  for (const [id, value, expected, why] of read) {
    it(`${id}: ${JSON.stringify(value)} is ${expected}: ${why}`, () => {
      assert.equal(numberSetting(id, value), expected);
      assert.deepEqual(
        new UnreadNumbers().look((each) => (each === id ? value : undefined)),
        [],
      );
    });
  }

  const unread: unknown[] = [
    -1,
    '-1',
    -0.5,
    '',
    ' ',
    'many',
    '100,000',
    '0x10',
    null,
    true,
    [5],
    {},
    Number.NaN,
  ];
  for (const value of unread) {
    it(`${JSON.stringify(value)} is not understood: the default, and it is said`, () => {
      for (const id of Object.keys(NUMBER_SETTINGS) as NumberSetting[]) {
        assert.equal(numberSetting(id, value), NUMBER_SETTINGS[id].standard);
        const [said, ...more] = new UnreadNumbers().look((each) => (each === id ? value : undefined));
        assert.deepEqual(more, []);
        assert.ok(said?.includes(id) && said.includes(JSON.stringify(value)), said);
      }
    });
  }

  it('are told once, and again only when they were mended meanwhile or changed', () => {
    const numbers = new UnreadNumbers();
    const look = (value: unknown) => numbers.look((id) => (id === Settings.tokenBudget ? value : undefined));
    assert.deepEqual(look(-1), [
      'The setting handshake.tokenBudget cannot be understood: it is -1, and should be a whole number, 0 or more. Until then there is no limit.',
    ]);
    assert.deepEqual(look(-1), []);
    assert.equal(look('lots').length, 1);
    assert.deepEqual(look(5), []);
    assert.equal(look('lots').length, 1);
  });
});
