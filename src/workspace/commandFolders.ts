import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { type ShellWord, shellTokens } from './shellWords';

/** Where a command may be, as far as its text says. */
export interface Place {
  readonly folder: string;
  /** So many folders below it, or below where it is lost, whose names the text does not say. */
  readonly below: number;
  /** The word by which it went where the text does not say at all. */
  readonly lost?: string;
}

/** A part of a path that the text does not say: anything, or the name of one entry of a folder. */
const ANYTHING = '\uE000';
const ONE_NAME = '\uE001';

/** Commands whose output can be told. */
const PRINTS_PATH = /^\s*(git rev-parse|pwd|mktemp|dirname)\b/;

/** What the words of a command stand for where only its text is known. */
export class Names {
  readonly #values = new Map<string, string>();

  /** @param toplevel what `git rev-parse --show-toplevel` says */
  constructor(
    private readonly toplevel: string,
    values: ReadonlyMap<string, string> = new Map(),
  ) {
    for (const [name, value] of values) this.#values.set(name, value);
  }

  copy(): Names {
    return new Names(this.toplevel, this.#values);
  }

  /** Of `NAME=value`. */
  assign(word: ShellWord, folder: string | undefined): void {
    const at = word.text.indexOf('=');
    this.#values.set(word.text.slice(0, at), this.expand({ ...word, text: word.text.slice(at + 1) }, folder));
  }

  /** It holds one name after another, as in `for name in *`. */
  loop(name: string): void {
    this.#values.set(name, ONE_NAME);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** @param folder where the command is, where that is known */
  expand({ text, expands, nested }: ShellWord, folder: string | undefined): string {
    if (!expands) return text;
    let at = 0;
    return text
      .replace(/^~(?=\/|$)/, () => homedir())
      .replace(/^~/, ANYTHING)
      .replace(/\$(\(\)|\w+|\{[^}]*\}|[@*#?!$-])/g, (_all, name: string) =>
        name === '()' ? this.#printed(nested[at++] ?? '', folder) : this.#value(name, folder),
      );
  }

  /** Of `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME%/}`. */
  #value(name: string, folder: string | undefined): string {
    // In a script of another language it is none.
    if (/^\{[^\w!#]/.test(name)) return `$${name}`;
    const [, plain = name, sign, rest = ''] = /^\{(\w+)(:?[-=]|%\/(?=\}))?(.*)\}$/.exec(name) ?? [];
    if (sign === undefined && rest !== '') return ANYTHING;
    const known =
      plain === 'PWD'
        ? (folder ?? ANYTHING)
        : (this.#values.get(plain) ?? (plain === 'HOME' ? homedir() : undefined));
    if (sign === '%/') return known?.replace(/\/$/, '') ?? ANYTHING;
    if (sign === undefined) return known ?? ANYTHING;
    return known ?? this.expand({ kind: 'word', text: rest, nested: [], expands: true }, folder);
  }

  /** What a substitution gives. */
  #printed(command: string, folder: string | undefined): string {
    if (!PRINTS_PATH.test(command)) return ANYTHING;
    const words = shellTokens(command.replace(/\s2>\s*\/dev\/null/, '')).map((token) =>
      token.kind === 'word' ? this.expand(token, folder) : '\n',
    );
    const line = words.join(' ');
    if (line === 'git rev-parse --show-toplevel') return this.toplevel;
    if (/^pwd( -[LP])?$/.test(line)) return folder ?? ANYTHING;
    if (/^mktemp( -[dqu]+)*( -t \S+)?$/.test(line)) return join(tmpdir(), ONE_NAME);
    const [name, path = '', ...others] = words;
    if (name !== 'dirname' || others.length > 0 || isComputed(path)) return ANYTHING;
    return path === ONE_NAME ? path : dirname(path);
  }
}

export function isComputed(path: string): boolean {
  return path.includes(ANYTHING);
}

/** Where a path leads; undefined where it goes up from where nobody knows. */
export function walk(place: Place, path: string): Place | undefined {
  if (isAbsolute(path) && !/[\uE000\uE001]/.test(path)) return { folder: resolve(path), below: 0 };
  let { folder, below, lost }: Place = isAbsolute(path) ? { folder: '/', below: 0 } : place;
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (below > 0) below -= 1;
      else if (lost !== undefined) return undefined;
      else folder = dirname(folder);
    } else if (isComputed(name)) {
      lost ??= path;
      below = 0;
    } else if (lost !== undefined || below > 0 || name.includes(ONE_NAME) || /[*?[]/.test(name)) below += 1;
    else folder = join(folder, name);
  }
  return lost === undefined ? { folder, below } : { folder, below, lost };
}

/** The folders that `cd`, `pushd` and `popd` lead through. */
export class Folders {
  #before: readonly Place[] | undefined;
  #old: readonly Place[] | undefined;
  #stack: readonly (readonly Place[])[] = [];

  constructor(
    /** Several where it depends on whether something succeeds; none where the command ends. */
    public places: readonly Place[],
    public names: Names,
  ) {}

  /** As a subshell has them. */
  copy(): Folders {
    const copy = new Folders(this.places, this.names.copy());
    copy.#old = this.#old;
    copy.#stack = this.#stack;
    return copy;
  }

  /** The same folders, where more names are known by now. */
  withNames(names: Names): Folders {
    const copy = this.copy();
    copy.names = names;
    return copy;
  }

  /** The one folder it is in, where there is no doubt. */
  get folder(): string | undefined {
    const [only, ...others] = this.places;
    return others.length === 0 && only?.lost === undefined && only?.below === 0 ? only.folder : undefined;
  }

  /**
   * Where it is if the command that was last followed fails; nowhere if it went to a folder that is there.
   * @param named the words before it: they may have made the folder
   */
  ifFailed(named: ReadonlySet<string>): readonly Place[] {
    if (this.#before === undefined) return this.places;
    const mayFail = this.places.some(({ folder, below, lost }) => {
      if (below > 0 || lost !== undefined) return true;
      if (existsSync(folder)) return false;
      const name = basename(folder);
      const isName = (part: string): boolean => part === name || part.startsWith(`${name}.`);
      return ![...named].some((word) => word.split('/').some(isName));
    });
    return mayFail ? this.#before : [];
  }

  /** Whether it is where it is only if that has not failed. */
  get hasGone(): boolean {
    return (
      this.#before !== undefined && this.places.every(({ below, lost }) => below === 0 && lost === undefined)
    );
  }

  /** @returns the word by which it goes up from where nobody knows, or undefined */
  follow(name: string, args: readonly ShellWord[]): string | undefined {
    this.#before = undefined;
    if (!['cd', 'pushd', 'popd'].includes(name)) return undefined;
    const before = this.places;
    const word = args.find(({ text }) => !/^-(-|[LPen@]+)$/.test(text));
    const failed = name === 'popd' ? this.#pop(word) : this.#go(name, word);
    this.#before = before;
    if (failed === undefined) this.#old = before;
    return failed;
  }

  #go(name: string, word: ShellWord | undefined): string | undefined {
    const here = this.places;
    const isPush = name === 'pushd';
    if (word === undefined) {
      const [top, ...rest] = this.#stack;
      if (isPush && top === undefined) return undefined;
      this.places = isPush ? (top ?? here) : [{ folder: homedir(), below: 0 }];
      if (isPush) this.#stack = [here, ...rest];
      return undefined;
    }
    if (isPush && /^[+-]\d+$/.test(word.text))
      this.places = here.map((place) => ({ ...place, lost: word.text }));
    else if (word.text === '-') this.places = this.#old ?? here;
    else {
      const target = this.names.expand(word, this.folder);
      // Then a name may be one of another folder.
      const isElsewhere = this.names.has('CDPATH') && !/^\.{0,2}\//.test(target);
      const led = here.map((place) => walk(place, isElsewhere ? ANYTHING : target));
      if (led.includes(undefined)) return word.text;
      this.places = led.flatMap((place) =>
        place === undefined ? [] : place.lost === undefined ? place : { ...place, lost: word.text },
      );
    }
    if (isPush) this.#stack = [here, ...this.#stack];
    return undefined;
  }

  #pop(word: ShellWord | undefined): undefined {
    const [top, ...rest] = this.#stack;
    if (top === undefined) return;
    this.#stack = rest;
    if (word === undefined) this.places = top;
    else this.places = this.places.map((place) => ({ ...place, lost: `popd ${word.text}` }));
  }
}
