import * as assert from 'node:assert/strict';
import * as z from 'zod';
import { argumentText } from '../../src/ui/argumentText';

describe('the words about an argument that a command cannot use', () => {
  const text = z.string().trim().min(1);
  const task = z.object({
    subject: text,
    isolated: z.boolean().optional(),
    priority: z.number().int().optional(),
    blockedBy: z.array(text).max(2).optional(),
  });
  const cases: [unknown, z.ZodType, string][] = [
    [undefined, text, "'a' is missing. Expected: a text."],
    [' ', text, "'a' cannot be used: it is an empty text. Expected: a text that is not empty."],
    [42, text, "'a' cannot be used: it is the number 42. Expected: a text."],
    [true, text, "'a' cannot be used: it is true. Expected: a text."],
    ['x', z.number().int(), "'a' cannot be used: it is the text 'x'. Expected: a number."],
    [0.5, z.number().int(), "'a' cannot be used: it is the number 0.5. Expected: a whole number."],
    [-1, z.number().positive(), "'a' cannot be used: it is the number -1. Expected: a number above 0."],
    [0, z.number().min(1), "'a' cannot be used: it is the number 0. Expected: a number, 1 or more."],
    [9, z.number().max(5), "'a' cannot be used: it is the number 9. Expected: a number, 5 or less."],
    ['x', z.boolean(), "'a' cannot be used: it is the text 'x'. Expected: true or false."],
    [
      'all',
      z.enum(['lead', 'team']),
      "'a' cannot be used: it is the text 'all'. Expected: one of lead, team.",
    ],
    ['task', task, "'a' cannot be used: it is the text 'task'. Expected: an object."],
    [{}, task, "'a.subject' is missing. Expected: a text."],
    [
      { subject: 'x', priority: 'high' },
      task,
      "'a.priority' cannot be used: it is the text 'high'. Expected: a number.",
    ],
    [
      { subject: 'x', blockedBy: 't1' },
      task,
      "'a.blockedBy' cannot be used: it is the text 't1'. Expected: a list.",
    ],
    [
      { subject: 'x', blockedBy: ['t1', {}] },
      task,
      "'a.blockedBy[1]' cannot be used: it is an object. Expected: a text.",
    ],
    [
      { subject: 'x', blockedBy: ['1', '2', '3'] },
      task,
      "'a.blockedBy' cannot be used: it is a list of 3. Expected: a list of at most 2.",
    ],
  ];
  for (const [value, schema, words] of cases) {
    it(words, () => {
      const parsed = schema.safeParse(value);
      assert.ok(parsed.error, 'it cannot be used');
      assert.equal(
        argumentText('handshake.do', 'a', value, parsed.error),
        `handshake.do: the argument ${words}`,
      );
    });
  }
});
