import * as vscode from 'vscode';
import type { Task } from '../team/task';
import { arrangeBoard, type TaskGroup, type TaskRow } from './boardModel';
import { taskTooltip } from './boardTooltip';
import { Coalescer, TREE_PACE_MS } from './coalesce';
import { TreeCommands, Views } from './contributions';
import { type Drawn, LiveRows } from './liveRows';
import { type BoardNode, NoteNode, TaskGroupNode, TaskNode, type TeamNode } from './nodes';
import { viewMessage } from './ownershipTexts';
import { rowItem } from './rowItem';
import type { Session } from './session';

/** The Board view: the tasks in groups, what waits for the human first and what is done last, folded. */
export class BoardTree implements vscode.TreeDataProvider<BoardNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<BoardNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #rows = new LiveRows<BoardNode>((node) => this.#changed.fire(node));
  readonly view: vscode.TreeView<BoardNode>;
  readonly #refresh = new Coalescer(() => this.refresh(), TREE_PACE_MS);
  readonly #subscriptions: { dispose(): void }[];

  constructor(
    private readonly session: Session,
    dragAndDropController: vscode.TreeDragAndDropController<BoardNode>,
  ) {
    this.view = vscode.window.createTreeView<BoardNode>(Views.board, {
      treeDataProvider: this,
      dragAndDropController,
      canSelectMany: true,
    });
    this.#subscriptions = [
      session.onDidChangeCore(() => this.#refresh.flush()),
      session.onEvent((event) => {
        if (event.type === 'task') this.#refresh.request();
      }),
    ];
    this.refresh();
  }

  /** The one task that is selected, if exactly one row is. */
  selected(): string | undefined {
    const [only, ...more] = this.view.selection;
    return only?.type === 'task' && more.length === 0 ? only.taskId : undefined;
  }

  /** Draws the board as it is now. */
  refresh(): void {
    const core = this.session.core();
    this.view.message = this.session.readOnly() && viewMessage(this.session);
    const tasks = core?.tasks() ?? [];
    const byId = new Map(tasks.map((task) => [task.id, task]));
    const groups = arrangeBoard({
      tasks,
      readOnly: this.session.readOnly() !== undefined,
    });
    this.#rows.draw(groups.map((group) => drawnGroup(group, byId)));
  }

  getChildren(node?: BoardNode): BoardNode[] {
    return node === undefined ? this.#rows.roots : this.#rows.childrenOf(node);
  }

  getTreeItem(node: BoardNode): vscode.TreeItem {
    if (node.type === 'task') return taskItem(node);
    if (node.type === 'note') return new vscode.TreeItem(node.text);
    const { label, count, phase } = node.group;
    const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(label, phase === 'completed' ? Collapsed : Expanded);
    item.id = `tasks:${phase}`;
    item.description = String(count);
    item.contextValue = 'tasks';
    item.accessibilityInformation = { label: vscode.l10n.t('{0}, {1} tasks', label, count) };
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, node: BoardNode): vscode.TreeItem {
    const core = this.session.core();
    const task = node.type === 'task' ? core?.task(node.taskId) : undefined;
    if (core && task) {
      item.tooltip = taskTooltip(task, core.tasks());
    }
    return item;
  }

  dispose(): void {
    this.#refresh.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.view.dispose();
    this.#changed.dispose();
  }
}

function drawnGroup(group: TaskGroup, tasks: ReadonlyMap<string, Task>): Drawn<BoardNode> {
  const children = group.rows.map((row) => drawnTask(row, tasks.get(row.taskId)));
  const omitted = vscode.l10n.t('{0} older ones', group.omitted);
  const note: Drawn<BoardNode> = {
    id: 'omitted',
    looks: omitted,
    make: () => new NoteNode(omitted),
    update: () => undefined,
  };
  return {
    id: group.phase,
    looks: String(group.count),
    make: () => new TaskGroupNode(group),
    update: (node) => {
      if (node.type === 'tasks') node.group = group;
    },
    children: group.omitted > 0 ? [...children, note] : children,
  };
}

/**
 * The row of a task, in either tree.
 * @param task all that its tooltip tells
 */
export function drawnTask(row: TaskRow, task: Task | undefined): Drawn<BoardNode> & Drawn<TeamNode> {
  return {
    id: row.id,
    looks: JSON.stringify([row, task]),
    make: () => new TaskNode(row),
    update: (node: BoardNode | TeamNode) => {
      if (node.type === 'task') node.row = row;
    },
  };
}

/**
 * The row of a task; a click opens it.
 * @param parent makes its id another than that of the task's row in the Board
 */
export function taskItem(node: TaskNode, parent = ''): vscode.TreeItem {
  const { row } = node;
  const item = rowItem(row, `${parent}${row.id}`);
  item.command = { command: TreeCommands.openTask, title: vscode.l10n.t('Open'), arguments: [node] };
  return item;
}
