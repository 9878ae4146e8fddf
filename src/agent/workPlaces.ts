import { join } from 'node:path';
import type { TaskWorktree } from '../team/worktree';
import type { Place, Worktrees } from '../team/worktrees';
import { IsolatedWorkspace } from '../workspace/isolated';
import { type MemberWorkspace, type Workspace, WorkspaceError } from '../workspace/port';

/** Where one tool call works, from its checks to its end. */
export interface HeldPlace {
  readonly workspace: MemberWorkspace;
  /** What stands for the workspace folder there, absolute; undefined where nothing can be done. */
  readonly root?: string;
  /** From the workspace folder, with `/`; undefined for that folder itself. */
  readonly folder?: string;
  /** Whether the member works somewhere else by now. */
  moved(): boolean;
}

/** The places one member works in, with what it has read in each: the workspace folder, and its task's worktree. */
export class WorkPlaces {
  readonly #main: MemberWorkspace;
  #isolated: { key: string; root: string; workspace: MemberWorkspace } | undefined;

  constructor(
    private readonly workspace: Workspace,
    private readonly worktrees: Worktrees,
    /** Where the workspace folder is in a worktree, absolute. */
    private readonly workFolderOf: (path: string) => Promise<string>,
    private readonly member: string,
  ) {
    this.#main = workspace.forMember(member);
  }

  /** The place that follows from the member's task now. It never falls back to the main checkout. */
  async hold(): Promise<HeldPlace> {
    const place = this.worktrees.placeOf(this.member);
    const key = keyOf(place);
    const moved = (): boolean => keyOf(this.worktrees.placeOf(this.member)) !== key;
    if (place.kind === 'main') return { workspace: this.#main, root: this.workspace.root, moved };
    if (place.kind === 'none') return { workspace: this.#nowhere(place.reason), moved };
    const { path } = place.worktree;
    try {
      if (this.#isolated?.key !== key) {
        this.#isolated = { key, ...(await this.#open(place.taskId, place.worktree)) };
      }
      const { workspace, root } = this.#isolated;
      return { workspace, root, folder: path, moved };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return {
        workspace: this.#nowhere(`The worktree of ${place.taskId} cannot be used: ${why}`),
        folder: path,
        moved,
      };
    }
  }

  async #open(taskId: string, worktree: TaskWorktree): Promise<{ root: string; workspace: MemberWorkspace }> {
    const checkout = join(this.workspace.root, worktree.path);
    const folder = stripEnd(join(await this.workFolderOf(worktree.path), '.'));
    const check = async (): Promise<void> => {
      const problem = await this.worktrees.problemOf(worktree);
      if (problem !== undefined) throw unusable(`The worktree of ${taskId} cannot be used: ${problem}.`);
    };
    return { root: folder, workspace: this.workspace.forMember(this.member, { checkout, folder, check }) };
  }

  #nowhere(reason: string): MemberWorkspace {
    return new IsolatedWorkspace(this.#main, {
      checkout: '',
      folder: '',
      check: () => Promise.reject(unusable(reason)),
    });
  }
}

function unusable(reason: string): WorkspaceError {
  return new WorkspaceError(
    `${reason} Nothing was done. Tell the lead, so that the human can mend it or take the task back.`,
  );
}

function keyOf(place: Place): string {
  return place.kind === 'worktree'
    ? `${place.taskId} ${place.worktree.path} ${place.worktree.createdAt}`
    : place.kind;
}

function stripEnd(folder: string): string {
  return folder.replace(/[/\\]$/, '');
}
