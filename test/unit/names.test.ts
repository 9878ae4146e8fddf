import * as assert from 'node:assert/strict';
import { parseMemberName, RESERVED_NAMES, shorten } from '../../src/protocol';

describe('names', () => {
  it('are lower-cased and trimmed', () => {
    assert.deepEqual(parseMemberName('  Alice '), { ok: true, name: 'alice' });
    assert.deepEqual(parseMemberName('a-b_9'), { ok: true, name: 'a-b_9' });
    assert.deepEqual(parseMemberName('a'.repeat(32)), { ok: true, name: 'a'.repeat(32) });
  });

  for (const reserved of ['lead', 'human', 'agent', 'system', 'team', 'all', 'Lead', ' HUMAN ']) {
    it(`refuse '${reserved}' as reserved`, () => {
      const checked = parseMemberName(reserved);
      assert.equal(checked.ok, false);
      assert.match(
        checked.ok ? '' : checked.problem,
        /is reserved \(lead, human, .*\)\. Choose another name/,
      );
    });
  }

  const malformed = [
    '9lives',
    '-a',
    '_a',
    '../x',
    'a b',
    'a/b',
    'a\\b',
    'a.b',
    'älice',
    'a\u0000',
    'a'.repeat(33),
  ];
  for (const raw of [...malformed, 'con:', 'İ', 'a\nb', '$(x)', '<b>']) {
    it(`refuse ${JSON.stringify(raw)} and say what a name looks like`, () => {
      const checked = parseMemberName(raw);
      assert.equal(checked.ok, false);
      assert.match(
        checked.ok ? '' : checked.problem,
        /is not a teammate's name\. A name starts with a letter/,
      );
    });
  }

  for (const raw of ['', '   ', undefined, null, 7, {}, ['alice']]) {
    it(`refuse ${JSON.stringify(raw) ?? 'undefined'} as missing`, () => {
      assert.deepEqual(parseMemberName(raw), {
        ok: false,
        problem: 'A teammate needs a name, such as alice.',
      });
    });
  }

  it('do not grow the error with the input', () => {
    const checked = parseMemberName('x!'.repeat(10_000));
    assert.ok(!checked.ok && checked.problem.length < 250);
  });

  it('keep the runtime for itself', () => {
    assert.ok(RESERVED_NAMES.includes('runtime'));
  });
});

describe('shorten', () => {
  it('marks the cut, and cuts no character in two', () => {
    assert.equal(shorten('abc', 3), 'abc');
    assert.equal(shorten('abcd', 3), 'ab…');
    assert.equal(shorten('a😀b', 3), 'a…');
  });
});
