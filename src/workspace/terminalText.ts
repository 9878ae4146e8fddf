import { StringDecoder } from 'node:string_decoder';

/** Where the text stands in a control sequence (ECMA-48). */
type State =
  | 'text'
  /** Behind ESC. */
  | 'escape'
  /** In a control sequence such as a colour: ends with a byte from `@` to `~`. */
  | 'sequence'
  /** In a string such as a window title: ends with BEL or ESC \. */
  | 'string'
  /** Behind an ESC in such a string. */
  | 'string escape';

/** Everything that is not plain text: C0 without tab and newline, DEL, C1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const NEXT_CONTROL = new RegExp(CONTROL, 'g');
const STRING_STARTS = 'PX]^_';
const C1_STRING_STARTS = '\u0090\u0098\u009d\u009e\u009f';
/** A longer line is passed on in pieces; what was passed on cannot be overwritten any more. */
const MAX_LINE = 64 * 1024;

/**
 * Turns what a program writes to a terminal into what a person would read there: control sequences go,
 * a carriage return starts the line anew, a backspace takes a character back. Bytes may come cut
 * anywhere, inside a character or a sequence.
 */
export class TerminalText {
  readonly #decoder = new StringDecoder('utf8');
  #state: State = 'text';
  /** The line being written, not yet passed on. */
  #line = '';
  /** A carriage return was seen; the next character overwrites the line. */
  #returned = false;

  /** @param emit takes plain text, in pieces of any size */
  constructor(private readonly emit: (text: string) => void) {}

  write(bytes: Buffer): void {
    this.#take(this.#decoder.write(bytes));
  }

  /** Passes on what is left. */
  end(): void {
    this.#take(this.#decoder.end());
    this.emit(this.#line);
    this.#line = '';
  }

  #take(text: string): void {
    if (this.#state === 'text' && !CONTROL.test(text)) this.#plain(text);
    else this.#interpret(text);
  }

  /** Text without control characters, the usual case. */
  #plain(text: string): void {
    if (text === '') return;
    if (this.#returned && !text.startsWith('\n')) this.#line = '';
    this.#returned = false;
    const whole = text.lastIndexOf('\n') + 1;
    if (whole > 0) {
      this.emit(this.#line + text.slice(0, whole));
      this.#line = '';
    }
    this.#line += text.slice(whole);
    if (this.#line.length > MAX_LINE) {
      this.emit(this.#line);
      this.#line = '';
    }
  }

  #interpret(text: string): void {
    let at = 0;
    while (at < text.length) {
      if (this.#state !== 'text') {
        if (this.#insideSequence(text.charAt(at))) at += 1;
        continue;
      }
      NEXT_CONTROL.lastIndex = at;
      const next = NEXT_CONTROL.exec(text)?.index ?? text.length;
      this.#plain(text.slice(at, next));
      if (next < text.length) this.#control(text.charAt(next));
      at = next + 1;
    }
  }

  #control(character: string): void {
    if (character === '\u001b') this.#state = 'escape';
    else if (character === '\u009b') this.#state = 'sequence';
    else if (C1_STRING_STARTS.includes(character)) this.#state = 'string';
    else if (character === '\r') this.#returned = true;
    else if (character === '\b') this.#line = this.#line.replace(/.$/su, '');
  }

  /** @returns false for a character that ends the sequence without belonging to it */
  #insideSequence(character: string): boolean {
    const code = character.charCodeAt(0);
    // A newline in a sequence means that it is damaged; without this, damage would hide all that follows.
    if (character === '\n') {
      this.#state = 'text';
      return false;
    }
    switch (this.#state) {
      case 'escape':
        if (character === '[') this.#state = 'sequence';
        else if (STRING_STARTS.includes(character)) this.#state = 'string';
        // Intermediate bytes: the sequence goes on, as in ESC ( B.
        else if (code < 0x20 || code > 0x2f) this.#state = 'text';
        return true;
      case 'sequence':
        if (code >= 0x40 && code <= 0x7e) this.#state = 'text';
        else if (character === '\u001b') this.#state = 'escape';
        else if (code > 0x7e) {
          this.#state = 'text';
          return false;
        }
        return true;
      case 'string':
        if (character === '\u0007' || character === '\u009c') this.#state = 'text';
        else if (character === '\u001b') this.#state = 'string escape';
        return true;
      default:
        this.#state = 'text';
        // ESC \ ends the string; any other character begins a sequence of its own.
        if (character === '\\') return true;
        this.#state = 'escape';
        return this.#insideSequence(character);
    }
  }
}
