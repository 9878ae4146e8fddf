import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../failures';
import { callMark, endMarked } from '../markedProcesses';
import { WorkspaceError } from '../port';
import { letGo } from './kept';
import { type LooseFiles, looseFiles, lostCommits } from './losses';
import { commitOf, headOf, repositoryOf, teamsFolder } from './repository';
import { git, gitHolds, gitLine, gitList, gitText } from './run';
import { changedSubmodules, type SubmoduleLosses, submoduleLosses } from './submodules';
import { exists, isCheckout, type WorktreePlace, worktreeProblem } from './worktreeState';

/** Where a worktree is made, and from what; decided before anything is. */
export interface WorktreePlan {
  /** From the workspace folder, with `/`. */
  path: string;
  branch: string;
  /** Commit id. */
  base: string;
  /** As a person calls it: a branch, or the beginning of the id. */
  baseName: string;
  /** What whoever asked for it should know. */
  notes: string[];
}

/** Where the worktrees stand, from the workspace folder. */
const FOLDER = '.team/worktrees';
const MAX_TRIES = 1000;
/** Milliseconds for a creation that was cut off to end; it takes away by itself what it has made. */
const END_GRACE_MS = 2000;

/** The worktrees of one workspace folder, over the `git` command. */
export class GitWorktrees {
  /** Of the repository: where all its checkouts have their refs. */
  #common: Promise<string> | undefined;

  /** @param root real path of the workspace folder */
  constructor(private readonly root: string) {}

  /**
   * Finds a place and a branch that are free. Nothing is made.
   * @param base commit or branch to begin at, instead of what is checked out
   * @throws {WorkspaceError} no git, no repository, no commit, unknown base
   */
  async plan(taskId: string, base?: string): Promise<WorktreePlan> {
    const { root } = await repositoryOf(this.root);
    const head = await headOf(root);
    const commit = base === undefined ? head.commit : await commitOf(root, base);
    const notes: string[] = [];
    const stem = await this.#stem(root);
    const taken = await this.#taken(root);
    let name = taskId;
    for (let n = 2; n <= MAX_TRIES; n++) {
      if (!taken.has(stem + name) && !(await exists(join(this.root, FOLDER, name)))) break;
      name = `${taskId}-${n}`;
    }
    if (name !== taskId) {
      notes.push(
        `There is a branch ${stem}${taskId} or a folder ${FOLDER}/${taskId} from before; it is left as it is, and this one is called ${name}.`,
      );
    }
    const changed = await gitList(root, ['status', '--porcelain', '-z', '--untracked-files=normal']);
    if (changed.length > 0 && base === undefined) {
      notes.push('What is not committed in the main folder is not in it.');
    }
    if (await gitHolds(root, ['cat-file', '-e', `${commit}:.gitmodules`])) {
      notes.push("Its submodules are empty until 'git submodule update --init' is run in it.");
    }
    return {
      path: `${FOLDER}/${name}`,
      branch: stem + name,
      base: commit,
      baseName: base ?? head.branch ?? commit.slice(0, 10),
      notes,
    };
  }

  /**
   * Makes it, or leaves nothing of it behind.
   * @throws {WorkspaceError} why it could not be made; also what could not be cleared away
   */
  async make(plan: WorktreePlan): Promise<void> {
    const path = this.folderOf(plan.path);
    await this.#refuseLinks();
    await this.#hideFromGit();
    await mkdir(dirname(path), { recursive: true });
    try {
      const args = ['worktree', 'add', '--quiet', '--no-track', '-b', plan.branch, path, plan.base];
      await git(this.root, args, { call: creationOf(path) });
    } catch (error) {
      await this.#rollBack(plan, error);
      throw error;
    }
  }

  /** Takes away what a creation that was cut off has left. */
  async clear(plan: Pick<WorktreePlan, 'path' | 'branch' | 'base'>): Promise<void> {
    // The checkout of a large repository goes on where only its window was killed, and would take away at its end
    // what is made anew meanwhile.
    await endMarked(callMark(creationOf(this.folderOf(plan.path))), END_GRACE_MS);
    await this.#removeFolder(plan.path);
    const ref = `refs/heads/${plan.branch}`;
    const tip = await gitLine(this.root, ['rev-parse', '--verify', '--quiet', ref], { accept: [1] });
    // Only as it was made: a commit on it is somebody's work.
    if (tip === plan.base) await git(this.root, ['update-ref', '-d', ref, tip]);
  }

  /** Absolute path of the worktree's checkout. */
  folderOf(path: string): string {
    return join(this.root, ...path.split('/'));
  }

