import * as vscode from 'vscode';
import type { Core } from '../../agent/coreApi';
import type { ReviewFile, ReviewSelection } from '../../agent/reviewApi';
import type { Way } from '../../protocol';
import type { Task } from '../../team/task';
import { askTask } from '../askTask';
import { isToReview } from '../boardModel';
import { Commands, TreeCommands } from '../contributions';
import { HunkNode, ReviewFileNode } from '../nodes';
import { acceptWork, removeWorktree, sendBack } from '../reviewActions';
import { isReply } from '../reviewComments';
import { shownIn } from '../reviewFiles';
import { firstChangedLine, hunkAt } from '../reviewModel';
import { fileShown } from '../reviewTabs';
import type { Seat } from '../seat';
import { taskOf } from '../taskActions';
import { UserError } from '../userError';
import { rowTask } from './boardCommands';
import { type Call, optionalText, registerCommand, registerRowCommand, requiredText } from './register';

const hasWorktree = (task: Task): boolean => task.worktree !== undefined;

/** Commands that look at finished work, take it over, or send it back. */
export function registerReviewCommands(seat: Seat): vscode.Disposable[] {
  const { log, session, desk } = seat;
  const ask = (core: Core, title: string, fits = hasWorktree): Promise<string> =>
    askTask(core, title, fits, desk.review?.taskId ?? seat.selectedTask());
  const taskFor = async (core: Core, call: Call, title: string): Promise<string> =>
    call.asks ? (desk.review?.taskId ?? (await ask(core, title))) : call.get(0, 'taskId', requiredText);
  return [
    registerCommand(Commands.reviewWork, log, async (call) => {
      const core = await session.requireToRead();
      const title = vscode.l10n.t('Review work');
      return review(
        seat,
        core,
        call.asks ? await nextOrAsked(seat, core, title) : call.get(0, 'taskId', requiredText),
      );
    }),
    registerRowCommand(TreeCommands.reviewWork, log, async (row) => {
      await review(seat, await session.requireToRead(), rowTask(row));
    }),
    registerCommand(Commands.acceptWork, log, async (call) => {
      const core = await session.require();
      if (!call.asks) {
        const { revision, ...shown } = await core.reviewWork(call.get(0, 'taskId', requiredText));
        refuseFromCode(core, shown.taskId, { via: 'command' });
        return acceptWork(seat, core, { revision, ...shown }, { everything: revision });
      }
      const shown = desk.require();
      refuseFromCode(core, shown.taskId, { via: 'ui', prompted: true });
      return acceptWork(seat, core, shown, desk.checks.selection(shown));
    }),
    registerRowCommand(TreeCommands.acceptChange, log, async (row) => {
      await acceptWork(seat, await session.require(), desk.require(), selectionOf(seat, row));
    }),
    registerRowCommand(TreeCommands.acceptPart, log, async () => {
      await acceptWork(seat, await session.require(), desk.require(), partAtCursor(seat));
    }),
    registerCommand(Commands.sendBack, log, async (call) => {
      const core = await session.require();
      const taskId = await taskFor(core, call, vscode.l10n.t('Send work back'));
      await sendBack(seat, core, taskId, call.asks ? undefined : call.get(1, 'comments', optionalText));
    }),
    registerCommand(Commands.closeReview, log, () => desk.close()),
    registerRowCommand(TreeCommands.openAllChanges, log, () => desk.openAll()),
    registerRowCommand(TreeCommands.openChange, log, (row) => openChange(seat, row)),
    registerRowCommand(TreeCommands.openWorkFile, log, async (row) => {
      const shown = desk.require();
      const { path } = fileOf(seat, row);
      await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.Uri.file(shown.folder), path));
    }),
    registerRowCommand(TreeCommands.addComment, log, async (reply) => {
      if (isReply(reply)) desk.comments.add(reply);
    }),
    registerRowCommand(TreeCommands.deleteComment, log, async (thread) => desk.comments.remove(thread)),
    registerCommand(Commands.createWorktree, log, async (call) => {
      const core = await session.require();
      const fits = (task: Task): boolean => !hasWorktree(task) && task.status !== 'completed';
      const title = vscode.l10n.t('Create a worktree for a task');
      const id = call.asks
        ? await askTask(core, title, fits, seat.selectedTask())
        : call.get(0, 'taskId', requiredText);
      return (await core.createWorktree(id)).path;
    }),
    registerRowCommand(TreeCommands.createWorktree, log, async (row) => {
      await (await session.require()).createWorktree(rowTask(row));
    }),
    registerCommand(Commands.removeWorktree, log, async (call) => {
      const core = await session.require();
      const title = vscode.l10n.t('Remove a worktree');
      await removeWorktree(core, call.asks ? await ask(core, title) : call.get(0, 'taskId', requiredText));
    }),
    registerRowCommand(TreeCommands.removeWorktree, log, async (row) => {
      await removeWorktree(await session.require(), rowTask(row));
    }),
  ];
}

