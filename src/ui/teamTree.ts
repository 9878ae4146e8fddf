import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import { type HandshakeRequest, LEAD } from '../protocol';
import { isUnderWay, type Task } from '../team/task';
import { type TaskRow, taskRow } from './boardModel';
import { taskTooltip } from './boardTooltip';
import { drawnTask, taskItem } from './boardTree';
import { MovedRows } from './calmRows';
import { Coalescer, TREE_PACE_MS } from './coalesce';
import { Views } from './contributions';
import { leaseLines } from './leaseText';
import { type Drawn, LiveRows } from './liveRows';
import { MemberNode, type TeamNode } from './nodes';
import { viewMessage } from './ownershipTexts';
import { isOpen, type RowState, requestRow } from './requestsModel';
import { drawnRequest, requestItem } from './requestsTree';
import { rowItem } from './rowItem';
import type { Session } from './session';
import { pricesSetting } from './settings';
import { leadRow, type MemberRow, memberRow } from './teamModel';
import { appendLine, requestTooltip } from './tooltips';
import { budgetLines, tokensShort, usageLines } from './usageText';

const CHANGES_NO_ROW: ReadonlySet<string> = new Set([
  'text',
  'text_void',
  'message',
  'uncounted',
  'call_retried',
  'call_waits',
  'settled',
]);

/** The Team view: the lead and the teammates, and under each its task and the requests about it that are open. */
export class TeamTree implements vscode.TreeDataProvider<TeamNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<TeamNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #rows = new LiveRows<TeamNode>((node) => this.#changed.fire(node));
  readonly view: vscode.TreeView<TeamNode>;
  readonly #refresh = new Coalescer(() => this.#draw(), TREE_PACE_MS);
  readonly #subscriptions: { dispose(): void }[];
  /** Members that have asked for something, and those that have a task. */
  #asking: ReadonlySet<string> = new Set();
  #owning: ReadonlySet<string> = new Set();
  readonly #moved = new MovedRows(Date.now);
  #movedTimer: NodeJS.Timeout | undefined;
  /** How often a member has begun to ask for something, or begun a task. */
  readonly #asked = new Map<string, number>();

  constructor(
    private readonly session: Session,
    /** The state of request rows, shared with the Requests view so that both look the same. */
    private readonly rows: RowState,
    onRowsChanged: vscode.Event<undefined>,
    dragAndDropController: vscode.TreeDragAndDropController<TeamNode>,
  ) {
    this.view = vscode.window.createTreeView<TeamNode>(Views.team, {
      treeDataProvider: this,
      dragAndDropController,
    });
    this.#subscriptions = [
      session.onDidChangeCore(() => this.#refresh.flush()),
      onRowsChanged(() => this.#refresh.flush()),
      session.onEvent((event) => {
        if (!CHANGES_NO_ROW.has(event.type)) this.#refresh.request();
      }),
    ];
    this.#draw();
  }

  #draw(): void {
    const core = this.session.core();
    this.view.message = this.session.readOnly() && viewMessage(this.session);
    this.#nameFolder();
    this.#rows.draw(core ? this.#drawn(core) : []);
  }

  getChildren(node?: TeamNode): TeamNode[] {
    return node === undefined ? this.#rows.roots : this.#rows.childrenOf(node);
  }

  #drawn(core: Core): Drawn<TeamNode>[] {
    const members = core.members();
    const open = this.#openRequests(core);
    const tasks = tasksUnderWay(core);
    this.#noteMoves([LEAD, ...members.map(({ name }) => name)], tasks, open);
    const names = new Set([...open.keys(), ...tasks.keys()]);
    for (const name of names) {
      const begins =
        (open.has(name) && !this.#asking.has(name)) || (tasks.has(name) && !this.#owning.has(name));
      if (begins) this.#asked.set(name, (this.#asked.get(name) ?? 0) + 1);
    }
    this.#asking = new Set(open.keys());
    this.#owning = new Set(tasks.keys());
    const lead = core.leadStatus();
    const ofLead = core.activity(LEAD);
    // With nobody there the view's welcome says how to begin.
    if (members.length === 0 && lead.status === 'idle' && ofLead.hold === undefined) return [];
    return [
      leadRow(lead, ofLead, tokensShort(core.usage(LEAD))),
      ...members.map((m) =>
        memberRow(m, core.activity(m.name), core.gateOf(m.name), tokensShort(core.usage(m.name))),
      ),
    ].map((row) => this.#drawnMember(core, row, tasks.get(row.name), open.get(row.name) ?? []));
  }

  /** Which folder, where there are several: it is the first. */
  #nameFolder(): void {
    const folders = vscode.workspace.workspaceFolders ?? [];
    this.view.description = folders.length > 1 ? folders[0]?.name : undefined;
  }

  #drawnMember(
    core: Core,
    row: MemberRow,
    task: Task | undefined,
    open: readonly HandshakeRequest[],
  ): Drawn<TeamNode> {
    const rows: RowState = {
      isSettling: (id) => this.rows.isSettling(id),
      isDeciding: (id) => this.rows.isDeciding(id),
      isOverdue: (request) => this.rows.isOverdue(request),
      isMoved: (id) => this.#moved.has(id),
      isReadOnly: () => this.rows.isReadOnly(),
    };
    return {
      id: this.#idOf(row),
      looks: JSON.stringify([row, this.rows.isReadOnly(), tooltipLines(core, row)]),
      make: () => new MemberNode(row),
      update: (node) => {
        if (node.type === 'member') node.row = row;
      },
      children: [
        ...(task === undefined ? [] : [drawnTask(taskBelow(task, this.rows.isReadOnly()), task)]),
        ...open.map((request) => drawnRequest(requestRow(request, rows))),
      ],
    };
  }

  /**
   * VS Code keeps a row of the same id folded once it had nothing below; one that begins to ask shows what.
   * It keeps that id when it has its answer: a menu that is open on it goes on to work.
   */
  #idOf(row: MemberRow): string {
    return `${row.id}:${this.#asked.get(row.name) ?? 0}`;
  }

  getTreeItem(node: TeamNode): vscode.TreeItem {
    if (node.type === 'request') return requestItem(node);
    if (node.type === 'task') return taskItem(node, 'team:');
    const { row } = node;
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = rowItem(row, this.#idOf(row), this.#rows.childrenOf(node).length > 0 ? Expanded : None);
    if (this.rows.isReadOnly()) item.contextValue = `shown.${row.contextValue}`;
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, node: TeamNode): vscode.TreeItem {
    const core = this.session.core();
    if (!core) return item;
    if (node.type === 'request') {
      const request = core.request(node.requestId);
      if (request) item.tooltip = requestTooltip(request, this.rows.isOverdue(request));
      return item;
    }
    if (node.type === 'task') {
      const task = core.task(node.taskId);
      if (task) item.tooltip = taskTooltip(task, core.tasks());
      return item;
    }
    item.tooltip = memberTooltip(core, node.row);
    return item;
  }

  /** Open requests by the member they are about, oldest first. */
  #openRequests(core: Core): Map<string, HandshakeRequest[]> {
    const open = new Map<string, HandshakeRequest[]>();
    for (const request of core.requests()) {
      if (!isOpen(request, this.rows)) continue;
      const others = open.get(request.work.member);
      if (others) others.push(request);
      else open.set(request.work.member, [request]);
    }
    return open;
  }

  /** Requests that now stand where something else stood get their buttons a moment later. */
  #noteMoves(
    members: readonly string[],
    tasks: ReadonlyMap<string, Task>,
    open: ReadonlyMap<string, readonly HandshakeRequest[]>,
  ): void {
    this.#moved.note(
      members.flatMap((name) => [
        name,
        ...(tasks.has(name) ? [`task of ${name}`] : []),
        ...(open.get(name) ?? []).map(({ requestId }) => requestId),
      ]),
    );
    clearTimeout(this.#movedTimer);
    const next = this.#moved.prune();
    if (next !== undefined) this.#movedTimer = setTimeout(() => this.#refresh.flush(), next);
  }

  dispose(): void {
    clearTimeout(this.#movedTimer);
    this.#refresh.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.view.dispose();
    this.#changed.dispose();
  }
}

