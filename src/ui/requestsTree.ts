import * as vscode from 'vscode';
import { type HandshakeRequest, HUMAN } from '../protocol';
import { MovedRows, SettlingRows, sooner } from './calmRows';
import { Coalescer, TREE_PACE_MS } from './coalesce';
import { TreeCommands, Views } from './contributions';
import type { Decider } from './decider';
import { type Drawn, LiveRows } from './liveRows';
import { GroupNode, NoteNode, RequestNode, type RequestsNode, type TeamNode } from './nodes';
import { viewMessage } from './ownershipTexts';
import { arrangeRequests, isOpen, type RequestRow, type RequestsModel, type RowState } from './requestsModel';
import { rowItem } from './rowItem';
import type { Session } from './session';
import { requestTooltip } from './tooltips';

/** The Requests view: what waits, oldest first, and below, folded, what is decided. */
export class RequestsTree implements vscode.TreeDataProvider<RequestsNode>, RowState, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<RequestsNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #redrawn = new vscode.EventEmitter<undefined>();
  /** The state of rows may have changed, also that of rows in another view. */
  readonly onDidRedraw = this.#redrawn.event;
  readonly #rows = new LiveRows<RequestsNode>((node) => this.#changed.fire(node));
  readonly view: vscode.TreeView<RequestsNode>;
  readonly #settling = new SettlingRows(Date.now);
  readonly #moved = new MovedRows(Date.now);
  readonly #refresh = new Coalescer(() => this.refresh(), TREE_PACE_MS);
  #settleTimer: NodeJS.Timeout | undefined;
  readonly #subscriptions: { dispose(): void }[];

  constructor(
    private readonly session: Session,
    private readonly decider: Decider,
  ) {
    this.view = vscode.window.createTreeView<RequestsNode>(Views.requests, {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: false,
    });
    this.#subscriptions = [
      session.onDidChangeCore(() => this.refresh()),
      session.onEvent((event) => {
        if (event.type !== 'request') return;
        if (event.change === 'opened' || event.change === 'overdue') {
          this.#refresh.request();
          return;
        }
        // The buttons go at once; the row itself stays under the pointer for a moment.
        this.#settling.add(event.request.requestId, event.request.decidedBy === HUMAN);
        this.#refresh.flush();
      }),
      decider.onDidChange(() => this.#refresh.flush()),
    ];
    this.refresh();
  }

  isSettling(requestId: string): boolean {
    return this.#settling.has(requestId);
  }

  isDeciding(requestId: string): boolean {
    return this.decider.isDeciding(requestId);
  }

  isMoved(requestId: string): boolean {
    return this.#moved.has(requestId);
  }

  isReadOnly(): boolean {
    return this.session.readOnly() !== undefined;
  }

  isOverdue(request: HandshakeRequest): boolean {
    return this.session.core()?.isOverdue(request) ?? false;
  }

  /** The one request that is selected, if exactly one row is. */
  selected(): string | undefined {
    const [only, ...more] = this.view.selection;
    return only?.type === 'request' && more.length === 0 ? only.requestId : undefined;
  }

  refresh(): void {
    const requests = this.session.core()?.requests() ?? [];
    const open = requests.filter((request) => isOpen(request, this));
    this.#moved.note(open.map(({ requestId }) => requestId));
    // Before anything is drawn by them: what ends while it is being drawn is then drawn once more.
    const next = sooner(this.#settling.prune(), this.#moved.prune());
    const model = arrangeRequests(requests, this);
    // Where nothing can be decided, nothing waits for this human.
    const count = this.isReadOnly() ? 0 : model.pendingCount;
    this.view.badge =
      count === 0
        ? undefined
        : {
            value: count,
            tooltip:
              count === 1
                ? vscode.l10n.t('1 request waits for a decision')
                : vscode.l10n.t('{0} requests wait for a decision', count),
          };
    this.view.message = viewMessage(this.session);
    this.#rows.draw(drawn(model));
    this.#redrawn.fire(undefined);
    clearTimeout(this.#settleTimer);
    if (next !== undefined) this.#settleTimer = setTimeout(() => this.refresh(), next);
  }

  getChildren(node?: RequestsNode): RequestsNode[] {
    return node === undefined ? this.#rows.roots : this.#rows.childrenOf(node);
  }

  getTreeItem(node: RequestsNode): vscode.TreeItem {
    switch (node.type) {
      case 'request':
        return requestItem(node);
      case 'group': {
        const item = new vscode.TreeItem(vscode.l10n.t('Decided'), vscode.TreeItemCollapsibleState.Collapsed);
        item.id = GROUP_ID;
        item.description = String(node.count);
        item.contextValue = 'group.decided';
        return item;
      }
      case 'note': {
        const item = new vscode.TreeItem(node.text);
        item.id = NOTE_ID;
        return item;
      }
    }
  }

  resolveTreeItem(item: vscode.TreeItem, node: RequestsNode): vscode.TreeItem {
    if (node.type === 'request') {
      const request = this.session.core()?.request(node.requestId);
      if (request) item.tooltip = requestTooltip(request, this.isOverdue(request));
    }
    return item;
  }

  dispose(): void {
    clearTimeout(this.#settleTimer);
    this.#refresh.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.view.dispose();
    this.#changed.dispose();
    this.#redrawn.dispose();
  }
}

const GROUP_ID = 'group:decided';
const NOTE_ID = 'note:omitted';

function drawn({ open, decided, omitted }: RequestsModel): Drawn<RequestsNode>[] {
  const count = decided.length + omitted;
  if (count === 0) return open.map(drawnRequest);
  const older: Drawn<RequestsNode>[] = [];
  if (omitted > 0) {
    const text = vscode.l10n.t('{0} older ones', omitted);
    const update = (node: RequestsNode): void => {
      if (node.type === 'note') node.text = text;
    };
    older.push({ id: NOTE_ID, looks: text, make: () => new NoteNode(text), update });
  }
  const group: Drawn<RequestsNode> = {
    id: GROUP_ID,
    looks: String(count),
    make: () => new GroupNode(count),
    update: (node) => {
      if (node.type === 'group') node.count = count;
    },
    children: [...decided.map(drawnRequest), ...older],
  };
  return [...open.map(drawnRequest), group];
}

/** The row of a request, in either tree. */
export function drawnRequest(row: RequestRow): Drawn<RequestsNode> & Drawn<TeamNode> {
  return {
    id: row.id,
    looks: JSON.stringify(row),
    make: () => new RequestNode(row),
    update: (node: RequestsNode | TeamNode) => {
      if (node.type === 'request') node.row = row;
    },
  };
}

/** The row of a request; a click opens it for review. */
export function requestItem(node: RequestNode): vscode.TreeItem {
  const { row } = node;
  const item = rowItem(row, row.id);
  item.command = { command: TreeCommands.review, title: vscode.l10n.t('Review'), arguments: [node] };
  return item;
}
