import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { Folders, isComputed, type Place, walk } from './commandFolders';
import { isOfMain, type MainCheckout } from './mainCheckout';
import { WorkspaceError } from './port';
import { type SimpleCommand, scriptsOf, shellCommands } from './shellCommands';
import { type ShellWord, shellTokens } from './shellWords';

/**
 * Refuses a command that names a path of the main checkout, as far as that can be seen in its text: absolute
 * paths, and `..` that lead to something there from the folder in which they are used (`cd`, `pushd`, subshells and
 * pipes are followed), or from one that the text does not say. What a command computes, or what a program it runs does,
 * is not seen; what it writes into a file, as an import of `../x`, is no path of its own.
 * @param root absolute path of the folder that it starts in
 */
export function refuseMainPaths(command: string, root: string, main: MainCheckout): void {
  const at = { root, main };
  refuseNamed(command, at);
  follow(inPlain(command, main), new Folders([{ folder: root, below: 0 }]), at);
}

interface Where {
  readonly root: string;
  readonly main: MainCheckout;
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
/** Programs that go where `-C` says, and take everything else from there. */
const GO_FIRST: ReadonlySet<string> = new Set(['git', 'make', 'gmake', 'ninja']);
/** Nobody follows a command that may be in more folders than this. */
const MAX_PLACES = 16;
/** Behind this a `/` goes on with a path, a name of another place or what a variable says. */
const GOES_ON = /[\w.\-/@~*?\]})\uE000\uE001]["']?$/;
/** An address is no path; only its beginning tells. */
const ADDRESS = /\b(?!file:)[a-z][\w+.-]*:\/\/\S*/gi;
/** Everything else in a word is not of a path, but of a text. */
const PATH_LIKE = /^[\w@%+=:,./~*?[\]\uE000\uE001-]+$/;

/** Paths that are named whole, wherever they stand. */
function refuseNamed(command: string, at: Where): void {
  for (const path of namedIn(command, at.main.root)) if (isOfMain(path, at.main)) refuse(path, path, at);
  for (const token of shellTokens(command)) {
    if (token.kind !== 'word') continue;
    for (const inner of token.nested) refuseNamed(inner, at);
    for (const part of [...partsOf(token.text), ...namedIn(token.text, at.main.root)]) {
      if (isAbsolute(part) && isOfMain(resolve(part), at.main)) refuse(token.text, resolve(part), at);
    }
  }
}

/** What a text can say as well by the path itself. */
function inPlain(command: string, { checkout }: MainCheckout): string {
  const quoted = `'${checkout.replaceAll("'", "'\\''")}'`;
  return command
    .replaceAll(
      /"?(\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`)"?(?=[\s;&|)]|$)/g,
      () => quoted,
    )
    .replaceAll(/\$\(pwd\)|`pwd`/g, () => '$PWD');
}

/** Goes through the commands of a text in their order. */
function follow(command: string, folders: Folders, at: Where): void {
  const named = new Set<string>();
  const outer: {
    now: Folders;
    list: Folders;
    pipe: Folders;
    other: readonly Place[];
    unsure: readonly Place[];
  }[] = [];
  let now = folders;
  // As they were where the list began that a `&` would end, and the pipe, whose parts are subshells.
  let list = now.copy();
  let pipe = now.copy();
  let isPiped = false;
  // Where it is if what stands before a `||` has succeeded.
  let other: readonly Place[] = [];
  // Where it is if a `cd` before a `&&` has failed.
  let unsure: readonly Place[] = [];
  for (const part of shellCommands(command)) {
    if (part.kind === 'command') {
      check(part, now, at);
      run(part, now, at);
      if (part.name !== 'cd' && part.name !== 'pushd') for (const { text } of part.args) named.add(text);
      continue;
    }
    const { text } = part;
    if (text === '(') {
      outer.push({ now, list, pipe, other, unsure });
      now = now.copy();
      list = now.copy();
      other = [];
      unsure = [];
    } else if (text === ')') {
      const left = outer.pop();
      if (left === undefined) continue;
      ({ now, list, pipe, other, unsure } = left);
    } else if (text === '|') {
      isPiped = true;
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
      isPiped = false;
    }
    pipe = now.copy();
  }
  folders.places = now.places;
}

/** Where the command leads, and what it lets a shell run. */
function run(command: SimpleCommand, folders: Folders, at: Where): void {
  const { name, args, assigned } = command;
  for (const word of assigned) folders.names.assign(word, folders.folder);
  if (name === 'for' || name === 'select') folders.names.loop(args[0]?.text ?? '');
  if (name === 'read') for (const { text } of args) folders.names.loop(text);
  for (const word of ['export', 'local', 'declare', 'readonly'].includes(name) ? args : []) {
    if (word.text.includes('=')) folders.names.assign(word, folders.folder);
  }
  if (name === 'eval') follow(args.map(({ text }) => text).join(' '), folders, at);
  for (const script of scriptsOf(command)) follow(inPlain(script, at.main), folders.copy(), at);
  const failed = folders.follow(name, args);
  if (failed !== undefined) refuseLost(failed, folders.places);
}

function check({ name, args, assigned, redirects }: SimpleCommand, folders: Folders, at: Where): void {
  const words = [...assigned, ...args, ...redirects.map(({ word }) => word)];
  for (const { nested } of words) for (const inner of nested) follow(inner, folders.copy(), at);
  const creates = CREATORS.has(name) || args.some(({ text }) => CREATORS.has(text));
  const goes = creates || name === 'cd' || name === 'pushd';
  let { places } = folders;
  for (const word of assigned) checkWord(word, places, folders, goes, at);
  for (const { word, writes } of redirects) checkWord(word, places, folders, goes || writes, at);
  args.forEach((word, index) => {
    const isTarget = args[index - 1]?.text === '-C';
    checkWord(word, places, folders, goes || isTarget, at);
    if (!isTarget || !GO_FIRST.has(name)) return;
    const target = folders.names.expand(word, folders.folder);
    places = places.flatMap((place) => walk(place, target) ?? []);
  });
}

function checkWord(
  word: ShellWord,
  places: readonly Place[],
  folders: Folders,
  goes: boolean,
  at: Where,
): void {
  const text = folders.names.expand(word, folders.folder);
  for (const part of partsOf(text)) {
    if (isAbsolute(part) && !isComputed(part) && isOfMain(resolve(part), at.main)) {
      refuse(word.text, resolve(part), at);
    }
    if (!/(^|\/)\.\.(\/|$)/.test(part)) continue;
    for (const place of places) {
      const led = walk(place, part);
      if (led === undefined) {
        // In a text, as in a script of another language, it may be anything.
        if (PATH_LIKE.test(text)) refuseLost(word.text, [place]);
        continue;
      }
      if (!isOfMain(led.folder, at.main)) continue;
      // Where more follows that the text does not say, as a `*`, it is below this folder.
      const isWhole = led.below === 0 && led.lost === undefined;
      const isRefused = isWhole
        ? isThere(led.folder, goes, at.main)
        : PATH_LIKE.test(text) && existsSync(led.folder);
      if (isRefused) refuse(word.text, led.folder, at);
    }
  }
}

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
