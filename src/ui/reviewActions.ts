import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import {
  type AcceptOutcome,
  type Review,
  ReviewRefusal,
  type ReviewSelection,
  WorktreeRefusal,
} from '../agent/reviewApi';
import { askOptionalText, askText } from './ask';
import { Commands } from './contributions';
import { plainLine } from './plainText';
import { reportProblem } from './report';
import type { ReviewDesk } from './reviewDesk';
import { commentsMessage } from './reviewModel';
import { checkSentence, lossLines, outcomeSentence } from './reviewTexts';
import { Cancelled, UserError } from './userError';

export interface ReviewParts {
  readonly desk: ReviewDesk;
  readonly log: vscode.LogOutputChannel;
}

/**
 * Takes a selection over into the human's branch, runs the check, and shows what came of both.
 * @throws {UserError} when it is refused
 */
export async function acceptWork(
  parts: ReviewParts,
  core: Core,
  review: Review,
  selection: ReviewSelection | undefined,
): Promise<AcceptOutcome> {
  if (selection === undefined) {
    throw new UserError(vscode.l10n.t('Nothing is checked. Check what is to be accepted first.'));
  }
  refuseUnsaved(review);
  const { taskId } = review;
  const outcome = await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Accepting {0}', taskId),
      cancellable: true,
    },
    (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => abort.abort());
      return core
        .acceptWork(taskId, selection, {
          signal: abort.signal,
          onCheck: (command) =>
            progress.report({ message: vscode.l10n.t('running {0}', plainLine(command, 60)) }),
        })
        .catch((error: unknown) => refused(parts, error));
    },
  );
  await parts.desk.reload();
  await tell(parts, core, review, outcome);
  return outcome;
}

/** What the editor has not saved would stand against what comes into the file. */
function refuseUnsaved(review: Review): void {
  const touched = new Set(review.files.map((file) => path.join(review.mainFolder, file.path)));
  const unsaved = vscode.workspace.textDocuments.filter(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file' && touched.has(uri.fsPath),
  );
  if (unsaved.length === 0) return;
  const names = unsaved.map(({ uri }) => plainLine(path.basename(uri.fsPath), 60)).join(', ');
  throw new UserError(vscode.l10n.t('Save these first, they are changed in the work too: {0}', names), [
    { label: vscode.l10n.t('Save'), run: () => void Promise.all(unsaved.map((document) => document.save())) },
  ]);
}

/** @throws {UserError} with what helps; what was shown is read anew where it is no longer so */
async function refused({ desk, log }: ReviewParts, error: unknown): Promise<never> {
  if (!(error instanceof ReviewRefusal)) throw error;
  log.warn(`Refused (${error.code}): ${error.message}`);
  if (error.code === 'changed_meanwhile') {
    await desk.reload().catch((again: unknown) => reportProblem(again, log));
  }
  const openScm = {
    label: vscode.l10n.t('Open Source Control'),
    run: () => void vscode.commands.executeCommand('workbench.view.scm'),
  };
  const helps = error.code === 'local_changes' || error.code === 'merge_in_progress';
  throw new UserError(error.message, helps ? [openScm] : []);
}

/** Shows the outcome without waiting for anybody to close the message. */
async function tell(
  { desk, log }: ReviewParts,
  core: Core,
  review: Review,
  outcome: AcceptOutcome,
): Promise<void> {
  const text = outcomeSentence(review.taskId, review.into, outcome);
  const { check } = outcome;
  log.info(text);
  if (check !== undefined) log.info(`${checkSentence(check)}\n${check.output}`);
  if (outcome.outcome === 'conflicts') {
    void vscode.window.showWarningMessage(text);
    await desk.merges.open(core, review, outcome.conflicts);
    return;
  }
  if (check !== undefined && !check.passed) {
    const showOutput = vscode.l10n.t('Show Output');
    void vscode.window.showWarningMessage(text, showOutput).then((label) => {
      if (label === showOutput) log.show();
    });
    return;
  }
  const remove = vscode.l10n.t('Remove Worktree');
  const offers = outcome.remaining === 0 && outcome.mode === 'commit' ? [remove] : [];
  void vscode.window.showInformationMessage(text, ...offers).then((label) => {
    if (label === remove) void vscode.commands.executeCommand(Commands.removeWorktree, review.taskId);
  });
}

/** Sends the work back with the comments of its diffs and a word about the whole. */
export async function sendBack(
  { desk }: ReviewParts,
  core: Core,
  taskId: string,
  given: string | undefined,
): Promise<void> {
  const comments = desk.review?.taskId === taskId ? await desk.comments.all() : [];
  const overall = given ?? (await askOverall(taskId, comments.length));
  await core.sendBack(taskId, commentsMessage(overall, comments));
  if (desk.review?.taskId === taskId) {
    desk.comments.forget();
    await desk.close();
  }
  const owner = core.task(taskId)?.owner;
  const told =
    owner === undefined
      ? vscode.l10n.t('{0} was sent back to the board', taskId)
      : vscode.l10n.t('{0} was sent back to {1}', taskId, owner);
  vscode.window.setStatusBarMessage(`$(check) ${told}`, 4000);
}

function askOverall(taskId: string, comments: number): Promise<string> {
  const title = vscode.l10n.t('Send {0} back', taskId);
  if (comments === 0) return askText(title, vscode.l10n.t('What should change?'));
  const prompt =
    comments === 1
      ? vscode.l10n.t('1 comment goes with it. A word about the whole? It may stay empty.')
      : vscode.l10n.t('{0} comments go with it. A word about the whole? It may stay empty.', comments);
  return askOptionalText(title, prompt);
}

/** Removes a worktree; where something would be lost, only after a clear yes. */
export async function removeWorktree(core: Core, taskId: string): Promise<void> {
  try {
    await core.removeWorktree(taskId);
  } catch (error) {
    if (!(error instanceof WorktreeRefusal)) throw error;
    const remove = vscode.l10n.t('Remove All the Same');
    const answer = await vscode.window.showWarningMessage(
      vscode.l10n.t('Remove the worktree of {0}?', taskId),
      {
        modal: true,
        detail: [...lossLines(error.report), vscode.l10n.t('This cannot be taken back.')].join('\n'),
      },
      remove,
    );
    if (answer !== remove) throw new Cancelled();
    await core.removeWorktree(taskId, { force: true });
  }
  vscode.window.setStatusBarMessage(
    `$(check) ${vscode.l10n.t('The worktree of {0} is removed', taskId)}`,
    4000,
  );
}