  /** Absolute path in the worktree that stands for the workspace folder. */
  async workFolderOf(path: string): Promise<string> {
    const { prefix } = await repositoryOf(this.root);
    return join(this.folderOf(path), prefix);
  }

  /**
   * Why the worktree cannot be worked in, in words, or undefined. It is asked before every tool call, so it looks
   * at git's files itself; nothing is remembered.
   */
  async problem(path: string, branch: string): Promise<string | undefined> {
    return worktreeProblem({ ...(await this.#placeOf(path)), branch });
  }

  /** Whether what is in it can be read, also where it cannot be worked in, as with another branch. */
  async isReadable(path: string): Promise<boolean> {
    return isCheckout(await this.#placeOf(path));
  }

  /** What of its files is not committed in it. */
  async looseFiles(path: string): Promise<LooseFiles> {
    const { root, prefix } = await repositoryOf(this.root);
    return looseFiles(this.folderOf(path), root, teamsFolder(prefix));
  }

  /** What stands in its submodules alone. */
  async submoduleLosses(path: string): Promise<SubmoduleLosses> {
    return submoduleLosses(this.folderOf(path), (await repositoryOf(this.root)).root);
  }

  /** Its submodules with changes inside, which no review holds; from its root. */
  changedSubmodules(path: string): Promise<string[]> {
    return changedSubmodules(this.folderOf(path));
  }

  /**
   * The subjects of the commits that would be gone with it, newest first.
   * @param isReadable whether what is checked out in it can be told
   * @param accepted as {@link lostCommits} has them
   */
  async lostCommits(
    { path, branch }: Pick<WorktreePlan, 'path' | 'branch'>,
    isReadable: boolean,
    accepted: readonly string[],
  ): Promise<string[]> {
    // In the middle of a rebase, or with another one checked out, the branch itself does not have them.
    const args = ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];
    const head = isReadable ? await gitLine(this.folderOf(path), args, { accept: [1, 128] }) : '';
    return lostCommits((await repositoryOf(this.root)).root, branch, head, accepted);
  }

  /** Removes the worktree, with whatever is in it, and its branch. */
  async remove(path: string, branch: string): Promise<void> {
    await this.#removeFolder(path);
    if (await gitHolds(this.root, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])) {
      await git(this.root, ['branch', '--quiet', '-D', '--', branch]);
    }
    await letGo(this.root, branch);
  }

  async #placeOf(path: string): Promise<Omit<WorktreePlace, 'branch'>> {
    this.#common ??= gitLine(this.root, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
    return { folder: this.folderOf(path), shown: path, common: await this.#common };
  }

  async #removeFolder(path: string): Promise<void> {
    const folder = this.folderOf(path);
    await this.#refuseLinks();
    // In this order git takes one whose .git is damaged, too: of a folder that is gone it asks nothing.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    const known = (await gitText(this.root, ['worktree', 'list', '--porcelain'])).split('\n');
    if (known.includes(`worktree ${folder}`)) {
      await git(this.root, ['worktree', 'remove', '--force', '--force', folder]);
    }
  }

  async #rollBack(plan: WorktreePlan, cause: unknown): Promise<void> {
    try {
      await this.clear(plan);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const first = cause instanceof Error ? cause.message : String(cause);
      throw new WorkspaceError(
        `${first} What was begun could not be cleared away: look at ${plan.path} and the branch ${plan.branch}. ${why}`,
      );
    }
  }

  /** A branch named `handshake` leaves no room for `handshake/…`. */
  async #stem(root: string): Promise<string> {
    const blocked = await gitHolds(root, ['rev-parse', '--verify', '--quiet', 'refs/heads/handshake']);
    return blocked ? 'handshake-' : 'handshake/';
  }

  /** Branches that exist, and those that some worktree still has registered. */
  async #taken(root: string): Promise<Set<string>> {
    const refs = await gitLine(root, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);
    const worktrees = (await gitText(root, ['worktree', 'list', '--porcelain'])).split('\n');
    const held = worktrees.flatMap((line) => (line.startsWith('branch refs/heads/') ? [line.slice(18)] : []));
    return new Set([...refs.split('\n'), ...held]);
  }

  async #hideFromGit(): Promise<void> {
    const folder = join(this.root, '.team');
    await mkdir(folder, { recursive: true });
    try {
      await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }

  /** Nothing is made or removed through a link. */
  async #refuseLinks(): Promise<void> {
    for (const name of ['.team', FOLDER]) {
      const folder = this.folderOf(name);
      if (!(await exists(folder))) return;
      const real = await realpath(folder);
      if (real === folder) continue;
      throw new WorkspaceError(`${name} is a link to ${real}. Remove the link, then try again.`);
    }
  }
}

function creationOf(folder: string): string {
  return `make worktree ${folder}`;
}
