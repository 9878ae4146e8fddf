import { FencedError } from './errors';
import { nodeFileSystem, type StoreFile, type StoreFileSystem } from './fileSystem';

/**
 * A file system that writes only while the team is held. An owner that slept through a takeover may wake in
 * the middle of anything; from then on nothing of it reaches a file.
 */
export function fencedFileSystem(
  isHeld: () => boolean,
  base: StoreFileSystem = nodeFileSystem,
): StoreFileSystem {
  const check = (path: string): void => {
    if (!isHeld()) throw new FencedError(path);
  };
  return {
    async open(path, mode, permissions) {
      if (mode !== 'read') check(path);
      return fenced(path, await base.open(path, mode, permissions), check);
    },
    readdir: (path) => base.readdir(path),
    async mkdir(path) {
      check(path);
      await base.mkdir(path);
    },
    async rename(from, to) {
      check(to);
      await base.rename(from, to);
    },
    async unlink(path) {
      check(path);
      await base.unlink(path);
    },
    syncDirectory: (path) => base.syncDirectory(path),
  };
}

function fenced(path: string, file: StoreFile, check: (path: string) => void): StoreFile {
  return {
    async write(data, position) {
      check(path);
      return file.write(data, position);
    },
    read: (target, position) => file.read(target, position),
    size: () => file.size(),
    async truncate(length) {
      check(path);
      await file.truncate(length);
    },
    // What was written while the team was held, and is acknowledged now, has to be on the disk and still count.
    async datasync() {
      await file.datasync();
      check(path);
    },
    close: () => file.close(),
  };
}
