import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import type { Task } from '../team/task';
import { askOptionalText, askText, pick } from './ask';
import { askDependencies } from './askTask';
import { completedIds, phaseOf } from './boardModel';
import { moveByOne, type Placement } from './boardMoves';
import { plainLine } from './plainText';
import { Cancelled, UserError } from './userError';

/** What the human does with a task, from a row as from the palette. */

/** Writes where tasks stand, one after the other. */
export async function writePlacements(core: Core, placements: readonly Placement[]): Promise<void> {
  for (const { id, priority, order } of placements) await core.updateTask(id, { priority, order });
}

/** @throws {UserError} where its place decides nothing */
export async function moveTask(core: Core, id: string, direction: 'up' | 'down'): Promise<void> {
  const tasks = core.tasks();
  const done = completedIds(tasks);
  const phase = phaseOf(taskOf(core, id), done);
  if (phase !== 'ready' && phase !== 'blocked') {
    throw new UserError(vscode.l10n.t('Only tasks that nobody has begun stand in an order.'));
  }
  const group = tasks.filter((task) => phaseOf(task, done) === phase);
  await writePlacements(core, moveByOne(group, id, direction));
}

/** @throws {UserError} that names the id */
export function taskOf(core: Core, id: string): Task {
  const task = core.task(id);
  if (task) return task;
  throw new UserError(vscode.l10n.t("There is no task '{0}'.", plainLine(id, 40)));
}

/** Asks for all a new task needs. */
export async function createTask(core: Core): Promise<Task> {
  const title = vscode.l10n.t('Create a task');
  const subject = await askText(title, vscode.l10n.t('What is to be done, in one line'));
  const description = await askOptionalText(
    title,
    vscode.l10n.t('What else should whoever takes it know? It may stay empty.'),
  );
  const blockedBy = await askDependencies(core, title, undefined, []);
  return core.createTask({ subject, description, blockedBy });
}

type Field = 'subject' | 'description' | 'priority' | 'blockedBy';

/** Asks what of a task is to change, and how. */
export async function editTask(core: Core, id: string): Promise<void> {
  const task = taskOf(core, id);
  const title = vscode.l10n.t('Edit {0}', id);
  const fields: { label: string; description: string; value: Field }[] = [
    { label: vscode.l10n.t('Subject'), description: plainLine(task.subject, 80), value: 'subject' },
    {
      label: vscode.l10n.t('Description'),
      description: plainLine(task.description, 80),
      value: 'description',
    },
    { label: vscode.l10n.t('Priority'), description: String(task.priority), value: 'priority' },
    { label: vscode.l10n.t('Dependencies'), description: task.blockedBy.join(', '), value: 'blockedBy' },
  ];
  const field = await pick(fields, title, vscode.l10n.t('What should change?'));
  await core.updateTask(id, await askChange(core, task, field, title));
}

async function askChange(core: Core, task: Task, field: Field, title: string) {
  switch (field) {
    case 'subject':
      return { subject: await askLine(title, vscode.l10n.t('Subject'), task.subject, notEmpty) };
    case 'description':
      return { description: await askLine(title, vscode.l10n.t('Description'), task.description) };
    case 'priority': {
      const prompt = vscode.l10n.t('Priority, a whole number; higher ones are taken up first');
      return { priority: Number(await askLine(title, prompt, String(task.priority), wholeNumber)) };
    }
    case 'blockedBy':
      return { blockedBy: await askDependencies(core, title, task.id, task.blockedBy) };
  }
}

async function askLine(
  title: string,
  prompt: string,
  value: string,
  validateInput?: (text: string) => string | undefined,
): Promise<string> {
  const text = await vscode.window.showInputBox({
    title,
    prompt,
    value,
    ignoreFocusOut: true,
    ...(validateInput === undefined ? {} : { validateInput }),
  });
  if (text === undefined) throw new Cancelled();
  return text.trim();
}

const notEmpty = (text: string): string | undefined =>
  text.trim() === '' ? vscode.l10n.t('Type something first.') : undefined;

const wholeNumber = (text: string): string | undefined =>
  /^-?\d{1,4}$/.test(text.trim()) ? undefined : vscode.l10n.t('A whole number, such as 0, 5 or -1.');

/** Why a task is taken back or set aside; empty is possible where `optional`. */
export function askWhy(title: string, prompt: string, optional: boolean): Promise<string> {
  return optional ? askOptionalText(title, prompt) : askText(title, prompt);
}
