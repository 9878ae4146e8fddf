import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What somebody typed and has not sent, one small file a key. Files, because neither a webview's state nor
 * VS Code's own storage is sure to be flushed when the window reloads.
 */
export class DraftFiles {
  readonly #texts = new Map<string, string>();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #dirty = new Set<string>();

  /** @param onError hears of a failed read or write; the text stays in memory */
  constructor(
    private readonly folder: string,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The text of `key`, empty where there is none. */
  async read(key: string): Promise<string> {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    let text = '';
    try {
      text = await readFile(this.#file(key), 'utf8');
    } catch (error) {
      if (!isMissing(error)) this.onError(error);
    }
    // What was typed while the file was read is newer.
    const typed = this.#texts.get(key);
    if (typed !== undefined) return typed;
    this.#texts.set(key, text);
    return text;
  }

  /** Keeps `text` at once in memory and soon on disk: one write at a time, the newest text wins. */
  write(key: string, text: string): void {
    if (this.#texts.get(key) === text) return;
    this.#texts.set(key, text);
    this.#dirty.add(key);
    if (!this.#writing.has(key)) this.#writing.set(key, this.#drain(key));
  }

  /** Resolves when all that was typed is on disk. */
  async flush(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  async #drain(key: string): Promise<void> {
    try {
      while (this.#dirty.delete(key)) await this.#save(key, this.#texts.get(key) ?? '');
    } catch (error) {
      this.onError(error);
    } finally {
      this.#writing.delete(key);
    }
  }

  async #save(key: string, text: string): Promise<void> {
    const file = this.#file(key);
    if (text === '') {
      await rm(file, { force: true });
      return;
    }
    await mkdir(this.folder, { recursive: true });
    await writeFile(`${file}.new`, text, 'utf8');
    await rename(`${file}.new`, file);
  }

  #file(key: string): string {
    return join(this.folder, `${encodeURIComponent(key)}.txt`);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
