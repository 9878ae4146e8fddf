import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Review, ReviewFile, ReviewHunk } from '../agent/reviewApi';
import { TreeCommands, Views } from './contributions';
import { HunkNode, ReviewFileNode, type ReviewNode } from './nodes';
import { plainLine } from './plainText';
import { fileRow, hunkRow, type ReviewChecks, statusText } from './reviewModel';

const STATUS_ICONS = {
  added: { id: 'diff-added', color: 'gitDecoration.addedResourceForeground' },
  modified: { id: 'diff-modified', color: 'gitDecoration.modifiedResourceForeground' },
  deleted: { id: 'diff-removed', color: 'gitDecoration.deletedResourceForeground' },
  renamed: { id: 'diff-renamed', color: 'gitDecoration.renamedResourceForeground' },
  type_changed: { id: 'diff-modified', color: 'gitDecoration.modifiedResourceForeground' },
  submodule: { id: 'file-submodule', color: 'gitDecoration.submoduleResourceForeground' },
} as const;

/** The Review view: the files of the work under review and their parts, each with a box: what is checked is accepted. */
export class ReviewTree implements vscode.TreeDataProvider<ReviewNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: vscode.TreeView<ReviewNode>;
  readonly #checking: vscode.Disposable;
  #review: Review | undefined;

  constructor(private readonly checks: ReviewChecks) {
    this.view = vscode.window.createTreeView<ReviewNode>(Views.changes, {
      treeDataProvider: this,
      manageCheckboxStateManually: true,
      showCollapseAll: true,
    });
    this.#checking = this.view.onDidChangeCheckboxState(({ items }) => {
      for (const [node, state] of items) {
        const checked = state === vscode.TreeItemCheckboxState.Checked;
        if (node.type === 'hunk') checks.setHunk(node.hunk, checked);
        else checks.setFile(node.file, checked);
      }
      this.#changed.fire(undefined);
    });
  }

  show(review: Review | undefined, title: string, message: string | undefined): void {
    this.#review = review;
    this.view.description = title;
    this.view.message = message;
    this.#changed.fire(undefined);
  }

  getChildren(node?: ReviewNode): ReviewNode[] {
    const review = this.#review;
    if (review === undefined || node?.type === 'hunk') return [];
    if (node === undefined) return review.files.map((file) => new ReviewFileNode(review.taskId, file));
    return node.file.hunks.length > 1
      ? node.file.hunks.map((hunk) => new HunkNode(review.taskId, node.file, hunk))
      : [];
  }

  getTreeItem(node: ReviewNode): vscode.TreeItem {
    const item = node.type === 'hunk' ? this.#hunkItem(node.file, node.hunk) : this.#fileItem(node.file);
    item.command = {
      command: TreeCommands.openChange,
      title: vscode.l10n.t('Open Changes'),
      arguments: [node],
    };
    return item;
  }

  #fileItem(file: ReviewFile): vscode.TreeItem {
    const row = fileRow(file, this.checks);
    const { None, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(
      plainLine(path.posix.basename(file.path), 120),
      row.hasHunks ? Collapsed : None,
    );
    item.id = `file:${file.path}`;
    item.description = row.description;
    const { id, color } = STATUS_ICONS[file.status];
    item.iconPath = new vscode.ThemeIcon(id, new vscode.ThemeColor(color));
    item.tooltip = `${file.path} · ${statusText(file.status)}`;
    item.contextValue = `change.file.${file.status}`;
    item.accessibilityInformation = { label: row.spoken };
    item.checkboxState = box(this.checks.stateOf(file) !== 'none');
    return item;
  }

  #hunkItem(file: ReviewFile, hunk: ReviewHunk): vscode.TreeItem {
    const row = hunkRow(hunk, this.checks);
    const item = new vscode.TreeItem(row.label);
    item.id = `hunk:${file.path}:${hunk.id}`;
    item.description = row.description;
    const tooltip = new vscode.MarkdownString();
    tooltip.appendCodeblock(hunk.lines.slice(0, TOOLTIP_LINES).join('\n'), 'diff');
    item.tooltip = tooltip;
    item.contextValue = 'change.hunk';
    item.accessibilityInformation = { label: row.spoken };
    item.checkboxState = box(this.checks.isChecked(hunk));
    return item;
  }

  dispose(): void {
    this.#checking.dispose();
    this.view.dispose();
    this.#changed.dispose();
  }
}

const TOOLTIP_LINES = 40;

function box(checked: boolean): vscode.TreeItem['checkboxState'] {
  return checked
    ? { state: vscode.TreeItemCheckboxState.Checked, tooltip: vscode.l10n.t('Is accepted') }
    : { state: vscode.TreeItemCheckboxState.Unchecked, tooltip: vscode.l10n.t('Stays behind') };
}
