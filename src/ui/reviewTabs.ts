import * as vscode from 'vscode';
import type { Review, ReviewFile } from '../agent/reviewApi';
import { REVIEW_SCHEME } from './contributions';
import { shownIn, sideUri } from './reviewFiles';
import { firstChangedLine, isLabelOf, lineToGoOnAt } from './reviewModel';

/** The tabs of a review: the diff of each file by itself, and the one with all of them. */

export interface DiffPlace {
  /** Of the new text, from 1; the first change unless given. */
  line?: number | undefined;
  column?: vscode.ViewColumn;
  /** Default true: the next diff takes its place. */
  preview?: boolean;
}

/** One file in VS Code's own diff editor. */
export async function openDiff(review: Review, file: ReviewFile, place: DiffPlace = {}): Promise<void> {
  const { line = firstLine(file), column, preview = true } = place;
  await vscode.commands.executeCommand(
    'vscode.diff',
    sideUri(review.taskId, file, 'base'),
    sideUri(review.taskId, file, 'work'),
    vscode.l10n.t('{0} (work of {1})', file.path, review.taskId),
    {
      preview,
      preserveFocus: true,
      ...(column === undefined ? {} : { viewColumn: column }),
      ...(line === undefined ? {} : { selection: new vscode.Range(line - 1, 0, line - 1, 0) }),
    },
  );
}

const firstLine = ({ hunks: [first] }: ReviewFile): number | undefined => first && firstChangedLine(first);

/** All files in VS Code's multi-file diff editor. */
export async function openAllDiffs(review: Review, title: string): Promise<void> {
  const rows = review.files.map((file) => [
    sideUri(review.taskId, file, 'work'),
    file.baseBlob === undefined ? undefined : sideUri(review.taskId, file, 'base'),
    file.workBlob === undefined ? undefined : sideUri(review.taskId, file, 'work'),
  ]);
  await vscode.commands.executeCommand('vscode.changes', title, rows);
}

/**
 * @param titles that it may have been opened under
 * @returns whether it was in sight
 */
export function closeAllDiffs(...titles: readonly string[]): Promise<boolean> {
  const names = titles.filter((title) => title !== '');
  // Extensions are told nothing of it but its label.
  return closeTabs(
    ({ input, label }) =>
      !(input instanceof vscode.TabInputTextDiff) && names.some((title) => isLabelOf(label, title)),
  );
}

export async function closeDiffs(): Promise<void> {
  await closeTabs((tab) => diffOf(tab) !== undefined);
}

/** Diffs of what is no longer so are closed; those in sight go on with their file, as long as it is in the review. */
export async function refreshDiffs(review: Review): Promise<void> {
  const pairs = new Set(review.files.map((file) => pairOf(review.taskId, file)));
  const isPast = (tab: vscode.Tab): boolean => {
    const diff = diffOf(tab);
    return diff !== undefined && !pairs.has(`${diff.original} ${diff.modified}`);
  };
  for (const tab of allTabs().filter(({ isActive }) => isActive)) {
    const diff = diffOf(tab);
    if (diff === undefined || !isPast(tab)) continue;
    const file = fileShown(review, diff.modified);
    if (file === undefined) continue;
    const cursor = cursorIn(diff.modified);
    const line = cursor === undefined ? undefined : lineToGoOnAt(file, cursor);
    await openDiff(review, file, { line, column: tab.group.viewColumn, preview: tab.isPreview });
  }
  await closeTabs(isPast);
}

/** The file of a review that one of the sides of a diff shows, in whatever state. */
export function fileShown(review: Review, uri: vscode.Uri): ReviewFile | undefined {
  const shown = shownIn(uri);
  if (shown?.taskId !== review.taskId) return undefined;
  return review.files.find(
    ({ path, oldPath }) => shown.path === (shown.side === 'base' ? (oldPath ?? path) : path),
  );
}

/** The line that whoever works in this document has the cursor in, from 1. */
function cursorIn(uri: vscode.Uri): number | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.uri.toString() === uri.toString() ? editor.selection.active.line + 1 : undefined;
}

/** Both sides of a file's diff. */
const pairOf = (taskId: string, file: ReviewFile): string =>
  `${sideUri(taskId, file, 'base')} ${sideUri(taskId, file, 'work')}`;

/** What a tab shows, where it is the diff of one file of a review. */
function diffOf({ input }: vscode.Tab): vscode.TabInputTextDiff | undefined {
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === REVIEW_SCHEME
    ? input
    : undefined;
}

const allTabs = (): vscode.Tab[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs);

/** @returns whether one of them was in sight */
async function closeTabs(fits: (tab: vscode.Tab) => boolean): Promise<boolean> {
  const tabs = allTabs().filter(fits);
  const inSight = tabs.some(({ isActive }) => isActive);
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  return inSight;
}
