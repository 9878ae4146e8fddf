import { readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { WorkspaceError } from '../port';
import { GitError, gitLine } from './run';

/** The repository that a workspace folder belongs to. */
export interface Repository {
  /** Absolute real path of the checkout. */
  readonly root: string;
  /** Of the workspace folder in it, with `/` at its end; empty where they are the same. */
  readonly prefix: string;
}

/** What is checked out. */
export interface Head {
  readonly commit: string;
  /** Undefined on a detached HEAD. */
  readonly branch?: string;
}

/**
 * The checkout around a folder.
 * @throws {WorkspaceError} where there is none, or git cannot be used
 */
export async function repositoryOf(folder: string): Promise<Repository> {
  try {
    const answer = await gitLine(folder, ['rev-parse', '--show-prefix', '--show-toplevel']);
    const [prefix = '', root = ''] = answer.split(/\r?\n/);
    return { root: await realpath(root), prefix };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (error.stderr.includes('not a git repository')) {
      throw new WorkspaceError(
        `${folder} is not in a git repository. Run 'git init' and make a first commit, or work without a worktree.`,
      );
    }
    if (error.stderr.includes('must be run in a work tree')) {
      throw new WorkspaceError(`${folder} is in a bare repository, which has no working files.`);
    }
    throw error;
  }
}

/**
 * Handshake's own folder, which is no part of a task's work; others of that name are the user's.
 * @param prefix of the workspace folder
 * @returns from the checkout's root, with `/` at its end
 */
export function teamsFolder(prefix: string): string {
  return `${prefix}.team/`;
}

/** @throws {WorkspaceError} where nothing has been committed yet */
export async function headOf(root: string): Promise<Head> {
  const args = ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];
  const commit = await gitLine(root, args, { accept: [1] });
  if (commit === '') {
    throw new WorkspaceError(
      `The repository ${root} has no commit yet. Make a first commit, then try again.`,
    );
  }
  const branch = await gitLine(root, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { accept: [1] });
  return branch === '' ? { commit } : { commit, branch };
}

/** @throws {WorkspaceError} where the name means no commit */
export async function commitOf(root: string, name: string): Promise<string> {
  try {
    return await gitLine(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new WorkspaceError(`There is no commit or branch '${name}' in ${root}.`);
  }
}

export function treeOf(root: string, commit: string): Promise<string> {
  return gitLine(root, ['rev-parse', '--verify', `${commit}^{tree}`]);
}

/** Of the checkout's own administration, such as its index. @returns an absolute path */
export async function gitPath(root: string, name: string): Promise<string> {
  const own = join(root, '.git');
  if ((await stat(own)).isDirectory()) return join(own, name);
  // A worktree or a submodule says where its administration is.
  const [, named = ''] = /^gitdir: (.+?)\s*$/.exec(await readFile(own, 'utf8')) ?? [];
  return join(resolve(root, named), name);
}
