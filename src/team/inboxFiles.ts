import * as path from 'node:path';
import { KeyedLock } from './locks';
import type { FileStamp, MirrorFiles } from './ports';

/** What is remembered of a file as it was last written here; anything else in it is foreign. */
interface Written extends FileStamp {
  lines: readonly string[];
}

export interface InboxHost {
  /** The lines that belong into the member's file now. */
  wanted(name: string): readonly string[];
  /** True for a message id the team has seen; used once, for files of an earlier session. */
  isOwnLine(line: string): boolean;
  /** The line without a beginning that is a write of ours which was cut off; empty when nothing is left of it. */
  withoutCutOff(line: string): string;
  /**
   * Takes in one line of another program, durably.
   * @param id the same for the same line, however often a crash makes it be taken again
   */
  takeForeign(name: string, line: string, id: string): Promise<void>;
  /** What had the name of the member's file holds no lines, and is kept beside. */
  tellNoFile(name: string, what: string, beside: string): void;
}

/** A copy that was renamed aside and is not yet taken in. */
interface Aside {
  file: string;
  /** The lines written by this session, or undefined for a file of an earlier one. */
  own: readonly string[] | undefined;
  /** How many lines of it have been seen to. */
  done: number;
}

const ASIDE = /^(.+)\.jsonl\.taken-[0-9a-z-]+$/;

/**
 * The files `.team/inbox/<name>.jsonl`. Other programs may append to them: then the file is renamed aside, its
 * foreign lines are journaled, and only after that the copy is deleted, so that no line is lost by a crash.
 */
export class InboxFiles {
  readonly #written = new Map<string, Written>();
  readonly #asides = new Map<string, Aside[]>();
  readonly #locks = new KeyedLock();
  #counter = 0;

  constructor(
    private readonly dir: string,
    private readonly files: MirrorFiles,
    private readonly host: InboxHost,
  ) {}

