import { HUMAN } from '../protocol';
import { messageOf } from '../team/ledger';
import { KeyedLock } from '../team/locks';
import type { Clock } from '../team/ports';
import type { ReviewSettings } from '../team/settings';
import { isUnderWay } from '../team/task';
import type { Acceptance, TaskWorktree } from '../team/worktree';
import type { FileChange } from '../workspace/git/diff';
import type { LooseFiles } from '../workspace/git/losses';
import { shownName } from '../workspace/git/names';
import { ReviewRefusal } from '../workspace/git/refusal';
import { repositoryOf } from '../workspace/git/repository';
import type { Work } from '../workspace/git/review';
import { blob, type Taken } from '../workspace/git/selection';
import type { SubmoduleLosses } from '../workspace/git/submodules';
import type { GitWorktrees } from '../workspace/git/worktrees';
import { Landings, type LandingsDeps, messageFor, outcomeOf } from './landings';
import { runCheck } from './projectCheck';
import {
  type AcceptOptions,
  type AcceptOutcome,
  type MergeMode,
  type Review,
  type ReviewCore,
  type ReviewSelection,
  WorktreeRefusal,
  type WorktreeReport,
} from './reviewApi';

/** What comes home comes one after another, each merged with the result of the one before. */
const LOCK = 'reviews';
/** Nothing is removed while work comes out of it. */
const worktreeLock = (id: string): string => `worktree ${id}`;

export interface TaskReviewsDeps extends LandingsDeps {
  clock: Clock;
  /** Runs what the team is not idle during. */
  run<T>(work: () => Promise<T>): Promise<T>;
  settings: () => ReviewSettings;
  worktrees: GitWorktrees;
}

/** Worktrees and reviews as the human handles them. */
export class TaskReviews implements ReviewCore {
  readonly #locks = new KeyedLock();
  readonly #closing = new AbortController();
  /** By task: what the human was told last of what its removal would take. */
  readonly #told = new Map<string, WorktreeReport>();
  readonly #landings: Landings;

  constructor(private readonly deps: TaskReviewsDeps) {
    this.#landings = new Landings(deps);
  }

  createWorktree(taskId: string, base?: string): Promise<TaskWorktree> {
    return this.deps.run(async () => {
      const { task } = await this.deps.team.worktrees.create(taskId, HUMAN, base);
      return this.deps.team.worktrees.ready(task.id);
    });
  }

