import type { StoreFile, StoreFileSystem } from '../../src/store';

/** One step that changes what is on the disk. */
export interface Step {
  name: 'open' | 'write' | 'truncate' | 'datasync' | 'rename' | 'unlink' | 'mkdir' | 'syncDirectory';
  /** The file it concerns; for a rename its new name. */
  path: string;
  /** How many bytes are to be written. */
  bytes: number;
}

/**
 * Stands between the store and the disk.
 * @param run does the step; of a write only so many bytes when a number is given
 */
export type Tap = <Result>(step: Step, run: (bytes?: number) => Promise<Result>) => Promise<Result>;

/** A file system each of whose changing steps passes through `tap`; reading does not. */
export function tappedFileSystem(base: StoreFileSystem, tap: Tap): StoreFileSystem {
  const plain = <Result>(name: Step['name'], path: string, run: () => Promise<Result>): Promise<Result> =>
    tap({ name, path, bytes: 0 }, () => run());
  const wrap = (path: string, file: StoreFile): StoreFile => ({
    write: (data, position) =>
      tap({ name: 'write', path, bytes: data.length }, (bytes) =>
        file.write(bytes === undefined ? data : data.subarray(0, bytes), position),
      ),
    read: (target, position) => file.read(target, position),
    size: () => file.size(),
    truncate: (length) => plain('truncate', path, () => file.truncate(length)),
    datasync: () => plain('datasync', path, () => file.datasync()),
    close: () => file.close(),
  });
  return {
    open: async (path, mode, permissions) => {
      if (mode === 'read') return base.open(path, mode, permissions);
      return wrap(path, await plain('open', path, () => base.open(path, mode, permissions)));
    },
    readdir: (path) => base.readdir(path),
    mkdir: (path) => plain('mkdir', path, () => base.mkdir(path)),
    rename: (from, to) => plain('rename', to, () => base.rename(from, to)),
    unlink: (path) => plain('unlink', path, () => base.unlink(path)),
    syncDirectory: (path) => plain('syncDirectory', path, () => base.syncDirectory(path)),
  };
}
