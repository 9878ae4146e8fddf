import { constants, promises as disk, existsSync } from 'node:fs';
import * as path from 'node:path';
import {
  appendOwnLines,
  atomicWriteFile,
  ensureTeamFolder,
  namedNotDirectory,
  nodeFileSystem,
  refuseLink,
  type StoreFileSystem,
  storageError,
  writeAll,
} from '../store';
import type { FileStamp, MirrorFiles } from '../team/ports';

/** One round of writing looks at each folder once, not for each of its files. */
const SEEN_MS = 20;

/** The folder `.team/` of a workspace on a file system; nothing in it is synced, since the journal has it all. */
export class WorkspaceMirrorFiles implements MirrorFiles {
  /** When a folder was last seen to be no link. */
  readonly #seen = new Map<string, number>();

  constructor(
    private readonly root: string,
    private readonly fs: StoreFileSystem = nodeFileSystem,
  ) {}

  async ensureFolder(): Promise<boolean> {
    return this.ensureSubfolder(path.join(await ensureTeamFolder(this.root, this.fs), 'inbox'));
  }

  async ensureSubfolder(dir: string): Promise<boolean> {
    const isThere = existsSync(dir);
    try {
      await this.fs.mkdir(dir);
    } catch (error) {
      throw storageError('make', dir, namedNotDirectory(error));
    }
    await refuseLink(dir);
    return !isThere;
  }

  writeAtomic(file: string, text: string): Promise<void> {
    return atomicWriteFile(file, text, { sync: false, fileSystem: this.fs });
  }

  append(file: string, text: string): Promise<void> {
    return attempt('write', file, async () => {
      await this.#refuseLinks(file);
      const opened = await this.fs.open(file, 'append');
      try {
        await writeAll(opened, Buffer.from(text, 'utf8'), 0);
      } finally {
        await opened.close();
      }
    });
  }

  appendLines(file: string, lines: readonly string[]): Promise<void> {
    return appendOwnLines(file, lines, this.fs);
  }

  read(file: string): Promise<string> {
    return attempt('read', file, async () => {
      await this.#refuseLinks(file);
      return readRegular(file);
    });
  }

  stamp(file: string): Promise<FileStamp> {
    return attempt('read', file, async () => {
      await this.#refuseLinks(file);
      return disk.stat(file);
    });
  }

  async list(dir: string): Promise<string[]> {
    try {
      await this.#refuseLinks(path.join(dir, 'any'));
      return await this.fs.readdir(dir);
    } catch (error) {
      const failure = storageError('read', dir, error);
      // Where a part of the path is a file there is no folder either, and whoever writes says what is in the way.
      if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return [];
      throw failure;
    }
  }

  rename(from: string, to: string): Promise<void> {
    return attempt('rename', from, async () => {
      await this.#refuseLinks(from);
      await this.fs.rename(from, to);
    });
  }

  async remove(file: string): Promise<void> {
    try {
      await this.fs.unlink(file);
    } catch (error) {
      const failure = storageError('remove', file, error);
      if (failure.code !== 'ENOENT') throw failure;
    }
  }

  /** A link in the place of one of our folders, which a repository can bring along, would lead to files of others. */
  async #refuseLinks(file: string): Promise<void> {
    const dir = path.dirname(file);
    const now = performance.now();
    if (now - (this.#seen.get(dir) ?? Number.NEGATIVE_INFINITY) < SEEN_MS) return;
    let folder = this.root;
    for (const name of path.relative(this.root, dir).split(path.sep)) {
      folder = path.join(folder, name);
      await refuseLink(folder);
    }
    this.#seen.set(dir, now);
  }
}

async function attempt<Result>(action: string, file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw storageError(action, file, error);
  }
}

/** Never waits: to open a pipe that somebody put there would, for ever, and with it a thread of the process. */
async function readRegular(file: string): Promise<string> {
  const handle = await disk.open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = await handle.stat();
    if (!stat.isFile() && !stat.isDirectory()) {
      throw Object.assign(new Error('it is not a regular file'), { code: 'EFTYPE' });
    }
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
