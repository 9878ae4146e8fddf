import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Folders, Names, type Place, walk } from './commandFolders';
import { isLenient, linksFrom, textsOf } from './commandTexts';
import { isOfMain, type MainCheckout } from './mainCheckout';
import { leadsOut } from './paths';
import { WorkspaceError } from './port';
import { printedBy, type SimpleCommand, scriptsOf, shellCommands } from './shellCommands';
import type { ShellWord } from './shellWords';

/**
 * Refuses a command that names a path of the main checkout, as far as that can be seen in its text: absolute
 * paths, and `..` that lead there from the folder in which they are used (`cd`, `pushd`, subshells and pipes are
 * followed), or from one that the text does not say. What a command computes, or what a program it runs does, is not
 * seen; what it searches for or writes into a file, as an import of `../x`, is no path of its own.
 * @param root absolute path of the folder that it starts in
 */
export function refuseMainPaths(command: string, root: string, main: MainCheckout): void {
  follow(command, new Folders([{ folder: root, below: 0 }], new Names(main.checkout)), { root, main });
}

interface Where {
  readonly root: string;
  readonly main: MainCheckout;
}

/** Programs that go where `-C` says, and take everything else from there. */
const GO_FIRST: ReadonlySet<string> = new Set(['git', 'make', 'gmake', 'ninja']);
/** What ends a list of commands, or a turn of it. */
const ENDS: ReadonlySet<string> = new Set(['exit', 'return', 'break', 'continue']);
const OPENING = { ')': '(', '}': '{' } as const;
/** Programs that run what they read. */
const INTERPRETERS = /^(.*\/)?(bun|deno|node|perl|php|python[\d.]*|ruby|ts-node|tsx)$/;
const BRACES = /\{([^{}\s]*,[^{}\s]*)\}/;
const MAX_ALTERNATIVES = 64;
/** Nobody follows a command that may be in more folders than this. */
const MAX_PLACES = 16;
/** Behind this a `/` goes on with a path, a name of another place or what a variable says. */
const GOES_ON = /[\w.\-/@~*?\]})\uE000\uE001]["']?$/;
/** An address is no path; only its beginning tells. */
const ADDRESS = /\b(?!file:)[a-z][\w+.-]*:\/\/\S*/gi;
/** Everything else in a word is not of a path, but of a text. */
const PATH_LIKE = /^[\w@%+=:,./~*?[\]\uE000\uE001-]+$/;

/** Goes through the commands of a text in their order. */
function follow(command: string, folders: Folders, at: Where): void {
  const named = new Set<string>();
  const outer: {
    text: '(' | '{';
    now: Folders;
    list: Folders;
    pipe: Folders;
    isPiped: boolean;
    isElse: boolean;
    other: readonly Place[];
    unsure: readonly Place[];
  }[] = [];
  let now = folders;
  // As they were where the list began that a `&` would end, and the pipe, whose parts are subshells.
  let list = now.copy();
  let pipe = now.copy();
  let isPiped = false;
  // Whether it is behind a `||`: an `exit` elsewhere may be in a branch that is not taken.
  let isElse = false;
  // Where it is if what stands before a `||` has succeeded.
  let other: readonly Place[] = [];
  // Where it is if a `cd` before a `&&` has failed.
  let unsure: readonly Place[] = [];
  // What the next part of a pipe reads.
  let printed: readonly string[] = [];
  for (const part of shellCommands(command)) {
    if (part.kind === 'command') {
      check(part, now, at);
      run(part, now, printed, at);
      if (isElse && ENDS.has(part.name)) now.places = [];
      if (part.name !== 'cd' && part.name !== 'pushd') for (const { text } of part.args) named.add(text);
      printed = printedBy(part);
      continue;
    }
    const { text } = part;
    if (text !== '|') printed = [];
    if (text === '(' || text === '{') {
      outer.push({ text, now, list, pipe, isPiped, isElse, other, unsure });
      if (text === '(') now = now.copy();
      list = now.copy();
      isPiped = false;
      isElse &&= text === '{';
      other = [];
      unsure = [];
    } else if (text === ')' || text === '}') {
      if (outer.at(-1)?.text !== OPENING[text]) continue;
      const left = outer.pop();
      if (left === undefined) continue;
      ({ list, pipe, isPiped, isElse, other, unsure } = left);
      if (text === ')') now = left.now;
      continue;
    } else if (text === '|') {
      isPiped = true;
      isElse = false;
      now = pipe.withNames(now.names);
      continue;
    } else {
      if (isPiped) now = pipe.withNames(now.names);
      if (text === '&') now = list.withNames(now.names);
      if (text === '||') {
        other = union(other, now.places);
        now.places = now.ifFailed(named);
      } else {
        if (now.hasGone) unsure = union(unsure, now.ifFailed(named));
        now.places = union(other, now.places);
        other = [];
        if (text !== '&&') {
          now.places = union(now.places, unsure);
          unsure = [];
        }
      }
      if (text === ';' || text === '&') list = now.copy();
      const group = outer.at(-1);
      isElse = text === '||' || (text !== '&&' && group?.text === '{' && group.isElse);
      isPiped = false;
    }
    pipe = now.copy();
  }
  folders.places = now.places;
}

/** Where the command leads, and what it lets a shell run. */
function run(command: SimpleCommand, folders: Folders, printed: readonly string[], at: Where): void {
  const { name, args, assigned } = command;
  for (const word of assigned) folders.names.assign(word, folders.folder);
  if (name === 'for' || name === 'select') folders.names.loop(args[0]?.text ?? '');
  if (name === 'read') for (const { text } of args) folders.names.loop(text);
  for (const word of ['export', 'local', 'declare', 'readonly'].includes(name) ? args : []) {
    if (word.text.includes('=')) folders.names.assign(word, folders.folder);
  }
  if (name === 'eval') follow(args.map(({ text }) => text).join(' '), folders, at);
  for (const script of scriptsOf(command, printed)) follow(script, folders.copy(), at);
  const failed = folders.follow(name, args);
  if (failed !== undefined) refuseLost(failed, folders.places);
}

function check(command: SimpleCommand, folders: Folders, at: Where): void {
  const { name, program, args, assigned, redirects, strings, documents } = command;
  const others = [...assigned, ...(program === undefined ? [] : [program]), ...redirects];
  for (const { nested } of [...others, ...args, ...strings]) {
    for (const inner of nested) follow(inner, folders.copy(), at);
  }
  let { places } = folders;
  for (const word of others) checkWord(word, { places, folders, isText: false }, at);
  for (const word of strings) checkWord(word, { places, folders, isText: true }, at);
  const texts = textsOf(command);
  const isText = isLenient(command);
  const expanded = (word: ShellWord): string => folders.names.expand(word, folders.folder);
  const links = linksFrom(command, places, expanded);
  args.forEach((word, index) => {
    if (texts.has(word)) return;
    checkWord(word, { places: links?.targets.has(word) ? links.places : places, folders, isText }, at);
    if (args[index - 1]?.text !== '-C' || !GO_FIRST.has(name)) return;
    places = places.flatMap((place) => walk(place, expanded(word)) ?? []);
  });
  if (!INTERPRETERS.test(name)) return;
  for (const path of documents.flatMap((body) => namedIn(body, at.main.root))) {
    if (isOfMain(path, at.main)) refuse(path, path, at);
  }
}

interface Use {
  readonly places: readonly Place[];
  readonly folders: Folders;
  /** Whether the word may as well be any text: then only what is there is a path. */
  readonly isText: boolean;
}

function checkWord(word: ShellWord, { places, folders, isText }: Use, at: Where): void {
  for (const text of alternatives(folders.names.expand(word, folders.folder))) {
    // In a text, as in a script of another language, `..` may be anything.
    const isPath = !isText && PATH_LIKE.test(text);
    for (const path of isText ? [] : namedIn(text, at.main.root)) {
      if (isOfMain(path, at.main)) refuse(word.text, path, at);
    }
    for (const part of partsOf(text)) {
      if (isAbsolute(part) && isOfMain(resolve(part), at.main)) refuse(word.text, resolve(part), at);
      const goesUp = /(^|\/)\.\.(\/|$)/.test(part);
      for (const place of places) {
        // From above the main checkout every path may lead into it.
        if (!goesUp && leadsOut(relative(place.folder, at.main.root))) continue;
        const led = walk(place, part);
        if (led === undefined && isPath) refuseLost(word.text, [place]);
        if (led !== undefined && isNamed(led, isPath, at.main)) refuse(word.text, led.folder, at);
      }
    }
  }
}

/** Whether a `..` leads to the main checkout: a text must say the whole path of something that is there. */
function isNamed({ folder, below, lost }: Place, isPath: boolean, main: MainCheckout): boolean {
  if (!isOfMain(folder, main)) return false;
  // Where more follows that the command does not say, as a `*`, it is below this folder.
  const isWhole = below === 0 && lost === undefined;
  if (existsSync(folder)) return isPath || isWhole;
  // Around the worktrees nothing is that is not there, and `../x` is a common text.
  const [top, ...names] = relative(main.root, folder).split(sep);
  return (
    isPath &&
    (top !== '.team' || (names.length > 2 && existsSync(join(main.root, top, ...names.slice(0, 2)))))
  );
}

/** What `{a,b}` in a word stands for. */
function alternatives(text: string): string[] {
  let all = [text];
  for (let more = true; more && all.length <= MAX_ALTERNATIVES; ) {
    more = false;
    all = all.flatMap((one) => {
      const [braces = '', inner = ''] = BRACES.exec(one) ?? [];
      if (braces === '') return [one];
      more = true;
      return inner.split(',').map((each) => one.replace(braces, () => each));
    });
  }
  return all;
}

/** What a word may mean as a path: the word itself, and what follows a `=`, `:` or a short option in it. */
function partsOf(whole: string): string[] {
  const word = whole.replace(ADDRESS, '');
  return [...new Set([word, ...word.split(/[=:,]/), word.replace(/^-{1,2}[A-Za-z]/, '')])];
}

/** Paths below a folder that stand somewhere in a text, as in a script that is one word of the command. */
function namedIn(text: string, root: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(root); at >= 0; at = text.indexOf(root, at + 1)) {
    const before = text.slice(Math.max(0, at - 7), at);
    if (GOES_ON.test(before) && !before.endsWith('file://')) continue;
    const rest = /^[^\s'"`;:,|&<>()]*/.exec(text.slice(at + root.length))?.[0] ?? '';
    found.push(root + rest);
  }
  return found;
}

function union(some: readonly Place[], others: readonly Place[]): readonly Place[] {
  const all = [...some, ...others];
  const each = all.filter((place, at) => all.findIndex((one) => isSame(one, place)) === at);
  const [first] = each;
  return first === undefined || each.length <= MAX_PLACES ? each : [{ ...first, lost: 'cd' }];
}

function isSame(one: Place, other: Place): boolean {
  return one.folder === other.folder && one.below === other.below && one.lost === other.lost;
}

function refuse(word: string, path: string, { root, main }: Where): never {
  const right = relative(main.root, path) || '.';
  const instead = right.startsWith('.team') ? '' : `; use '${right}' there`;
  throw new WorkspaceError(
    `Not run: '${word}' is in the main checkout, and your task has a worktree of its own. The command starts in ${root}${instead}.`,
  );
}

function refuseLost(word: string, places: readonly Place[]): never {
  const by = places.find(({ lost }) => lost !== undefined)?.lost;
  const after = by === undefined || by === word ? '' : ` after '${by}'`;
  throw new WorkspaceError(
    `Not run: where '${word}' leads${after} cannot be seen in the text of the command, and it may be the main checkout. Name the folder, without a variable or a substitution.`,
  );
}