/** Also of the command without arguments: whoever runs it may be code. */
function refuseFromCode(core: Core, taskId: string, way: Way): void {
  core.refuseFromCode(
    `the work of ${taskId} is not accepted`,
    'Accept its files at their rows in the Review view, or wait until the tool has ended.',
    way,
  );
}

async function review(seat: Seat, core: Core, taskId: string) {
  taskOf(core, taskId);
  const shown = await seat.desk.open(taskId);
  if (shown.files.length > 0) return shown.files.map(({ path, status }) => ({ path, status }));
  const remove = vscode.l10n.t('Remove Worktree');
  const text = vscode.l10n.t(
    '{0} holds nothing that is not in {1}.',
    taskId,
    shown.into || vscode.l10n.t('your branch'),
  );
  void vscode.window.showInformationMessage(text, remove).then((label) => {
    if (label === remove) void vscode.commands.executeCommand(Commands.removeWorktree, taskId);
  });
  return [];
}

/** The selected task, else the only one that waits for a review, else whatever is chosen. */
async function nextOrAsked(seat: Seat, core: Core, title: string): Promise<string> {
  const selected = seat.selectedTask();
  if (selected !== undefined && core.task(selected)?.worktree !== undefined) return selected;
  const [only, ...others] = core.tasks().filter(isToReview);
  if (only && others.length === 0) return only.id;
  return askTask(core, title, hasWorktree, only?.id);
}

async function openChange({ desk }: Seat, row: unknown): Promise<void> {
  if (!(row instanceof HunkNode || row instanceof ReviewFileNode)) return;
  const line = row instanceof HunkNode ? firstChangedLine(row.hunk) : undefined;
  await desk.openFile(row.file, line);
}

function selectionOf(seat: Seat, row: unknown): ReviewSelection {
  if (row instanceof HunkNode) return { hunks: [row.hunk.id] };
  return { files: [fileOf(seat, row).id] };
}

/** The file of a row, or of the diff whose button was pressed. */
function fileOf({ desk }: Seat, row: unknown): ReviewFile {
  if (row instanceof ReviewFileNode || row instanceof HunkNode) return row.file;
  const uri = row instanceof vscode.Uri ? row : vscode.window.activeTextEditor?.document.uri;
  const file = uri && fileShown(desk.require(), uri);
  if (file) return file;
  throw new UserError(vscode.l10n.t('This is not a file of the work under review.'));
}

/** The part of the change that the cursor of the diff stands in, on either side. */
function partAtCursor(seat: Seat): ReviewSelection {
  const editor = vscode.window.activeTextEditor;
  const file = fileOf(seat, editor?.document.uri);
  const side = editor && shownIn(editor.document.uri)?.side;
  const hunk = editor && hunkAt(file, editor.selection.active.line + 1, side);
  if (hunk) return { hunks: [hunk.id] };
  throw new UserError(vscode.l10n.t('Put the cursor into a change first.'));
}
