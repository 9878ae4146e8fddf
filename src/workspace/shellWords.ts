/** What a command line is made of, as far as its words and where they end tell. Not a shell: nothing is expanded. */
export type ShellToken = ShellWord | { readonly kind: 'operator'; readonly text: Operator };

export type Operator = ';' | '&&' | '||' | '|' | '&' | '(' | ')' | '<' | '>';

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

class Reader {
  readonly #tokens: ShellToken[] = [];
  #word: Draft | undefined;
  #at = 0;

  constructor(private readonly command: string) {}

  read(): ShellToken[] {
    while (this.#at < this.command.length) this.#step();
    this.#endWord();
    return this.#tokens;
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
    else if (char === '\n') this.#operator(';', 1);
    else if (/[\s{}]/.test(char)) {
      // A brace ends a word as well, as in `{src,docs}`.
      this.#endWord();
      this.#at += 1;
    } else this.#plain(char);
  }

  #plain(char: string): void {
    const two = this.command.slice(this.#at, this.#at + 2);
    if (two === '${') this.#braced();
    else if (two === '&&' || two === '||') this.#operator(two, 2);
    else if (two === '|&') this.#operator('|', 2);
    else if (two === '&>' || two === '>&' || two === '<&') this.#operator(two === '<&' ? '<' : '>', 2);
    else if (';|&()<>'.includes(char)) this.#operator(char as Operator, 1);
    else {
      const word = this.#open();
      word.text += char;
      word.expands ||= char === '$' || char === '~';
      this.#at += 1;
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
    const end = isTick ? this.command.indexOf('`', begin) : closing(this.command, begin);
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

/** Where the parenthesis closes that was opened before `at`; -1 where it does not. */
function closing(command: string, at: number): number {
  let depth = 1;
  let quote = '';
  for (let i = at; i < command.length; i++) {
    const char = command.charAt(i);
    if (char === '\\' && quote !== "'") i++;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return i;
  }
  return -1;
}
