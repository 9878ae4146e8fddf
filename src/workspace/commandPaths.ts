import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isOfMain, type MainCheckout } from './mainCheckout';
import { WorkspaceError } from './port';

/**
 * Refuses a command that names a path of the main checkout, as far as that can be seen in its text: absolute
 * paths, `..` that lead to something there from the folder it starts in, and `cd` to either. What a command computes,
 * or what a program it runs does, is not seen; what it writes into a file, as an import of `../x`, is no path of its own.
 * @param root absolute path of the folder that it starts in
 */
export function refuseMainPaths(command: string, root: string, main: MainCheckout): void {
  // Undefined once the command has gone where its text does not say.
  let folder: string | undefined = root;
  let previous = '';
  for (const word of wordsOf(command)) {
    for (const { path, isNamed } of pathsIn(word, undefined, main)) {
      if (isNamed && isOfMain(path, main)) refuse(word, path, root, main);
    }
  }
  const text = command.replace(HERE_DOCUMENT, '$1');
  const words = wordsOf(text);
  const creates = WRITES_UP.test(text) || words.some((word) => CREATORS.has(word));
  for (const word of words) {
    const goes = creates || previous === 'cd' || previous === 'pushd' || previous === '-C';
    for (const { path } of pathsIn(word, folder, main)) {
      if (isOfMain(path, main) && isThere(path, goes, main)) refuse(word, path, root, main);
    }
    if (previous === 'cd' || previous === 'pushd') folder = folder && goTo(folder, word);
    previous = word;
  }
}

/** Programs that make what was not there. */
const CREATORS: ReadonlySet<string> = new Set([
  'touch',
  'mkdir',
  'cp',
  'mv',
  'ln',
  'tee',
  'install',
  'rsync',
]);
const HERE_DOCUMENT = /(<<-?\s*(['"]?)(\w+)\2[^\n]*\n)[\s\S]*?^\s*\3$/gm;
const WRITES_UP = /(^|[^=])>\s*["']?\.\.\//;

/**
 * Whether `..` leads to something of the main checkout: `../x` may be any text.
 * @param goes whether the command may also make it
 */
function isThere(path: string, goes: boolean, main: MainCheckout): boolean {
  if (existsSync(path)) return true;
  const folder = dirname(path);
  return goes && !isOfTeam(folder, main) && existsSync(folder);
}

/** The folders above the worktrees hold nothing to work with. */
function isOfTeam(folder: string, { root }: MainCheckout): boolean {
  return folder === join(root, '.team') || folder === join(root, '.team', 'worktrees');
}

/** What a word may mean as a path: the word itself, and what follows a `=`, `:` or a short option in it. */
function pathsIn(
  word: string,
  folder: string | undefined,
  main: MainCheckout,
): { path: string; isNamed: boolean }[] {
  const parts = [
    word,
    ...namedIn(word, main.root),
    ...word.split(/[=:,]/),
    word.replace(/^-{1,2}[A-Za-z]/, ''),
    word.replace(/^\d*[<>&|]+/, ''),
  ];
  return [...new Set(parts)].flatMap((part): { path: string; isNamed: boolean }[] => {
    if (isAbsolute(part)) return [{ path: resolve(part), isNamed: true }];
    const leads = folder !== undefined && /(^|\/)\.\.(\/|$)/.test(part);
    return leads ? [{ path: resolve(folder ?? '', part), isNamed: false }] : [];
  });
}

/** Paths below a folder that stand somewhere in a text, as in a script that is one word of the command. */
function namedIn(text: string, root: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(root); at >= 0; at = text.indexOf(root, at + 1)) {
    const rest = /^[^\s'"`;:,|&<>()]*/.exec(text.slice(at + root.length))?.[0] ?? '';
    found.push(root + rest);
  }
  return found;
}

function goTo(folder: string, word: string): string | undefined {
  return /[$`*?~]|^-/.test(word) ? undefined : resolve(folder, word);
}

function refuse(word: string, path: string, root: string, main: MainCheckout): never {
  const right = relative(main.root, path) || '.';
  const instead = right.startsWith('.team') ? '' : `; use '${right}' there`;
  throw new WorkspaceError(
    `Not run: '${word}' is in the main checkout, and your task has a worktree of its own. The command starts in ${root}${instead}.`,
  );
}

/** The words of a command line, without their quotes; operators end a word. Not a shell: nothing is expanded. */
function wordsOf(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < command.length; i++) {
    const char = command.charAt(i);
    if (quote !== '') {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"' && i + 1 < command.length)
        word = (word ?? '') + command.charAt(++i);
      else word = (word ?? '') + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (char === '\\' && i + 1 < command.length) {
      word = (word ?? '') + command.charAt(++i);
    } else if (/[\s;&|<>()`{}]/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  return word === undefined ? words : [...words, word];
}
