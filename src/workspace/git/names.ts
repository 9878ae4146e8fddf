/**
 * A name in git is bytes, and need not be text. A byte that is no part of UTF-8 text is carried as a character that
 * no text has (half of a pair, U+DC80 to U+DCFF), so that the same bytes go back to git.
 */
const UTF8 =
  /(?:[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+|[\x80-\xff]/g;
const BYTE = /[\udc80-\udcff]/gu;
const LOW = 0xdc00;

/** The names in what git prints, each with NUL at its end. */
export function namesOf(bytes: Buffer): string[] {
  const text = bytes.toString('utf8');
  return (text.includes('\ufffd') ? carried(bytes) : text).split('\0').slice(0, -1);
}

/** What git is told of names. */
export function bytesOf(names: string): Buffer {
  const parts = names.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, at) => (at % 2 === 0 ? Buffer.from(part) : Buffer.from([part.charCodeAt(0) - LOW]))),
  );
}

/** Whether a person and an editor can have the name as it is. */
export function isText(name: string): boolean {
  return shownName(name) === name;
}

/** For a person: `caf\xe9.txt`. */
export function shownName(name: string): string {
  return name.replace(BYTE, (byte) => `\\x${(byte.charCodeAt(0) - LOW).toString(16)}`);
}

function carried(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(UTF8, (part) =>
      part.length === 1 && part >= '\x80'
        ? String.fromCharCode(LOW + part.charCodeAt(0))
        : Buffer.from(part, 'latin1').toString('utf8'),
    );
}
