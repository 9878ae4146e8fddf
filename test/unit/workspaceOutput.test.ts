import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BoundedText } from '../../src/workspace/boundedText';
import { TerminalText } from '../../src/workspace/terminalText';

/** What remains of bytes that come in pieces of a size. */
function plain(input: string, pieceSize = 1_000_000): string {
  let output = '';
  const terminal = new TerminalText((text) => {
    output += text;
  });
  const bytes = Buffer.from(input, 'utf8');
  for (let at = 0; at < bytes.length; at += pieceSize) terminal.write(bytes.subarray(at, at + pieceSize));
  terminal.end();
  return output;
}

describe('terminal text', () => {
  const examples: [what: string, input: string, output: string][] = [
    ['colours', '\u001b[31mred\u001b[0m and \u001b[38;2;1;2;3mtrue\u001b[m', 'red and true'],
    ['cursor and erase', 'a\u001b[2K\u001b[1Gb\u001b[?25l', 'ab'],
    ['window titles, ended either way', '\u001b]0;title\u0007a\u001b]0;title\u001b\\b', 'ab'],
    ['links', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['device strings', '\u001bPq#0;2\u001b\\a\u001b_x\u001b\\b', 'ab'],
    ['character sets and single escapes', '\u001b(Ba\u001b7b\u001bM', 'ab'],
    ['the one-byte forms', '\u009b31ma\u009dtitle\u009cb', 'ab'],
    ['a line overwritten after a carriage return', '10%\r50%\r100%\n', '100%\n'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
    ['a carriage return at the very end', 'done\r', 'done'],
    ['backspaces, over characters of any size', 'N\bNab\bc 😀\b.', 'Nac .'],
    ['other control characters', 'a\u0000b\u0007c\u007fd\te', 'abcd\te'],
    ['a sequence that is cut off at the end', 'a\u001b[3', 'a'],
    ['a damaged sequence, up to its line', 'a\u001b]0;never ended\nb\u001b[31\nc', 'a\nb\nc'],
    ['a sequence within an unfinished string', 'a\u001b]0;x\u001b[31mb', 'ab'],
    ['a sequence that begins anew', 'a\u001b[3\u001b[31mb', 'ab'],
    ['text of other scripts', 'äöü 漢字 😀\n', 'äöü 漢字 😀\n'],
  ];
  for (const [what, input, output] of examples) {
    it(`handles ${what}, however the bytes are cut`, () => {
      for (const size of [1, 2, 3, 5, 1000]) assert.equal(plain(input, size), output);
    });
  }

  it('property: the result does not depend on how the bytes are cut', () => {
    const characters = fc.constantFrom(
      '\u001b',
      '[',
      ']',
      '3',
      'm',
      '\\',
      '\u0007',
      '\r',
      '\n',
      '\b',
      'a',
      'é',
      '😀',
      '\u009b',
    );
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (parts, size) => {
        const input = parts.join('');
        assert.equal(plain(input, size), plain(input));
        for (const control of '\u001b\u009b\u0007\r\b') assert.ok(!plain(input).includes(control));
      }),
      { seed: 4, numRuns: 1000 },
    );
  });

  it('does not hold an endless line back', () => {
    let emitted = 0;
    const terminal = new TerminalText((text) => {
      emitted += text.length;
    });
    for (let n = 0; n < 100; n += 1) terminal.write(Buffer.alloc(10_000, 'x'));
    assert.ok(emitted > 900_000);
  });
});

describe('bounded text', () => {
  it('property: keeps short texts whole, long ones at both ends, and every character whole', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '\n'), maxLength: 30 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const bounded = new BoundedText(20, 20);
        for (const part of pieces) bounded.append(part);
        const whole = pieces.join('');
        const result = bounded.toString();
        assert.doesNotMatch(result, /\p{Surrogate}/u);
        if (whole.length <= 39) assert.equal(result, whole);
        if (result === whole) return;
        const [, head, dropped, tail] =
          /^(.*?)\n?\[… (\d+) characters left out …\]\n(.*)$/s.exec(result) ?? [];
        assert.ok(head !== undefined && tail !== undefined);
        assert.ok(whole.startsWith(head) && whole.endsWith(tail));
        assert.ok(head.length <= 20 && tail.length <= 21);
        // A newline at the end of the head is not repeated before the note.
        const missing = whole.length - head.length - tail.length - Number(dropped);
        assert.ok(missing === 0 || (missing === 1 && whole[head.length] === '\n'));
      }),
      { seed: 9, numRuns: 1000 },
    );
  });
});
