import { type FSWatcher, watch } from 'node:fs';
import type { Disposable } from './events';

/** Tells which files of a folder were touched, by whomever. */
export class FileWatch implements Disposable {
  #watcher: FSWatcher | undefined;
  readonly #touched = new Set<string>();

  constructor(
    private readonly dir: string,
    /** Which files; its first group is what they are told by. */
    private readonly pattern: RegExp,
    private readonly onTouched: (name: string) => void,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /**
   * Begins to watch; the folder has to be there. Does nothing when it already does.
   * @returns whether it began now: what was written before is not told
   */
  start(): boolean {
    if (this.#watcher) return false;
    try {
      this.#watcher = watch(this.dir, { persistent: false }, (_, file) => {
        const name = this.pattern.exec(file ?? '')?.[1];
        if (name !== undefined) this.#note(name);
      });
      this.#watcher.on('error', (error) => {
        this.dispose();
        this.onFailure(error);
      });
      return true;
    } catch (error) {
      this.onFailure(error);
      return false;
    }
  }

  dispose(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #note(name: string): void {
    if (this.#touched.size === 0) {
      setImmediate(() => {
        const names = [...this.#touched];
        this.#touched.clear();
        for (const touched of names) this.onTouched(touched);
      });
    }
    this.#touched.add(name);
  }
}
