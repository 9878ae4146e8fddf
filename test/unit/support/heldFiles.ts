import { sep } from 'node:path';
import { nodeFileSystem, type StoreFileSystem } from '../../../src/store';
import { type Deferred, deferred } from './turns';

/** The machine's files, with a journal whose writes reach the disk when the test says so, or fail. */
export class HeldFiles {
  held = false;
  readonly #waiting: Deferred<void>[] = [];
  #arrivals: Deferred<void> = deferred();

  readonly fileSystem: StoreFileSystem = {
    ...nodeFileSystem,
    open: async (path, mode, permissions) => {
      const file = await nodeFileSystem.open(path, mode, permissions);
      if (!path.includes(`${sep}journal${sep}`)) return file;
      return {
        ...file,
        datasync: async () => {
          await this.#turn();
          await file.datasync();
        },
      };
    },
  };

  /** Resolves when a write waits to reach the disk. */
  async arrived(): Promise<void> {
    while (this.#waiting.length === 0) await this.#arrivals.promise;
  }

  fail(code: string): void {
    this.#waiting.shift()?.reject(Object.assign(new Error(`${code}: fdatasync`), { code }));
  }

  /** Holds nothing any more. */
  release(): void {
    this.held = false;
    for (const waiting of this.#waiting.splice(0)) waiting.resolve();
  }

  async #turn(): Promise<void> {
    if (!this.held) return;
    const turn = deferred();
    this.#waiting.push(turn);
    this.#arrivals.resolve();
    this.#arrivals = deferred();
    await turn.promise;
  }
}
