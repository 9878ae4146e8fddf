import * as vscode from 'vscode';
import type { Review, ReviewFile } from '../agent/reviewApi';
import { ContextKeys, REVIEW_SCHEME, Views } from './contributions';
import { plainLine } from './plainText';
import { ReviewComments } from './reviewComments';
import { ReviewFiles, sideUri } from './reviewFiles';
import { isLabelOf, ReviewChecks } from './reviewModel';
import { openAllDiffs, ReviewTree } from './reviewTree';
import type { Session } from './session';
import { UserError } from './userError';
import type { DraftFiles } from './webviewDrafts';

/** The one review that is open, and all that shows it: the Review view, the diffs, the comments. */
export class ReviewDesk implements vscode.Disposable {
  readonly checks = new ReviewChecks();
  readonly comments: ReviewComments;
  readonly #tree = new ReviewTree(this.checks);
  readonly #files: ReviewFiles;
  readonly #subscriptions: vscode.Disposable[];
  #review: Review | undefined;

  /** @param drafts keeps comments that are not sent yet */
  constructor(
    private readonly session: Session,
    drafts: DraftFiles,
  ) {
    this.comments = new ReviewComments(drafts);
    this.#files = new ReviewFiles(session);
    this.#subscriptions = [
      this.comments.onDidChange(() => this.#draw()),
      session.onDidChangeCore(() => void this.close()),
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
  async open(taskId: string): Promise<Review> {
    const core = await this.session.requireToRead();
    const review = await core.reviewWork(taskId);
    if (this.#review?.taskId !== taskId) await this.close();
    if (review.files.length === 0) {
      await this.close();
      return review;
    }
    await this.#show(review);
    await vscode.commands.executeCommand(`${Views.changes}.focus`);
    await closeTabs(allDiffs(this.title(review)));
    await openAllDiffs(review, this.title(review));
    return review;
  }

  /** Reads the work anew, such as after a part of it was taken over. */
  async reload(): Promise<void> {
    const taskId = this.#review?.taskId;
    if (taskId === undefined) return;
    const core = await this.session.requireToRead();
    const review = await core.reviewWork(taskId);
    if (review.files.length === 0) {
      await this.close();
      return;
    }
    await this.#show(review);
    const shown = new Set(review.files.map((file) => pairOf(taskId, file)));
    await closeTabs(oneDiff((pair) => !shown.has(pair)));
    const title = this.title(review);
    if (await closeTabs(allDiffs(title))) await openAllDiffs(review, title);
  }

  async close(): Promise<void> {
    const review = this.#review;
    if (review === undefined) return;
    this.#review = undefined;
    await this.comments.begin(undefined);
    await vscode.commands.executeCommand('setContext', ContextKeys.reviewing, false);
    this.#draw();
    await closeTabs(oneDiff(() => true));
    await closeTabs(allDiffs(this.title(review)));
  }

  /** What the tab of the diffs is called. */
  title({ taskId }: Review): string {
    const subject = plainLine(this.session.core()?.task(taskId)?.subject ?? '', 60);
    return vscode.l10n.t('Review of {0}: {1}', taskId, subject);
  }

  async #show(review: Review): Promise<void> {
    this.#review = review;
    this.checks.keepOnly(review);
    await this.comments.begin(review);
    this.#draw();
    // The view is there once this is set.
    await vscode.commands.executeCommand('setContext', ContextKeys.reviewing, true);
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
    const { count } = this.comments;
    if (count === 1) lines.push(vscode.l10n.t('1 comment goes with it when you send it back.'));
    if (count > 1) lines.push(vscode.l10n.t('{0} comments go with it when you send it back.', count));
    const subject = plainLine(this.session.core()?.task(review.taskId)?.subject ?? '', 60);
    this.#tree.show(review, `${review.taskId} · ${subject}`, lines.join(' '));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#tree.dispose();
    this.#files.dispose();
    this.comments.dispose();
  }
}

/** Both sides of a file's diff, as {@link oneDiff} hands them over. */
const pairOf = (taskId: string, file: ReviewFile): string =>
  `${sideUri(taskId, file, 'base')} ${sideUri(taskId, file, 'work')}`;

/** The tabs with the diff of one file of which this holds. */
const oneDiff =
  (holds: (pair: string) => boolean) =>
  ({ input }: vscode.Tab): boolean =>
    input instanceof vscode.TabInputTextDiff &&
    input.modified.scheme === REVIEW_SCHEME &&
    holds(`${input.original} ${input.modified}`);

/** The tab with all diffs: extensions are told nothing of it but its label. */
const allDiffs =
  (title: string) =>
  ({ input, label }: vscode.Tab): boolean =>
    !(input instanceof vscode.TabInputTextDiff) && isLabelOf(label, title);

/** @returns whether one of them was in sight */
async function closeTabs(fits: (tab: vscode.Tab) => boolean): Promise<boolean> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(fits);
  const inSight = tabs.some(({ isActive }) => isActive);
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  return inSight;
}
