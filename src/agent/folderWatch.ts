import { existsSync, type FSWatcher, watch } from 'node:fs';
import * as path from 'node:path';
import type { Disposable } from '../team/events';

/** Tells that files of a folder changed. A folder that is not there is waited for, as long as its parent is. */
export class FolderWatch implements Disposable {
  #watcher: FSWatcher | undefined;
  #disposed = false;
  #due = false;

  /**
   * @param onChange once for all that changes in one tick
   * @param onFailure the system cannot watch; nothing is told from then on
   */
  constructor(
    private readonly dir: string,
    private readonly onChange: () => void,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  start(): void {
    this.#watcher?.close();
    if (this.#disposed) return;
    const isThere = existsSync(this.dir);
    try {
      const watched = isThere ? this.dir : path.dirname(this.dir);
      this.#watcher = watch(watched, { persistent: false }, () => {
        // It came, or it went.
        if (existsSync(this.dir) !== isThere) this.start();
        else if (!isThere) return;
        this.#tell();
      });
      this.#watcher.on('error', (error) => {
        this.#watcher?.close();
        this.onFailure(error);
      });
    } catch (error) {
      this.onFailure(error);
    }
  }

  dispose(): void {
    this.#disposed = true;
    this.#watcher?.close();
  }

  #tell(): void {
    if (this.#due) return;
    this.#due = true;
    setImmediate(() => {
      this.#due = false;
      if (!this.#disposed) this.onChange();
    });
  }
}
