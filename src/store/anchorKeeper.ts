import type { Anchor, Vault } from './vault';

/** An anchor is saved this long after a line, or after so many lines, whichever comes first. */
const DELAY_MS = 2000;
const LINES = 256;
/** How long closing waits for a vault that does not answer. */
const CLOSE_MS = 2000;

export interface AnchorOptions {
  vault: Vault;
  /** The journal's key, 64 hex digits. */
  key: string;
  /** Asked before each save: a later owner's anchor must not be replaced. */
  isHeld: () => boolean;
  /** Told once when the vault fails. */
  onFailure: (error: unknown) => void;
}

/** Keeps the newest line of a journal in its vault, now and then. Never throws. */
export class AnchorKeeper {
  #newest: Anchor | null = null;
  #saved = -1;
  #saving: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;
  #isClosing = false;

  constructor(private readonly options: AnchorOptions) {}

  /** A line is in the journal. */
  moved(head: Anchor | null): void {
    this.#newest = head;
    if ((head?.seq ?? 0) - this.#saved >= LINES) void this.save(head);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#newest !== null) void this.save(this.#newest);
    }, DELAY_MS).unref();
  }

  /** Saves now; one at a time, so that the vault ends with the newest. */
  async save(head: Anchor | null): Promise<void> {
    this.#newest = head;
    this.#saving ??= this.#saveNewest();
    await this.#saving;
  }

  /** What fails from here on is not told: the window goes away, and its secret storage may before it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    let patience: NodeJS.Timeout | undefined;
    const tired = new Promise<void>((resolve) => {
      patience = setTimeout(resolve, CLOSE_MS);
    });
    const saved = this.#newest === null ? Promise.resolve(this.#saving) : this.save(this.#newest);
    await Promise.race([saved, tired]);
    clearTimeout(patience);
  }

  async #saveNewest(): Promise<void> {
    // Saves that are asked for in one tick are one.
    await Promise.resolve();
    for (let done = false; !done; ) {
      const anchor = this.#newest;
      if (this.options.isHeld() && (anchor?.seq ?? 0) !== this.#saved) await this.#write(anchor);
      done = anchor === this.#newest;
    }
    this.#saving = undefined;
  }

  async #write(anchor: Anchor | null): Promise<void> {
    try {
      await this.options.vault.save({ key: this.options.key, anchor });
      this.#saved = anchor?.seq ?? 0;
    } catch (error) {
      // The anchor is only behind, which the next window brings up.
      if (this.#isClosing || isCanceled(error)) return;
      if (!this.#hasFailed) this.options.onFailure(error);
      this.#hasFailed = true;
    }
  }
}

/** How an editor refuses what is asked of it while its window goes away. */
function isCanceled(error: unknown): boolean {
  return error instanceof Error && error.name === 'Canceled';
}
