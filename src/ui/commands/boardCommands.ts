import * as vscode from 'vscode';
import * as z from 'zod';
import type { Core } from '../../agent/coreApi';
import type { Task } from '../../team/task';
import { askOptionalText, askText } from '../ask';
import { askOwner, askTask } from '../askTask';
import { Commands, TreeCommands, Views } from '../contributions';
import { TaskNode } from '../nodes';
import type { Seat } from '../seat';
import { createTask, editTask, moveTask, taskOf } from '../taskActions';
import { UserError } from '../userError';
import { type Call, optionalText, registerCommand, registerRowCommand, requiredText } from './register';

const ids = z.array(requiredText).max(1000);
const newTask = z.object({
  subject: requiredText,
  description: z.string().default(''),
  priority: z.number().int().optional(),
  blockedBy: ids.optional(),
  isolated: z.boolean().optional(),
});
const taskEdit = z.object({
  subject: requiredText.optional(),
  description: z.string().optional(),
  priority: z.number().int().optional(),
  order: z.number().optional(),
  blockedBy: ids.optional(),
  isolated: z.boolean().optional(),
});

const isOpen = (task: Task): boolean => task.status !== 'completed';
const isOwned = (task: Task): boolean => isOpen(task) && task.owner !== undefined;

/** One thing that is done with a task: from its row, by id, or asked for from the palette. */
interface TaskAction {
  command: string;
  row: string;
  title: string;
  fits(task: Task): boolean;
  /** Meant for the selected row, such as by a key, and then asks nothing. */
  ofSelected?: true;
  /** @param call with its arguments after the id; undefined from a row */
  run(core: Core, id: string, call: Call | undefined): Promise<unknown>;
}

/** Commands of the Board. */
export function registerBoardCommands(seat: Seat): vscode.Disposable[] {
  const { log, session } = seat;
  return [
    registerCommand(Commands.showBoard, log, async () => {
      const core = await session.requireToRead();
      await vscode.commands.executeCommand(`${Views.board}.focus`);
      return core.describeTasks();
    }),
    registerCommand(Commands.createTask, log, async (call) => {
      const core = await session.require();
      const task = call.asks ? await createTask(core) : await core.createTask(call.get(0, 'task', newTask));
      return task.id;
    }),
    registerCommand(Commands.openTask, log, async (call) => {
      const core = await session.requireToRead();
      const id = call.asks
        ? await askTask(core, vscode.l10n.t('Open a task'), () => true, seat.selectedTask())
        : call.get(0, 'taskId', requiredText);
      await seat.tasks.open(id);
    }),
    registerRowCommand(TreeCommands.openTask, log, async (row) => seat.tasks.open(rowTask(row))),
    registerRowCommand(TreeCommands.copyTaskId, log, async (row) => {
      await vscode.env.clipboard.writeText(rowTask(row));
    }),
    ...actions().flatMap((action) => registerAction(seat, action)),
  ];
}

function registerAction(seat: Seat, action: TaskAction): vscode.Disposable[] {
  const { log, session } = seat;
  return [
    registerCommand(action.command, log, async (call) => {
      const core = await session.require();
      if (!call.asks) return action.run(core, call.get(0, 'taskId', requiredText), call);
      const selected = seat.selectedTask();
      const id =
        action.ofSelected && selected !== undefined
          ? selected
          : await askTask(core, action.title, action.fits, selected);
      return action.run(core, id, undefined);
    }),
    registerRowCommand(action.row, log, async (row) => {
      await action.run(await session.require(), rowTask(row), undefined);
    }),
  ];
}

function actions(): TaskAction[] {
  return [
    {
      command: Commands.editTask,
      row: TreeCommands.editTask,
      title: vscode.l10n.t('Edit a task'),
      fits: isOpen,
      run: async (core, id, call) => {
        if (call) await core.updateTask(id, call.get(1, 'changes', taskEdit));
        else await editTask(core, id);
      },
    },
    {
      command: Commands.assignTask,
      row: TreeCommands.assignTask,
      title: vscode.l10n.t('Assign a task'),
      fits: isOpen,
      run: async (core, id, call) => {
        const title = vscode.l10n.t('Assign {0}', id);
        const member = call
          ? call.get(1, 'member', requiredText)
          : await askOwner(core, title, taskOf(core, id).owner);
        await core.assignTask(id, member);
      },
    },
    {
      command: Commands.releaseTask,
      row: TreeCommands.releaseTask,
      title: vscode.l10n.t('Take a task back'),
      fits: isOwned,
      run: async (core, id, call) => {
        const prompt = vscode.l10n.t('A note for whoever takes it up next? It may stay empty.');
        const note = call
          ? call.get(1, 'note', optionalText)
          : await askOptionalText(vscode.l10n.t('Take {0} back', id), prompt);
        await core.releaseTask(id, note || undefined);
      },
    },
    {
      command: Commands.blockTask,
      row: TreeCommands.blockTask,
      title: vscode.l10n.t('Block a task'),
      fits: (task) => isOpen(task) && task.status !== 'blocked',
      run: async (core, id, call) => {
        const title = vscode.l10n.t('Block {0}', id);
        const reason = call
          ? call.get(1, 'reason', requiredText)
          : await askText(title, vscode.l10n.t('What has to happen before it can go on?'));
        await core.updateTask(id, { status: 'blocked', reason });
      },
    },
    {
      command: Commands.unblockTask,
      row: TreeCommands.unblockTask,
      title: vscode.l10n.t('Unblock a task'),
      fits: (task) => task.status === 'blocked',
      run: (core, id) => core.updateTask(id, { status: 'pending' }),
    },
    {
      command: Commands.completeTask,
      row: TreeCommands.completeTask,
      title: vscode.l10n.t('Mark a task as done'),
      fits: isOpen,
      run: async (core, id, call) => {
        const prompt = vscode.l10n.t('What came of it? It may stay empty.');
        const result = call
          ? call.get(1, 'result', optionalText)
          : await askOptionalText(vscode.l10n.t('Mark {0} as done', id), prompt);
        await core.completeTask(id, result ?? '');
      },
    },
    {
      command: Commands.moveTaskUp,
      row: TreeCommands.moveTaskUp,
      title: vscode.l10n.t('Move a task up'),
      fits: isWaiting,
      ofSelected: true,
      run: (core, id) => moveTask(core, id, 'up'),
    },
    {
      command: Commands.moveTaskDown,
      row: TreeCommands.moveTaskDown,
      title: vscode.l10n.t('Move a task down'),
      fits: isWaiting,
      ofSelected: true,
      run: (core, id) => moveTask(core, id, 'down'),
    },
  ];
}

function isWaiting(task: Task): boolean {
  return task.status === 'pending' || task.status === 'blocked';
}

/** @throws {UserError} for anything but a row of ours */
export function rowTask(row: unknown): string {
  if (row instanceof TaskNode) return row.taskId;
  throw new UserError(vscode.l10n.t('This command belongs to a row of the Board view.'));
}
