import { shorten } from '../protocol';
import { revealed } from './hiddenCharacters';

/**
 * Text of models, files and members as it may stand in a notification, a label or a quick pick. VS Code
 * turns `[text](command:…)` in notifications into links that run commands, `$(name)` in quick picks into
 * icons, and lets direction marks reorder a line; none of that is for others to use.
 */

// C0 and C1 controls, zero-width and direction marks.
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** One line, without link syntax or invisible characters, cut to `max` UTF-16 units with an ellipsis. */
export function plainLine(text: string, max = 200): string {
  // What is far beyond the cut is not looked at, so that a huge text costs nothing.
  const line = unlink(
    text
      .slice(0, max * 8)
      .replace(/\s+/g, ' ')
      .replace(INVISIBLE, ''),
  ).trim();
  return shorten(line, max);
}

/** An http address in one line. Its host is never cut: the end of that says who gets what is sent there. */
export function plainAddress(url: string): string {
  const { protocol, host, pathname, search } = new URL(url);
  const rest = pathname === '/' && search === '' ? '' : shorten(`${pathname}${search}`, 80);
  return plainLine(`${protocol}//${host}${rest}`, 400);
}

/** Replaces links by their text, again until none is left, and parts what could still become one. */
export function unlink(text: string): string {
  let before = text;
  for (;;) {
    const after = before.replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1');
    if (after === before) return after.replace(/\]\(/g, '] (');
    before = after;
  }
}

/** For labels of quick picks, in which `$(name)` would be drawn as an icon. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\(/g, '\\$(');
}

/** True when `text` can be shown as it is in one row of at most `max` characters: nothing cut or hidden. */
export function fitsInRow(text: string, max: number): boolean {
  return text.length <= max && revealed(text) === text && plainLine(text, max + 1) === text;
}

/** The first line of a plan that says something, without its markdown marks. */
export function firstLine(markdown: string): string {
  for (const line of markdown.slice(0, 4000).split('\n')) {
    const words = line.replace(/^[\s#>*\-\d.]+/, '').trim();
    if (words !== '') return words;
  }
  return '';
}
