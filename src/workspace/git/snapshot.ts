import { copyFile, lstat, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../failures';
import { statsOf } from '../stats';
import { doneWith, newScratchName, scratchCall } from './leftovers';
import { bytesOf, shownName } from './names';
import { ReviewRefusal } from './refusal';
import { gitPath } from './repository';
import { GitError, type GitOptions, git, gitLine, gitNames } from './run';

/** An index of our own beside the checkout's: what is tried in it changes nothing of the user's. */
export interface ScratchIndex extends Index {
  /** Absolute path. */
  readonly file: string;
}

/** An index of a checkout. */
export interface Index {
  readonly root: string;
  /** Undefined: its own. */
  readonly file?: string;
  /** Names what git is asked for on it (see `GitOptions.call`). */
  readonly call?: string;
}

/**
 * Works with a copy of the checkout's index, which is removed afterwards.
 * @param root of the checkout
 * @param call names what git is asked for on it, where that is more than a try
 */
export async function withScratchIndex<T>(
  root: string,
  work: (index: ScratchIndex) => Promise<T>,
  call?: string,
): Promise<T> {
  const own = await gitPath(root, 'index');
  const name = newScratchName();
  const file = `${own}.${name}`;
  try {
    try {
      // With the times and sizes it knows, so that only what changed is read. As old as the original: by its own
      // age git tells which of its entries may hide a change that came within the same second.
      const { atime, mtimeMs } = await stat(own);
      await copyFile(own, file);
      await utimes(file, atime, Math.floor(mtimeMs / 1000));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    return await work({ root, file, call: call ?? scratchCall(name) });
  } finally {
    await rm(file, { force: true });
    await rm(`${file}.lock`, { force: true });
    doneWith(name);
  }
}

/** The index's content as a tree. */
export function writeTree(index: ScratchIndex): Promise<string> {
  return gitLine(index.root, ['write-tree'], onIndex(index));
}

/** How git is asked for something on an index. */
export function onIndex({ file, call }: Index): GitOptions {
  return { ...(file === undefined ? {} : { index: file }), ...(call === undefined ? {} : { call }) };
}

/** The working files as a tree: what is committed, staged, changed and new; not what git ignores. */
export function workTree(root: string): Promise<string> {
  return withScratchIndex(root, async (index) => {
    try {
      await git(root, ['add', '--all', '--sparse', '--', ':/'], onIndex(index));
    } catch (error) {
      throw refusalOf(error) ?? error;
    }
    return writeTree(index);
  });
}

/** What keeps git from reading a worktree, where the user can do something about it. */
function refusalOf(error: unknown): ReviewRefusal | undefined {
  const nested =
    error instanceof GitError && /'(.+?)\/?' does not have a commit checked out/.exec(error.message);
  if (!nested) return undefined;
  const text = `'${nested[1]}' in the worktree is a repository of its own without a commit. Remove its folder .git, or commit in it; then review again.`;
  return new ReviewRefusal('git', text);
}

/**
 * Takes the working files of everything that is tracked into the index, and those of some paths whether they are
 * tracked, new or ignored.
 * @param paths from the checkout's root
 * @returns those at which a folder stands
 */
export async function addTracked(index: ScratchIndex, paths: readonly string[]): Promise<string[]> {
  const { root } = index;
  await git(root, ['add', '--update', '--', ':/'], onIndex(index));
  try {
    await addPaths(index, paths);
    return [];
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const { files, folders } = await sorted(root, paths);
    if (files.length === paths.length) throw (await blocked(root, error)) ?? error;
    try {
      await addPaths(index, files);
    } catch (next) {
      throw (next instanceof GitError ? await blocked(root, next) : undefined) ?? next;
    }
    return folders;
  }
}

async function addPaths(index: ScratchIndex, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  // --remove: one that is gone goes from the index. Nothing here is a pattern.
  const input = bytesOf(paths.map((path) => `${path}\0`).join(''));
  const args = ['update-index', '--add', '--remove', '-z', '--stdin'];
  await git(index.root, args, { ...onIndex(index), input });
}

/** The paths at which a file may stand: no folder does, and they are not behind a link that is a path as well. */
async function sorted(
  root: string,
  paths: readonly string[],
): Promise<{ files: string[]; folders: string[] }> {
  const folders = new Set<string>();
  const links = new Set<string>();
  for (const path of paths) {
    const stats = await statsOf(join(root, path));
    if (stats?.isDirectory()) folders.add(path);
    else if (stats?.isSymbolicLink()) links.add(path);
  }
  const isBehind = (path: string) => parentsOf(path).some((parent) => links.has(parent));
  return { files: paths.filter((path) => !folders.has(path) && !isBehind(path)), folders: [...folders] };
}

/** What shall stand in a checkout. */
export interface Coming {
  /** Paths of files. */
  readonly files: readonly string[];
  /** Those of them at which a folder stands. */
  readonly folders: readonly string[];
  /** All paths that change: what is gone after that is in nobody's way. */
  readonly changed: { has(path: string): boolean };
}

/**
 * A file can come in the place of a folder, and a folder in that of a file, as long as nothing else is there: git
 * overwrites without a word what it ignores, and takes away what is only staged.
 * @param index with the working files
 * @throws {ReviewRefusal}
 */
export async function refuseInPlace(index: ScratchIndex, { files, folders, changed }: Coming): Promise<void> {
  for (const folder of folders) {
    const args = ['--literal-pathspecs', 'ls-files', '--cached', '--others', '-z', '--', folder];
    const others = (await gitNames(index.root, args, onIndex(index))).filter((path) => !changed.has(path));
    if (others.length === 0) continue;
    const text = `In the main folder, ${folder} is a folder, and in the work a file. Move the folder away, then accept again. It holds what is not in the work: ${others.map(shownName).join(', ')}.`;
    throw new ReviewRefusal('local_changes', text, [folder]);
  }
  for (const parent of new Set(files.flatMap(parentsOf))) {
    if (changed.has(parent)) continue;
    const stats = await statsOf(join(index.root, parent));
    if (stats === undefined || stats.isDirectory() || stats.isSymbolicLink()) continue;
    const text = `In the main folder, ${parent} is a file, and in the work a folder. Move the file away, then accept again.`;
    throw new ReviewRefusal('local_changes', text, [parent]);
  }
}

/** The working files as they are, where the user has not committed them: theirs to keep. */
export function workingTree(root: string, paths: readonly string[]): Promise<string> {
  return withScratchIndex(root, async (index) => {
    await addTracked(index, paths);
    return writeTree(index);
  });
}

/** What stands in the main checkout where the work has something else that git cannot even look for there. */
async function blocked(root: string, { stderr }: GitError): Promise<ReviewRefusal | undefined> {
  const [, path] = /^error: '(.+)' is beyond a symbolic link$/m.exec(stderr) ?? [];
  if (path === undefined) return undefined;
  const link = await firstLink(root, path);
  const text = `In the main folder, ${link} is a link, and the work changes ${path} in a folder of that name. Put a folder in the place of the link, then accept again.`;
  return new ReviewRefusal('local_changes', text, [path]);
}

/** The first part of a path that is a link. */
async function firstLink(root: string, path: string): Promise<string> {
  for (const parent of parentsOf(path)) if ((await lstat(join(root, parent))).isSymbolicLink()) return parent;
  return path;
}

/** The folders of a path, the outermost first. */
function parentsOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'));
}
