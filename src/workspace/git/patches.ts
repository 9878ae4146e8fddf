const HEADER = Buffer.from('\ndiff --git ');
/** Of one file, in bytes: more is not looked at stretch by stretch. */
const MAX_PATCH = 2_000_000;
/** Of all files together. */
const MAX_ALL = 32_000_000;

interface Patch {
  parts: Buffer[];
  size: number;
}

/**
 * The patches of single files, out of what git prints; those that are too large are dropped as they come. Where all
 * together are too much, the largest go first: a small change among many added files keeps its stretches.
 */
export class Patches {
  readonly #patches: Patch[] = [];
  /** The end of what came: a header may have begun in it. */
  #rest = Buffer.from('\n');
  #limit: number;
  #size = 0;

  constructor(
    maxPatch = MAX_PATCH,
    private readonly maxAll = MAX_ALL,
  ) {
    this.#limit = maxPatch;
  }

  add(chunk: Buffer): void {
    const data = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    // Only a header can begin a line with these words: the lines of a patch begin with a sign.
    for (let at = data.indexOf(HEADER); at !== -1; at = data.indexOf(HEADER, from)) {
      this.#keep(data.subarray(from, at + 1));
      this.#patches.push({ parts: [], size: 0 });
      from = at + 1;
    }
    const end = Math.max(from, data.length - HEADER.length + 1);
    this.#keep(data.subarray(from, end));
    this.#rest = data.subarray(end);
  }

  /** A character a byte; undefined where one is too large. */
  all(): (string | undefined)[] {
    this.#keep(this.#rest);
    this.#rest = Buffer.alloc(0);
    return this.#patches.map(({ parts, size }) =>
      size > this.#limit ? undefined : Buffer.concat(parts).toString('latin1'),
    );
  }

  #keep(part: Buffer): void {
    const patch = this.#patches.at(-1);
    if (patch === undefined) return;
    patch.size += part.length;
    if (patch.size <= this.#limit) {
      // A copy: what is kept shall not hold what came with it.
      patch.parts.push(Buffer.from(part));
      this.#size += part.length;
    } else this.#drop(patch);
    while (this.#size > this.maxAll) {
      this.#limit = Math.floor(this.#limit / 2);
      for (const one of this.#patches) if (one.size > this.#limit) this.#drop(one);
    }
  }

  #drop(patch: Patch): void {
    this.#size -= patch.parts.reduce((sum, { length }) => sum + length, 0);
    patch.parts = [];
  }
}