  /** Takes in what copies a crash left behind. */
  async recover(): Promise<void> {
    for (const file of await this.files.list(this.dir)) {
      const name = ASIDE.exec(file)?.[1];
      if (name === undefined) continue;
      await this.#locks.run(name, () => {
        if (!this.#asides.get(name)?.some((aside) => aside.file === file)) {
          this.#setAside(name, { file, own: undefined, done: 0 });
        }
        return this.#digest(name);
      });
    }
  }

  /**
   * Takes in foreign lines when the file is not as it was last written here.
   * @returns whether it has to be written anew
   */
  check(name: string): Promise<boolean> {
    return this.#locks.run(name, async () => {
      await this.#digest(name);
      if (await this.#isUntouched(name)) return false;
      await this.#takeAside(name);
      return true;
    });
  }

  /** Brings the file in line with the mailbox. */
  update(name: string): Promise<void> {
    return this.#locks.run(name, () => this.#write(name));
  }

  async #write(name: string): Promise<void> {
    const untouched = await this.#isUntouched(name);
    const before = untouched ? (this.#written.get(name)?.lines ?? []) : undefined;
    const wanted = this.host.wanted(name);
    if (before !== undefined && isPrefix(before, wanted)) {
      const added = wanted.slice(before.length);
      if (added.length > 0 || !this.#written.has(name)) await this.#append(name, wanted, textOf(added));
      await this.#remember(name, wanted, Buffer.byteLength(textOf(wanted)));
      return;
    }
    await this.#takeAside(name);
    const lines = this.host.wanted(name);
    // Not over it: another program may have begun the file anew with a line of its own.
    await this.#append(name, lines, textOf(lines));
    await this.#remember(name, lines, Buffer.byteLength(textOf(lines)));
  }

  async #append(name: string, wanted: readonly string[], text: string): Promise<void> {
    try {
      await this.files.append(this.#path(name), text);
    } catch (error) {
      // A part may have been written: whatever of these lines is found there is ours.
      this.#written.set(name, { lines: wanted, size: -1, mtimeMs: -1, ino: -1 });
      throw error;
    }
  }

  async #takeAside(name: string): Promise<void> {
    const own = this.#written.get(name)?.lines;
    const file = `${name}.jsonl.taken-${Date.now().toString(36)}-${process.pid.toString(36)}-${(this.#counter++).toString(36)}`;
    try {
      await this.files.rename(this.#path(name), path.join(this.dir, file));
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    this.#written.delete(name);
    this.#setAside(name, { file, own, done: 0 });
    await this.#digest(name);
  }

  #setAside(name: string, aside: Aside): void {
    this.#asides.set(name, [...(this.#asides.get(name) ?? []), aside]);
  }

  /** Takes in the member's copies; one that could not be taken in whole is gone on with at the next look. */
  async #digest(name: string): Promise<void> {
    for (let aside = this.#asides.get(name)?.[0]; aside; aside = this.#asides.get(name)?.[0]) {
      await this.#takeIn(name, aside);
      this.#asides.set(name, (this.#asides.get(name) ?? []).slice(1));
    }
  }

  /** Reads a copy, journals what is foreign in it, deletes it. */
  async #takeIn(name: string, aside: Aside): Promise<void> {
    const file = path.join(this.dir, aside.file);
    const ours = new Map<string, number>();
    for (const line of aside.own ?? []) ours.set(line, (ours.get(line) ?? 0) + 1);
    let text: string | undefined;
    try {
      text = await this.#readSettled(file);
    } catch (error) {
      const what = inPlaceOfFile(error);
      if (what === undefined) throw error;
      await this.#keepBeside(name, aside, what);
      return;
    }
    // Taken in and removed while this was waiting for its turn.
    if (text === undefined) return;
    const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
    for (const [index, whole] of lines.entries()) {
      const left = ours.get(whole) ?? 0;
      if (left > 0) ours.set(whole, left - 1);
      const line = this.host.withoutCutOff(whole);
      const isOurs = left > 0 || (aside.own === undefined && this.host.isOwnLine(line));
      if (isOurs || line.trim() === '' || index < aside.done) continue;
      await this.host.takeForeign(name, line, `ext-${aside.file}-${index}`);
      aside.done = index + 1;
    }
    await this.files.remove(file);
  }

  /** No line will ever be read from it: to try that again would hold up the member's mail for good. */
  async #keepBeside(name: string, aside: Aside, what: string): Promise<void> {
    const beside = aside.file.replace('.taken-', '.damaged-');
    await this.files.rename(path.join(this.dir, aside.file), path.join(this.dir, beside));
    this.host.tellNoFile(name, what, beside);
  }

  async #isUntouched(name: string): Promise<boolean> {
    const before = this.#written.get(name);
    try {
      const now = await this.files.stamp(this.#path(name));
      return (
        before !== undefined &&
        now.size === before.size &&
        now.mtimeMs === before.mtimeMs &&
        now.ino === before.ino
      );
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Deleted by somebody: it is made anew, nothing in it was ours alone.
      this.#written.delete(name);
      return true;
    }
  }

  /** A size other than expected means that somebody appended meanwhile; the next look takes that in. */
  async #remember(name: string, lines: readonly string[], size: number): Promise<void> {
    const now = await this.files.stamp(this.#path(name));
    this.#written.set(name, {
      lines,
      size,
      ino: now.ino,
      mtimeMs: now.size === size ? now.mtimeMs : -1,
    });
  }

  /**
   * A writer may still be in the middle of its line: as long as the file grows it is read again.
   * @returns undefined where there is no such file
   */
  async #readSettled(file: string): Promise<string | undefined> {
    for (let patience = 10; ; patience--) {
      const text = await this.#read(file);
      if (text === undefined) return undefined;
      // A whole last line needs no waiting; a part of one gets a moment, since nothing tells of its end.
      const whole = text === '' || text.endsWith('\n') || isJson(text.slice(text.lastIndexOf('\n') + 1));
      if (!whole && patience > 0) await new Promise((resolve) => setTimeout(resolve, 30));
      else await new Promise((resolve) => setImmediate(resolve));
      const again = await this.#read(file);
      if (again === text && (whole || patience <= 0)) return text;
    }
  }

  async #read(file: string): Promise<string | undefined> {
    try {
      return await this.files.read(file);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #path(name: string): string {
    return path.join(this.dir, `${name}.jsonl`);
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    // That it cannot be parsed is the answer.
    return false;
  }
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function isPrefix(start: readonly string[], whole: readonly string[]): boolean {
  return start.length <= whole.length && start.every((line, index) => line === whole[index]);
}

/** What it is that could not be read as a file, or undefined where it may be one. */
function inPlaceOfFile(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EISDIR') return 'a folder';
  return code === 'EFTYPE' || code === 'ENXIO' ? 'not a regular file' : undefined;
}

/** Also where a part of the path is a file: then there is no inbox either, and the mirror says what is in the way. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
