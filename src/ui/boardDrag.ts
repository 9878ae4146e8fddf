import * as vscode from 'vscode';
import * as z from 'zod';
import { arrangeBoard, phaseOf } from './boardModel';
import { place } from './boardMoves';
import { type BoardNode, MemberNode, TaskNode, type TeamNode } from './nodes';
import { parseJson } from './parseJson';
import { reportProblem } from './report';
import type { Session } from './session';
import { writePlacements } from './taskActions';

/** What rows of the Board view are while they are dragged; VS Code makes the name from the view's id. */
export const TASKS_MIME = 'application/vnd.code.tree.handshake.board';

/** Ids only: what is dropped may come from another window. */
const draggedIds = z.array(z.string()).min(1).max(1000);

/** Tasks are put in another order by dragging them onto the one they shall stand before. */
export class BoardDrag implements vscode.TreeDragAndDropController<BoardNode> {
  readonly dropMimeTypes = [TASKS_MIME];
  readonly dragMimeTypes = [TASKS_MIME];

  constructor(
    private readonly session: Session,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  handleDrag(source: readonly BoardNode[], data: vscode.DataTransfer): void {
    const ids = source.filter((node) => node instanceof TaskNode).map(({ taskId }) => taskId);
    if (ids.length > 0) data.set(TASKS_MIME, new vscode.DataTransferItem(ids));
  }

  async handleDrop(target: BoardNode | undefined, data: vscode.DataTransfer): Promise<void> {
    const ids = await readDragged(data);
    if (ids.length === 0 || !(target instanceof TaskNode || target?.type === 'tasks')) return;
    await this.#report(async () => {
      const core = await this.session.require();
      const tasks = core.tasks();
      const groups = arrangeBoard({ tasks, readOnly: false });
      const phase = target instanceof TaskNode ? target.row.phase : target.phase;
      const group = groups.find((each) => each.phase === phase)?.rows.map(({ taskId }) => taskId) ?? [];
      // Onto the group's head: to its end.
      const beside =
        target instanceof TaskNode ? target.taskId : group.filter((id) => !ids.includes(id)).at(-1);
      if (beside === undefined || (phase !== 'ready' && phase !== 'blocked')) return;
      const done = new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id));
      const movable = tasks.filter((task) => ['ready', 'blocked'].includes(phaseOf(task, done)));
      const side = target instanceof TaskNode && !isBelow(group, ids, beside) ? 'before' : 'after';
      await writePlacements(core, place(movable, ids, beside, side));
    });
  }

  async #report(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      reportProblem(error, this.log);
    }
  }
}

/** A single row that is dragged down takes the place of the one it is dropped on, as one dragged up does. */
function isBelow(group: readonly string[], ids: readonly string[], beside: string): boolean {
  const [only, ...more] = ids;
  const from = only === undefined || more.length > 0 ? -1 : group.indexOf(only);
  return from >= 0 && from < group.indexOf(beside);
}

/** A task dropped on a teammate of the Team view is given to it. */
export class TeamDrop implements vscode.TreeDragAndDropController<TeamNode> {
  readonly dropMimeTypes = [TASKS_MIME];
  readonly dragMimeTypes = [];

  constructor(
    private readonly session: Session,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async handleDrop(target: TeamNode | undefined, data: vscode.DataTransfer): Promise<void> {
    const [id] = await readDragged(data);
    if (id === undefined || !(target instanceof MemberNode)) return;
    try {
      await (await this.session.require()).assignTask(id, target.member);
    } catch (error) {
      reportProblem(error, this.log);
    }
  }
}

async function readDragged(data: vscode.DataTransfer): Promise<string[]> {
  const text = await data.get(TASKS_MIME)?.asString();
  if (text === undefined) return [];
  const parsed = draggedIds.safeParse(parseJson(text));
  return parsed.success ? parsed.data : [];
}