  async inspectWorktree(taskId: string): Promise<WorktreeReport> {
    const { team, worktrees } = this.deps;
    const task = team.board.get(taskId);
    const worktree = team.worktrees.ready(task.id);
    const { path, branch } = worktree;
    let broken = await worktrees.problem(path, branch);
    // With another branch checked out, say: then what it holds is told all the same.
    const isReadable = broken === undefined || (await worktrees.isReadable(path));
    let unmerged: string[] = [];
    let loose: LooseFiles = { uncommitted: [], ignored: [] };
    let inside: SubmoduleLosses = { uncommitted: [], ignored: [], commits: [] };
    try {
      if (isReadable) {
        loose = await worktrees.looseFiles(path);
        inside = await worktrees.submoduleLosses(path);
        unmerged = pathsOf((await this.#read(worktree, true)).changes);
      }
    } catch (error) {
      // What cannot be read may hold something.
      broken ??= messageOf(error);
    }
    // Where files are not in the main checkout, what was accepted may have been taken back.
    const accepted = broken === undefined && unmerged.length === 0 ? partsOf(worktree) : [];
    const tips = accepted.flatMap(({ tip }) => tip ?? []);
    return {
      taskId: task.id,
      path,
      branch,
      ...(broken === undefined ? {} : { broken }),
      ...(isUnderWay(task) && task.owner !== undefined ? { boundTo: task.owner } : {}),
      uncommitted: loose.uncommitted,
      inSubmodules: inside.uncommitted,
      unmerged,
      ignored: [...loose.ignored, ...inside.ignored],
      commits: [...(await worktrees.lostCommits(worktree, isReadable, tips)), ...inside.commits],
    };
  }

  async removeWorktree(taskId: string, options: { force?: boolean } = {}): Promise<void> {
    const { id } = this.deps.team.board.get(taskId);
    return this.#locks.run(worktreeLock(id), () => this.#remove(id, options.force === true));
  }

  async #remove(id: string, force: boolean): Promise<void> {
    const { team } = this.deps;
    // Not asked of git where the human has said yes: it may not be able to read what there is.
    if (!force) {
      const report = await this.inspectWorktree(id);
      this.#told.set(id, report);
      if (!isClean(report)) throw new WorktreeRefusal(report);
    }
    const told = this.#told.get(id);
    // A yes to what was told of it is no yes to taking it from somebody who has begun in it since.
    const evenFrom = !force ? undefined : told === undefined ? '*' : told.boundTo;
    team.worktrees.ready(id);
    await this.deps.run(() => team.worktrees.remove(id, evenFrom));
    this.#told.delete(id);
  }

  async reviewWork(taskId: string): Promise<Review> {
    const { team, worktrees } = this.deps;
    const task = team.board.get(taskId);
    const worktree = await this.#usable(task.id);
    const work = await this.#read(worktree);
    await this.#noteConcluded(task.id, worktree, work);
    const changedSubmodules = await worktrees.changedSubmodules(worktree.path);
    return {
      taskId: task.id,
      revision: revisionOf(work),
      branch: worktree.branch,
      into: work.head.branch ?? '',
      folder: worktrees.folderOf(worktree.path),
      mainFolder: work.root,
      ...(isUnderWay(task) && task.owner !== undefined ? { workingMember: task.owner } : {}),
      changedSubmodules,
      files: work.changes.map(({ hunks, before, after, path, oldPath, ...change }) => ({
        ...change,
        path: shownName(path),
        ...(oldPath === undefined ? {} : { oldPath: shownName(oldPath) }),
        hunks: hunks.map(({ raw: _, ...hunk }) => hunk),
        ...(before === undefined ? {} : { baseBlob: before.object }),
        ...(after === undefined ? {} : { workBlob: after.object }),
      })),
    };
  }

  async reviewContent(taskId: string, id: string): Promise<Uint8Array> {
    this.deps.team.board.get(taskId);
    if (!/^[0-9a-f]{40,64}$/.test(id)) throw new ReviewRefusal('git', `'${id}' is not the id of a content.`);
    return blob((await repositoryOf(this.deps.workspace.root)).root, id);
  }

  acceptWork(
    taskId: string,
    selection: ReviewSelection,
    options: AcceptOptions = {},
  ): Promise<AcceptOutcome> {
    return this.deps.run(() => this.#locks.run(LOCK, () => this.#accept(taskId, selection, options)));
  }

  async sendBack(taskId: string, comments: string): Promise<void> {
    const { team } = this.deps;
    await this.#usable(taskId);
    await this.#landings.giveUp(team.board.get(taskId).id);
    await team.board.sendBack(taskId, comments, HUMAN);
  }

  /**
   * After a restart: worktrees that were being made or removed are; an acceptance that was cut off is carried to
   * its end, or given up where the checkout has changed since.
   * @returns what the user should know, a sentence each
   */
  recover(): Promise<string[]> {
    return this.#locks.run(LOCK, async () => {
      const notes = await this.#clearLeftovers();
      notes.push(...(await this.deps.team.worktrees.recover()));
      notes.push(...(await this.#keepAccepted()));
      notes.push(...(await this.#landings.recover()));
      return notes;
    });
  }

  /**
   * The window closes, or another one takes over: what is being merged is carried through, and nothing is begun.
   * @returns when nothing of it goes on
   */
  close(): Promise<void> {
    this.#closing.abort();
    return this.#locks.run(LOCK, async () => undefined);
  }

  /** What an earlier window's git still does or has left; asked of git only where there was something to accept. */
  async #clearLeftovers(): Promise<string[]> {
    const isolated = this.deps.team.board.book.all().flatMap(({ worktree }) => worktree ?? []);
    if (isolated.length === 0) return [];
    try {
      for (const { id, outcome } of isolated.flatMap(({ accepted }) => accepted)) {
        if (outcome === undefined) await this.deps.review.settle(id);
      }
      await this.deps.review.clearLeftovers();
      return [];
    } catch (error) {
      return [`What an earlier window left in the repository could not be cleared: ${messageOf(error)}`];
    }
  }

  /** Also what an older version accepted, which git would clear away. */
  async #keepAccepted(): Promise<string[]> {
    const notes: string[] = [];
    for (const { id, worktree } of this.deps.team.board.book.all()) {
      const parts = worktree?.state === 'ready' ? partsOf(worktree) : [];
      if (worktree === undefined || parts.length === 0) continue;
      try {
        const kept = await this.deps.review.keep(worktree.branch, parts);
        if (kept.length === parts.length) continue;
        notes.push(
          `git has cleared away what it takes to tell what of the work of ${id} was accepted earlier. It may be shown again; accepting it twice is harmless.`,
        );
      } catch (error) {
        notes.push(`What was accepted of the work of ${id} cannot be kept: ${messageOf(error)}`);
      }
    }
    return notes;
  }

  async #accept(taskId: string, selection: ReviewSelection, options: AcceptOptions): Promise<AcceptOutcome> {
    const { id } = this.deps.team.board.get(taskId);
    const bring = (): Promise<AcceptOutcome> => this.#bringHome(id, selection, options.mode);
    const outcome = await this.#locks.run(worktreeLock(id), bring);
    const command = this.deps.settings().checkCommand.trim();
    if (outcome.conflicts.length > 0 || command === '') return outcome;
    options.onCheck?.(command);
    return {
      ...outcome,
      check: await runCheck(this.deps.workspace, command, this.#untilClosed(options.signal)),
    };
  }

  async #bringHome(id: string, selection: ReviewSelection, wanted?: MergeMode): Promise<AcceptOutcome> {
    const { team, clock, review } = this.deps;
    if (this.#closing.signal.aborted)
      throw new ReviewRefusal('closing', 'This window has let go of the team.');
    const mode = wanted ?? this.deps.settings().merge;
    const task = team.board.get(id);
    if (isUnderWay(task)) {
      throw new ReviewRefusal(
        'at_work',
        `${task.owner} still works on ${task.id}. Wait, or take the task back first.`,
      );
    }
    const worktree = await this.#usable(task.id);
    const work = await this.#read(worktree);
    const taken = chosen(work, selection);
    const { landing, tree, files } = await review.prepare(work, taken, mode, messageFor(task));
    const whole = taken.filter(({ hunks }) => hunks === undefined).length;
    const remaining = work.changes.length - whole;
    const at = clock.now();
    const acceptance: Acceptance = {
      id: clock.uuid(),
      mode,
      tree,
      landing,
      files,
      remaining,
      at,
      ...(remaining === 0 ? { tip: work.tip } : {}),
    };
    await review.keep(worktree.branch, [acceptance]);
    await this.#landings.giveUp(task.id);
    await this.#landings.carryOut(task, work.root, acceptance);
    return {
      outcome: outcomeOf(acceptance),
      mode,
      ...(landing.commit === undefined ? {} : { commit: landing.commit.id }),
      files,
      conflicts: landing.conflicts.map(({ path }) => path),
      remaining: await this.#leftOf(task.id, remaining),
    };
  }

  /** It is merged, whatever has become of the worktree since: its next review says why it cannot be read. */
  async #leftOf(id: string, expected: number): Promise<number> {
    try {
      return (await this.#read(await this.#usable(id))).changes.length;
    } catch {
      return expected;
    }
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
  }

  /** A merge with conflicts has come home when the human has finished it, which nobody but git is told. */
  async #noteConcluded(id: string, { accepted }: TaskWorktree, { root, changes }: Work): Promise<void> {
    const last = accepted.at(-1);
    if (last?.outcome !== 'conflicts' || changes.length > 0) return;
    if (!(await this.deps.review.isConcluded(root, last.landing))) return;
    await this.deps.team.worktrees.endAccept(id, last.id, 'merged');
  }

  #read(worktree: TaskWorktree, isSure = false): Promise<Work> {
    const { review, worktrees } = this.deps;
    return review.read(worktrees.folderOf(worktree.path), partsOf(worktree), isSure);
  }

