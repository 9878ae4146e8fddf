import { LEAD } from '../protocol';
import { messageOf } from '../team/ledger';
import type { Task } from '../team/task';
import type { Team } from '../team/team';
import type { Acceptance, ReviewOutcome } from '../team/worktree';
import { type LandingWay, land, progressOf, takeBack } from '../workspace/git/landing';
import { ReviewRefusal } from '../workspace/git/refusal';
import { repositoryOf } from '../workspace/git/repository';
import { callOf, type GitReview, noteConflict } from '../workspace/git/review';
import type { Workspace } from '../workspace/port';

export interface LandingsDeps {
  team: Team;
  /** Whether the team is still this window's. */
  isHeld(): boolean;
  workspace: Workspace;
  review: GitReview;
}

/** Acceptances on their way into the main checkout, each from its record to its outcome. */
export class Landings {
  /** Id of the one that is being carried out. */
  #landing: string | undefined;

  constructor(private readonly deps: LandingsDeps) {}

  /** @throws {ReviewRefusal} with what is left of it where it fails; it is over then */
  async carryOut(task: Task, root: string, acceptance: Acceptance): Promise<void> {
    this.#landing = acceptance.id;
    try {
      await this.deps.team.worktrees.beginAccept(task.id, acceptance);
      try {
        await land(root, acceptance.landing, this.#way(acceptance.id));
      } catch (error) {
        throw await this.#takeBack(task.id, acceptance, error);
      }
      await this.#landed(task, root, acceptance);
    } finally {
      this.#landing = undefined;
    }
  }

  /**
   * After a restart: those that were cut off are carried to their end, or given up.
   * @returns what became of them
   */
  async recover(): Promise<string[]> {
    const notes: string[] = [];
    for (const { id } of this.deps.team.board.book.all()) {
      for (const acceptance of this.#cutOff(id)) {
        this.#landing = acceptance.id;
        try {
          notes.push(await this.#takeUp(id, acceptance));
        } catch (error) {
          notes.push(
            `Accepting the work of ${id} was cut off and could not be taken up: ${messageOf(error)}`,
          );
        } finally {
          this.#landing = undefined;
        }
      }
    }
    return notes;
  }

  /** One that could not be taken up is not carried out either once the human has decided anew. */
  async giveUp(id: string): Promise<void> {
    for (const acceptance of this.#cutOff(id))
      await this.deps.team.worktrees.endAccept(id, acceptance.id, 'given_up');
  }

  /** Acceptances that were begun and not ended; the one that is being carried out is not among them. */
  #cutOff(id: string): Acceptance[] {
    const accepted = this.deps.team.board.book.get(id)?.worktree?.accepted ?? [];
    return accepted.filter((one) => one.outcome === undefined && one.id !== this.#landing);
  }

  /** @returns what became of it, in a sentence or two */
  async #takeUp(id: string, acceptance: Acceptance): Promise<string> {
    const { team, review, workspace } = this.deps;
    const { landing } = acceptance;
    const { root } = await repositoryOf(workspace.root);
    if (!(await review.hasLanded(root, landing))) {
      const changed = await review.changedSince(root, landing);
      if (changed !== undefined) {
        await team.worktrees.endAccept(id, acceptance.id, 'given_up');
        return `Accepting the work of ${id} was cut off, and since then ${changed}. Look at the main folder, and review it again.`;
      }
      try {
        await land(root, landing, this.#way(acceptance.id));
      } catch (error) {
        const { message } = await this.#takeBack(id, acceptance, error);
        return `Accepting the work of ${id} was cut off. ${message}`;
      }
    }
    await this.#landed(team.board.get(id), root, acceptance);
    return `Accepting the work of ${id} was cut off, and is finished now.`;
  }

  /**
   * It has failed, and nothing of it is carried out later: the steps that were made are undone, as far as the files
   * are still as they were made.
   * @returns why it failed, and what is left of it
   */
  async #takeBack(id: string, acceptance: Acceptance, cause: unknown): Promise<ReviewRefusal> {
    // The window that owns the team now carries it to its end.
    if (!this.deps.isHeld()) throw cause;
    const { landing, files } = acceptance;
    let left: Pick<ReviewRefusal, 'message' | 'files'>;
    try {
      const { root } = await repositoryOf(this.deps.workspace.root);
      const progress = await progressOf(root, landing);
      if (progress.at === 'changed') {
        left = { message: `Look at these files: ${progress.paths.join(', ')}.`, files: progress.paths };
      } else {
        await takeBack(root, landing, this.#way(acceptance.id));
        left = { message: '', files: [] };
      }
    } catch (error) {
      if (!this.deps.isHeld()) throw error;
      const message = `It could not be taken back: ${messageOf(error)} Look at these files: ${files.join(', ')}.`;
      left = { message, files };
    }
    await this.deps.team.worktrees.endAccept(id, acceptance.id, 'given_up');
    const why = messageOf(cause);
    const text =
      left.message === ''
        ? `The work of ${id} was not merged, and nothing was changed: ${why}`
        : `The work of ${id} may be merged in part, for this happened: ${why} ${left.message}`;
    return new ReviewRefusal('git', text, left.files);
  }

  async #landed(task: Task, root: string, acceptance: Acceptance): Promise<void> {
    const { conflicts, staged } = acceptance.landing;
    if (conflicts.length > 0 && staged) await noteConflict(root, messageFor(task));
    await this.deps.team.worktrees.endAccept(task.id, acceptance.id, outcomeOf(acceptance));
  }

  #way(id: string): LandingWay {
    return {
      call: callOf(id),
      mayGoOn: () => {
        if (!this.deps.isHeld())
          throw new ReviewRefusal('closing', 'Another window has taken over the team.');
      },
    };
  }
}

export function outcomeOf({ landing }: Acceptance): Extract<ReviewOutcome, 'merged' | 'conflicts'> {
  return landing.conflicts.length > 0 ? 'conflicts' : 'merged';
}

/** The task in the words of its subject and description, as a commit says them. */
export function messageFor({ subject, description, owner }: Task): string {
  const who = owner === undefined || owner === LEAD ? [] : [`Done by the teammate ${owner}.`];
  const parts = [subject, description.trim(), ...who].filter((part) => part !== '');
  // git takes no message with a NUL in it.
  return `${parts.join('\n\n').replaceAll('\0', '')}\n`;
}
