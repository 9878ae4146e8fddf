import * as path from 'node:path';
import { FencedError, type StoreFileSystem } from '../store';
import { isMissing } from '../team/inboxFiles';
import { LOG_FILE } from '../team/mirror';
import type { OwnConfig } from '../team/ownConfig';
import type { FileStamp } from '../team/ports';
import { WorkspaceMirrorFiles } from './mirrorFiles';

export interface TeamFilesHost {
  /** Makes way for the first roster of ours. */
  claimConfig(): Promise<void>;
  /** The folder had to be made anew: what was watched may be one that is gone. */
  onMade(): void;
  /** Looks whose the folder is. @returns false when it is another window's by now */
  isOurs(): Promise<boolean>;
  onLogEdited(file: string): void;
}

/** The files of `.team/` as the window that runs the team writes them: none once the folder is another's. */
export class TeamFiles extends WorkspaceMirrorFiles {
  #log: FileStamp | undefined;

  constructor(
    root: string,
    fileSystem: StoreFileSystem | undefined,
    private readonly config: () => OwnConfig,
    private readonly host: TeamFilesHost,
  ) {
    super(root, fileSystem);
  }

  override async ensureFolder(): Promise<boolean> {
    const made = await super.ensureFolder();
    if (made) this.host.onMade();
    return made;
  }

  override async writeAtomic(file: string, text: string): Promise<void> {
    const isConfig = file === this.config().file;
    if (isConfig) await this.host.claimConfig();
    await this.#refuseAnothers(file);
    if (isConfig) await this.config().write(text, () => super.writeAtomic(file, text));
    else await super.writeAtomic(file, text);
  }

  override async append(file: string, text: string): Promise<void> {
    await this.#refuseAnothers(file);
    await super.append(file, text);
  }

  override async appendLines(file: string, lines: readonly string[]): Promise<void> {
    await this.#refuseAnothers(file);
    const isLog = path.basename(file) === LOG_FILE;
    if (isLog && (await this.#isLogEdited(file))) this.host.onLogEdited(file);
    // Where this fails, what is in it is not known.
    this.#log = undefined;
    await super.appendLines(file, lines);
    if (isLog) this.#log = await this.stamp(file);
  }

  /** @throws {FencedError} */
  async #refuseAnothers(file: string): Promise<void> {
    if (!(await this.host.isOurs())) throw new FencedError(file);
  }

  async #isLogEdited(file: string): Promise<boolean> {
    if (this.#log === undefined) return false;
    try {
      const { size, mtimeMs, ino } = await this.stamp(file);
      return size !== this.#log.size || mtimeMs !== this.#log.mtimeMs || ino !== this.#log.ino;
    } catch (error) {
      // One that was removed is begun anew.
      if (isMissing(error)) return false;
      throw error;
    }
  }
}
