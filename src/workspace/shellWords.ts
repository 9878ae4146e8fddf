/** What a command line is made of, as far as its words and where they end tell. Not a shell: nothing is expanded. */
export type ShellToken = ShellWord | HereDocument | { readonly kind: 'operator'; readonly text: Operator };

export type Operator = ';' | '&&' | '||' | '|' | '&' | '(' | ')' | '{' | '}' | '<' | '>' | '<<<';

/** Stands where its `<<` does. */
export interface HereDocument {
  readonly kind: 'here';
  /** Empty where its end is missing. */
  readonly body: string;
}

export interface ShellWord {
  readonly kind: 'word';
  /** Without its quotes; what a substitution gives stands as `$()`. */
  readonly text: string;
  /** The commands of its substitutions. */
  readonly nested: readonly string[];
  /** Whether a `$` in it is one to the shell as well. */
  readonly expands: boolean;
}

/** A word while it is read. */
interface Draft {
  text: string;
  nested: string[];
  expands: boolean;
}

/** The tokens of a command line; one that a shell would not take gives what it looks like. */
export function shellTokens(command: string): ShellToken[] {
  return new Reader(command).read();
}

/** Of a here-document, with the word that ends it. */
const SIGN = /<<(-?)[ \t]*((?:[^\s'"\\;&|<>()]|\\.|'[^'\n]*'|"[^"\n]*")+)/y;
const ESCAPED = /(?:[^'\\]|\\.)*/sy;

/** A here-document whose lines are not read yet. */
interface Pending {
  readonly token: { kind: 'here'; body: string };
  readonly end: string;
  readonly isIndented: boolean;
}

class Reader {
  readonly #tokens: ShellToken[] = [];
  #word: Draft | undefined;
  #pending: Pending[] = [];
  /** Of parentheses. */
  #depth = 0;
  #at: number;

  /** @param begin where a substitution begins, of which only the end is asked for */
  constructor(
    private readonly command: string,
    begin = 0,
  ) {
    this.#at = begin;
  }

  read(): ShellToken[] {
    while (this.#at < this.command.length) this.#step();
    this.#endWord();
    return this.#tokens;
  }

  /** Where the substitution ends; -1 where it does not. */
  end(): number {
    while (this.#at < this.command.length) {
      if (this.#depth === 0 && this.command.charAt(this.#at) === ')') return this.#at;
      this.#step();
    }
    return -1;
  }

  #step(): void {
    const { command } = this;
    const char = command.charAt(this.#at);
    if (char === '"') this.#doubleQuoted();
    else if (char === "'") this.#singleQuoted();
    else if (char === '\\') {
      // Together with the end of a line it is nothing at all.
      if (command.charAt(this.#at + 1) !== '\n') this.#open().text += command.charAt(this.#at + 1);
      this.#at += 2;
    } else if (this.#isSubstitution()) this.#substitution();
    else if (char === '#' && this.#word === undefined) this.#skipTo('\n');
    else if (char === '\n') {
      this.#operator(';', 1);
      for (const pending of this.#pending.splice(0)) this.#document(pending);
    } else if (/\s/.test(char)) {
      this.#endWord();
      this.#at += 1;
    } else if (this.#isGroup()) this.#operator(char as Operator, 1);
    else this.#plain(char);
  }

  #plain(char: string): void {
    const three = this.command.slice(this.#at, this.#at + 3);
    const two = three.slice(0, 2);
    if (two === '${') this.#braced();
    else if (two === "$'") this.#escaped();
    else if (two === '$"') this.#at += 1;
    else if (three === '<<<') this.#operator(three, 3);
    else if (two === '<<') this.#hereDocument();
    else if (two === '&&' || two === '||') this.#operator(two, 2);
    else if (two === '|&') this.#operator('|', 2);
    else if (['&>', '>&', '>|'].includes(two)) this.#operator('>', 2);
    else if (two === '<&') this.#operator('<', 2);
    else if (';|&()<>'.includes(char)) {
      if (char === '(') this.#depth += 1;
      if (char === ')') this.#depth -= 1;
      this.#operator(char as Operator, 1);
    } else {
      const word = this.#open();
      word.text += char;
      word.expands ||= char === '$' || char === '~';
      this.#at += 1;
    }
  }

  /** Whether a brace stands for itself, not as in `{src,docs}`. */
  #isGroup(): boolean {
    if (this.#word !== undefined) return false;
    const two = this.command.slice(this.#at, this.#at + 2);
    return /^\{\s/.test(two) || /^\}([\s;&|)<>]|$)/.test(two);
  }

  #hereDocument(): void {
    this.#endWord();
    SIGN.lastIndex = this.#at;
    const [sign = '<<', dash, end = ''] = SIGN.exec(this.command) ?? [];
    this.#at += sign.length;
    const token = { kind: 'here' as const, body: '' };
    this.#tokens.push(token);
    this.#pending.push({ token, end: end.replaceAll(/['"\\]/g, ''), isIndented: dash === '-' });
  }

  /** Without its end it is none: then what follows is commands. */
  #document({ token, end, isIndented }: Pending): void {
    const begin = this.#at;
    for (let at = begin; at < this.command.length; ) {
      const next = this.command.indexOf('\n', at);
      const line = this.command.slice(at, next < 0 ? undefined : next);
      if ((isIndented ? line.replace(/^\t+/, '') : line) === end) {
        token.body = this.command.slice(begin, at);
        this.#at = at + line.length;
        return;
      }
      at += line.length + 1;
    }
  }

  #braced(): void {
    const end = this.command.indexOf('}', this.#at);
    const word = this.#open();
    word.text += this.command.slice(this.#at, end < 0 ? undefined : end + 1);
    word.expands = true;
    this.#at = end < 0 ? this.command.length : end + 1;
  }

  #singleQuoted(): void {
    const end = this.command.indexOf("'", this.#at + 1);
    this.#open().text += this.command.slice(this.#at + 1, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.command.length : end + 1;
  }

  /** As in `$'it\\'s'`. */
  #escaped(): void {
    ESCAPED.lastIndex = this.#at + 2;
    const text = ESCAPED.exec(this.command)?.[0] ?? '';
    this.#open().text += text.replaceAll(/\\(.)/gs, '$1');
    this.#at += text.length + 3;
  }

  #doubleQuoted(): void {
    const word = this.#open();
    for (this.#at += 1; this.#at < this.command.length; ) {
      const char = this.command.charAt(this.#at);
      if (char === '"') break;
      if (this.#isSubstitution()) {
        this.#substitution();
        continue;
      }
      if (char === '\\') this.#at += 1;
      word.expands ||= char === '$';
      word.text += this.command.charAt(this.#at);
      this.#at += 1;
    }
    this.#at += 1;
  }

  #isSubstitution(): boolean {
    const two = this.command.slice(this.#at, this.#at + 2);
    return two === '$(' || two.startsWith('`');
  }

  #substitution(): void {
    const isTick = this.command.charAt(this.#at) === '`';
    const begin = this.#at + (isTick ? 1 : 2);
    const end = isTick ? this.command.indexOf('`', begin) : new Reader(this.command, begin).end();
    const word = this.#open();
    word.nested.push(this.command.slice(begin, end < 0 ? undefined : end));
    word.text += '$()';
    word.expands = true;
    this.#at = end < 0 ? this.command.length : end + 1;
  }

  #operator(text: Operator, length: number): void {
    this.#endWord();
    this.#tokens.push({ kind: 'operator', text });
    this.#at += length;
  }

  #skipTo(end: string): void {
    const at = this.command.indexOf(end, this.#at);
    this.#at = at < 0 ? this.command.length : at;
  }

  #open(): Draft {
    this.#word ??= { text: '', nested: [], expands: false };
    return this.#word;
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#tokens.push({ kind: 'word', ...this.#word });
    this.#word = undefined;
  }
}
