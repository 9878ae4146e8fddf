import * as vscode from 'vscode';
import { type Review, type ReviewFile, ReviewRefusal } from '../agent/reviewApi';
import { KeyedLock } from '../team/locks';
import { Coalescer } from './coalesce';
import { ContextKeys, Views } from './contributions';
import { MergeEditors } from './mergeEditors';
import { plainLine } from './plainText';
import { ReviewComments } from './reviewComments';
import { ReviewFiles } from './reviewFiles';
import { ReviewChecks } from './reviewModel';
import { closeAllDiffs, closeDiffs, openAllDiffs, openDiff, refreshDiffs } from './reviewTabs';
import { submodulesLine } from './reviewTexts';
import { ReviewTree } from './reviewTree';
import type { Session } from './session';
import { UserError } from './userError';
import type { DraftFiles } from './webviewDrafts';

/** The one review that is open, and all that shows it: the Review view, the diffs, the comments. */
export class ReviewDesk implements vscode.Disposable {
  readonly checks = new ReviewChecks();
  readonly comments: ReviewComments;
  readonly merges: MergeEditors;
  readonly #tree = new ReviewTree(this.checks);
  readonly #files: ReviewFiles;
  readonly #subscriptions: vscode.Disposable[];
  readonly #follow = new Coalescer(() => void this.#followTask(), 100);
  /** What opens, reads anew and closes comes one after another: all of them move tabs. */
  readonly #turns = new KeyedLock();
  #review: Review | undefined;
  /** What the tab of all diffs was called when it was opened: the task may be renamed. */
  #title = '';

  /**
   * @param drafts keeps comments that are not sent yet
   * @param onError hears of what fails where nobody has asked for it
   */
  constructor(
    private readonly session: Session,
    drafts: DraftFiles,
    private readonly onError: (error: unknown) => void,
  ) {
    this.comments = new ReviewComments(drafts);
    this.merges = new MergeEditors(onError);
    this.#files = new ReviewFiles(session);
    this.#subscriptions = [
      this.#follow,
      this.comments.onDidChange(() => this.#draw()),
      session.onDidChangeCore(() => {
        this.merges.clear();
        void this.close();
      }),
      session.onEvent((event) => {
        if (event.type === 'task' && event.id === this.#review?.taskId) this.#follow.request();
      }),
    ];
  }

  get review(): Review | undefined {
    return this.#review;
  }

  /** @throws {UserError} where none is open */
  require(): Review {
    if (this.#review) return this.#review;
    throw new UserError(vscode.l10n.t('No work is under review.'));
  }

  /**
   * Shows the work of a task: all of its changes beside what was there before.
   * @returns the review; without files where nothing is left to take over, and then nothing is opened
   */
  open(taskId: string): Promise<Review> {
    return this.#inTurn(async () => {
      const core = await this.session.requireToRead();
      const review = await core.reviewWork(taskId);
      if (this.#review?.taskId !== taskId || review.files.length === 0) await this.#close();
      if (review.files.length === 0) return review;
      const before = this.#title;
      await this.#show(review);
      await vscode.commands.executeCommand(`${Views.changes}.focus`);
      // One under the new title may have outlived a reload of the window.
      await closeAllDiffs(before, this.#title);
      await refreshDiffs(review);
      await openAllDiffs(review, this.#title);
      return review;
    });
  }

  /** Reads the work anew, such as after a part of it was taken over. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      const before = this.#review;
      if (before === undefined) return;
      const core = await this.session.requireToRead();
      const review = await core.reviewWork(before.taskId);
      if (review.files.length === 0) {
        await this.#close();
        return;
      }
      const title = this.#title;
      await this.#show(review);
      if (review.revision === before.revision && title === this.#title) return;
      await refreshDiffs(review);
      if (await closeAllDiffs(title)) await openAllDiffs(review, this.#title);
    });
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#close());
  }

  /** The tab with the diffs of all files. */
  async openAll(): Promise<void> {
    await openAllDiffs(this.require(), this.#title);
  }

  /**
   * One file by itself, as it is once what is being opened or read anew is there.
   * @param line of the new text, from 1; the first change unless given
   */
  openFile({ path }: ReviewFile, line: number | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const review = this.require();
      const file = review.files.find((each) => each.path === path);
      if (file) await openDiff(review, file, { line });
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run('desk', work);
  }

  /** The task has changed: taken up again, finished, renamed, or its worktree is gone. */
  async #followTask(): Promise<void> {
    try {
      await this.reload();
    } catch (error) {
      if (!(error instanceof ReviewRefusal)) this.onError(error);
      else await this.close();
    }
  }

  async #close(): Promise<void> {
    if (this.#review === undefined) return;
    this.#review = undefined;
    await this.comments.begin(undefined);
    await vscode.commands.executeCommand('setContext', ContextKeys.reviewing, false);
    this.#draw();
    await closeDiffs();
    await closeAllDiffs(this.#title);
  }

  async #show(review: Review): Promise<void> {
    this.#review = review;
    this.#title = vscode.l10n.t('Review of {0}: {1}', review.taskId, this.#subject(review));
    this.checks.keepOnly(review);
    await this.comments.begin(review);
    this.#draw();
    // The view is there once this is set.
    await vscode.commands.executeCommand('setContext', ContextKeys.reviewing, true);
  }

  #subject({ taskId }: Review): string {
    return plainLine(this.session.core()?.task(taskId)?.subject ?? '', 60);
  }

  #draw(): void {
    const review = this.#review;
    if (review === undefined) {
      this.#tree.show(undefined, '', undefined);
      return;
    }
    const lines = [
      review.workingMember === undefined
        ? vscode.l10n.t(
            'What is checked is accepted into {0}.',
            review.into || vscode.l10n.t('a detached HEAD'),
          )
        : vscode.l10n.t(
            '{0} still works on it. It can be accepted once it is finished.',
            review.workingMember,
          ),
    ];
    const { changedSubmodules = [] } = review;
    if (changedSubmodules.length > 0) lines.push(submodulesLine(changedSubmodules));
    const { count } = this.comments;
    if (count === 1) lines.push(vscode.l10n.t('1 comment goes with it when you send it back.'));
    if (count > 1) lines.push(vscode.l10n.t('{0} comments go with it when you send it back.', count));
    this.#tree.show(review, `${review.taskId} · ${this.#subject(review)}`, lines.join(' '));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#tree.dispose();
    this.#files.dispose();
    this.comments.dispose();
    this.merges.dispose();
  }
}