  /** @throws {ReviewRefusal} */
  async #usable(taskId: string): Promise<TaskWorktree> {
    const { team, worktrees } = this.deps;
    const { id, worktree } = team.board.get(taskId);
    if (worktree === undefined || worktree.state !== 'ready') {
      throw new ReviewRefusal('no_worktree', `${id} has no worktree to review.`);
    }
    const problem = await worktrees.problem(worktree.path, worktree.branch);
    if (problem !== undefined) {
      throw new ReviewRefusal('broken', `The worktree of ${id} cannot be used: ${problem}.`);
    }
    return worktree;
  }
}

/** What was accepted is not lost, committed or not; what a broken one holds nobody knows. */
function isClean({ boundTo, broken, inSubmodules, unmerged, commits, ignored }: WorktreeReport): boolean {
  return (
    boundTo === undefined &&
    broken === undefined &&
    ![inSubmodules, unmerged, commits, ignored].some((all) => all.length > 0)
  );
}

function partsOf({ accepted }: TaskWorktree): Acceptance[] {
  return accepted.filter(({ outcome }) => outcome === 'merged' || outcome === 'conflicts');
}

function revisionOf({ base, work }: Work): string {
  return `${base}..${work}`;
}

function pathsOf(changes: readonly FileChange[]): string[] {
  return changes.map(({ path }) => shownName(path));
}

/** What is chosen, as it is now. @throws {ReviewRefusal} where it is not what was shown */
function chosen(work: Work, selection: ReviewSelection): Taken[] {
  const { changes } = work;
  if ('everything' in selection) {
    if (selection.everything !== revisionOf(work)) throw changedMeanwhile();
    if (changes.length === 0) throw nothing();
    return changes.map((change) => ({ change }));
  }
  const files = new Set(selection.files);
  const hunks = new Set(selection.hunks);
  const taken = changes.flatMap((change): Taken[] => {
    const some = change.hunks.filter(({ id }) => hunks.delete(id));
    if (files.delete(change.id) || (some.length > 0 && some.length === change.hunks.length))
      return [{ change }];
    return some.length === 0 ? [] : [{ change, hunks: some }];
  });
  if (files.size > 0 || hunks.size > 0) throw changedMeanwhile();
  if (taken.length === 0) throw nothing();
  return taken;
}

function changedMeanwhile(): ReviewRefusal {
  return new ReviewRefusal('changed_meanwhile', 'The work has changed since it was shown. Review it again.');
}

function nothing(): ReviewRefusal {
  return new ReviewRefusal('nothing_to_accept', 'There is nothing to accept.');
}
