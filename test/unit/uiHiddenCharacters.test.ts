import assert from 'node:assert/strict';
import fc from 'fast-check';
import { revealed, revealedPieces, withoutHidden } from '../../src/ui/hiddenCharacters';

describe('hidden characters', () => {
  const char = (code: number): string => String.fromCodePoint(code);

  it('are named where they stand, a run of the same as one', () => {
    const command = `echo "${char(0x202e)}${char(0x2066)}" ; rm -rf src${char(0x200b).repeat(3)}`;
    assert.equal(revealed(command), 'echo "[U+202E][U+2066]" ; rm -rf src[U+200B ×3]');
    assert.deepEqual(revealedPieces(`a${char(0)}b`), [
      { text: 'a', isHidden: false },
      { text: 'U+0000', isHidden: true },
      { text: 'b', isHidden: false },
    ]);
    assert.equal(withoutHidden(`a${char(0x2069)}b`), 'a␦b');
  });

  it('are those that turn a text, take no room, carry tags, or write over what was there', () => {
    const all = [
      0x00, 0x08, 0x1b, 0x7f, 0x9b, 0xad, 0x61c, 0x115f, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029,
      0x202a, 0x202d, 0x2060, 0x2066, 0x2069, 0x3164, 0xfeff, 0xfff9, 0xe0001, 0xe0041, 0xe0100,
    ];
    for (const code of all) {
      const name = code.toString(16).toUpperCase().padStart(4, '0');
      assert.equal(revealed(`x${char(code)}y`), `x[U+${name}]y`);
    }
    assert.equal(revealed('rm -rf src\recho hello'), 'rm -rf src[U+000D]echo hello');
  });

  it('are not what people write: lines, tabs, letters and pictures of every script', () => {
    const family = [0x1f468, 0x200d, 0x1f469, 0x200d, 0x1f467].map(char).join('');
    const persian = ['\u0645\u06cc', char(0x200c), '\u062e\u0648\u0627\u0647\u0645'].join('');
    const sent = [
      'a\n\tb',
      'a\r\nb\r\n',
      'the end\r',
      'שלום مرحبا',
      'é ü ß 中文',
      `${family} ok`,
      persian,
      '❤️',
    ];
    for (const text of sent) assert.equal(revealed(text), text);
    // The key of a digit, and a heart in colour.
    for (const picture of ['1\ufe0f\u20e3', '\u2764\ufe0f', '\u2764\ufe0f\u200d\u{1f525}']) {
      assert.equal(revealed(picture), picture);
    }
    // A joiner beside ASCII joins nothing, nor does a run of them.
    assert.equal(revealed(`é${char(0x200d)}${char(0x200c)}é`), 'é[U+200D][U+200C]é');
    assert.equal(revealed('npm test\ufe0f'), 'npm test[U+FE0F]');
    assert.equal(revealed(`r${char(0x200d)}m`), 'r[U+200D]m');
  });

  it('leave nothing behind that could turn a text, and nothing else out', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (made) => {
        const text = made.replaceAll('␦', '');
        const pieces = revealedPieces(text);
        const seen = pieces.flatMap((piece) => (piece.isHidden ? [] : [piece.text])).join('');
        assert.equal(seen, withoutHidden(text).replaceAll('␦', ''));
        assert.doesNotMatch(revealed(text), /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff]/);
        if (pieces.every((piece) => !piece.isHidden)) assert.equal(revealed(text), text);
      }),
    );
  });
});
