/**
 * Characters that are not seen where they stand, or that turn the text around them: controls, direction marks, blanks of
 * no width, tags. What a human decides on has to look like what will run, so they are shown by their numbers.
 */

const NEVER_SEEN = [
  // Controls, but for tab and line feed; a carriage return that ends no line sends what follows over what was there.
  '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]',
  '\\r(?!\\n|$)',
  // Directions, and blanks that take no room.
  '[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f]',
  '[\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{13430}-\\u{1343f}]',
  // Tags and supplementary variation selectors, which can carry a whole hidden text.
  '[\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]',
  // Joiners belong between letters of many scripts and in pictures made of several; beside ASCII they do nothing.
  '(?<![^\\u0000-\\u007f\\u200c\\u200d])[\\u200c\\u200d]',
  '[\\u200c\\u200d](?![^\\u0000-\\u007f\\u200c\\u200d])',
  // So do selectors of how a picture looks, once, and in keys such as that of a digit.
  '(?<![^\\u0000-\\u007f\\ufe00-\\ufe0f])[\\ufe00-\\ufe0f](?!\\u20e3)',
].join('|');

const HIDDEN = new RegExp(`(?:${NEVER_SEEN})`, 'gu');

export interface TextPiece {
  text: string;
  /** True for the name of a hidden character in place of it, such as `U+202E`, or `U+200B ×3` for a run of them. */
  isHidden: boolean;
}

/** The text in pieces, with each hidden character named where it stands. */
export function revealedPieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  let run: { character: string; count: number } | undefined;
  const endRun = (): void => {
    if (run) pieces.push({ text: nameOf(run.character, run.count), isHidden: true });
    run = undefined;
  };
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > end || run?.character !== character) endRun();
    if (index > end) pieces.push({ text: text.slice(end, index), isHidden: false });
    run = { character, count: (run?.count ?? 0) + 1 };
    end = index + character.length;
  }
  endRun();
  if (end < text.length) pieces.push({ text: text.slice(end), isHidden: false });
  return pieces;
}

/** The text with each hidden character named in brackets, for where no more than text can be shown. */
export function revealed(text: string): string {
  return revealedPieces(text)
    .map((piece) => (piece.isHidden ? `[${piece.text}]` : piece.text))
    .join('');
}

/** The text with one sign in the place of each hidden character, such as for markdown, whose syntax has to stay. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '\u2426');
}

function nameOf(character: string, count: number): string {
  const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return count === 1 ? `U+${number}` : `U+${number} ×${count}`;
}
