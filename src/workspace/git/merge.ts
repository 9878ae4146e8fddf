import { WorkspaceError } from '../port';
import type { TreeEntry } from './diff';
import { namesOf } from './names';
import { GitError, git, gitLine } from './run';

/** What a merge of two trees gives. */
export interface Merged {
  /** With conflict markers in the files of `conflicts`. */
  readonly tree: string;
  readonly conflicts: readonly Conflict[];
}

/** A path on which both sides disagree: its versions in the base (1), on our side (2) and on theirs (3). */
export interface Conflict {
  readonly path: string;
  readonly stages: readonly { readonly stage: number; readonly entry: TreeEntry }[];
}

/**
 * A three-way merge in the object store alone; no file and no branch changes.
 * @param root a checkout of the repository
 * @throws {WorkspaceError} with a git older than 2.38
 */
export async function mergeTrees(root: string, base: string, ours: string, theirs: string): Promise<Merged> {
  // git merges commits: these are of nobody's history, and git clears them away in time.
  const from = await looseCommit(root, base, []);
  const [left, right] = [await looseCommit(root, ours, [from]), await looseCommit(root, theirs, [from])];
  let answer: { code: number; stdout: Buffer };
  try {
    const args = ['merge-tree', '--write-tree', '-z', '--no-messages', left, right];
    answer = await git(root, ['-c', 'merge.conflictStyle=merge', ...args], { accept: [1] });
  } catch (error) {
    if (error instanceof GitError && /usage: git merge-tree|unknown option/.test(error.stderr)) {
      throw new WorkspaceError('Merging needs git 2.38 or newer. Update git, then try again.');
    }
    throw error;
  }
  const [tree = '', ...lines] = namesOf(answer.stdout).filter((line) => line !== '');
  return { tree, conflicts: conflictsOf(lines) };
}

function conflictsOf(lines: readonly string[]): Conflict[] {
  const byPath = new Map<string, { stage: number; entry: TreeEntry }[]>();
  for (const line of lines) {
    const tab = line.indexOf('\t');
    const [mode = '', object = '', stage = ''] = line.slice(0, tab).split(' ');
    const path = line.slice(tab + 1);
    byPath.set(path, [...(byPath.get(path) ?? []), { stage: Number(stage), entry: { mode, object } }]);
  }
  return [...byPath].map(([path, stages]) => ({ path, stages }));
}

/** A commit that no branch holds, with a person and a time that are always the same. */
export function looseCommit(root: string, tree: string, parents: readonly string[]): Promise<string> {
  const args = parents.flatMap((parent) => ['-p', parent]);
  const who = ['user.name=Handshake', 'user.email=handshake@localhost'].flatMap((setting) => ['-c', setting]);
  return gitLine(root, [...who, 'commit-tree', tree, ...args, '-m', 'Handshake: a state of a worktree']);
}
