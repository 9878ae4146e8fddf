/** Smaller pieces are joined as they come, so that there are never many. */
const PIECE_LENGTH = 4096;

/**
 * Keeps the beginning and the end of a text of any length, with a note in place of what was between them.
 * Lengths are in UTF-16 units; no character is cut in two.
 */
export class BoundedText {
  #head = '';
  #headFull = false;
  /** The end so far, in pieces: dropping a piece costs nothing, cutting a string copies it. */
  readonly #tail: string[] = [];
  #tailLength = 0;
  #dropped = 0;

  constructor(
    private readonly headLimit: number,
    private readonly tailLimit: number,
  ) {}

  append(text: string): void {
    let rest = text;
    if (!this.#headFull) {
      const room = wholeCharacters(rest, this.headLimit - this.#head.length);
      this.#head += rest.slice(0, room);
      if (room === rest.length) return;
      this.#headFull = true;
      rest = rest.slice(room);
    }
    this.#tailLength += rest.length;
    const last = this.#tail.at(-1);
    if (last !== undefined && last.length + rest.length <= PIECE_LENGTH)
      this.#tail[this.#tail.length - 1] = last + rest;
    else this.#tail.push(rest);
    this.#dropPieces();
  }

  toString(): string {
    const tail = this.#tail.join('');
    // One unit earlier than the limit where the cut would part a pair: the tail starts with a whole character.
    const start = wholeCharacters(tail, tail.length - this.tailLimit);
    const dropped = this.#dropped + start;
    if (dropped === 0) return this.#head + tail;
    const note = `[… ${dropped} characters left out …]`;
    return `${this.#head}${this.#head.endsWith('\n') ? '' : '\n'}${note}\n${tail.slice(start)}`;
  }

  #dropPieces(): void {
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      // One unit more than the limit, for the cut that would part a pair.
      if (this.#tailLength - first.length <= this.tailLimit) return;
      this.#tail.shift();
      this.#tailLength -= first.length;
      this.#dropped += first.length;
    }
  }
}

/** The largest length up to `length` that does not end inside a surrogate pair. */
function wholeCharacters(text: string, length: number): number {
  if (length <= 0) return 0;
  if (length >= text.length) return text.length;
  const last = text.charCodeAt(length - 1);
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
}