/** What each member works on; nobody has more than one task under way. */
function tasksUnderWay(core: Core): Map<string, Task> {
  const tasks = new Map<string, Task>();
  for (const task of core.tasks()) {
    if (task.owner !== undefined && isUnderWay(task)) tasks.set(task.owner, task);
  }
  return tasks;
}

/** The row of a task under its owner, who is not named again. */
function taskBelow({ owner: _, ...task }: Task, readOnly: boolean): TaskRow {
  return taskRow(task, 'in_progress', new Set(), readOnly);
}

function memberTooltip(core: Core, row: MemberRow): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString();
  for (const line of tooltipLines(core, row)) appendLine(tooltip, line);
  return tooltip;
}

function tooltipLines(core: Core, row: MemberRow): string[] {
  const lines = [`${row.label} · ${row.description}`];
  const member = core.member(row.name);
  if (member) {
    lines.push(vscode.l10n.t('Started by {0} for: {1}', member.spawnedBy, member.prompt));
    if (member.statusReason) lines.push(member.statusReason);
    if (member.roleFile) lines.push(vscode.l10n.t('Role from {0}', member.roleFile.file));
  }
  lines.push(...leaseLines(core.leases(), row.name));
  const { hold } = core.activity(row.name);
  if (hold) lines.push(hold.text);
  lines.push(...usageLines(core.usage(row.name), pricesSetting()), ...budgetLines(core.budget(row.name)));
  const unread = core.unread(row.name).length;
  if (unread > 0) lines.push(vscode.l10n.t('{0} messages not yet shown', unread));
  return lines;
}
