import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import { isGone } from '../team/member';
import { compareTasks, type Task } from '../team/task';
import { type Choice, pick } from './ask';
import { completedIds, phaseOf, stateText } from './boardModel';
import { plainLine, withoutIcons } from './plainText';
import { memberRow } from './teamModel';
import { Cancelled, UserError } from './userError';

/** Questions of the Board's commands. Escape throws {@link Cancelled}. */

/**
 * Which task.
 * @param fits leaves out those the command makes no sense for
 * @param first offered first, such as the one selected in the Board
 * @throws {UserError} when there is none
 */
export async function askTask(
  core: Core,
  title: string,
  fits: (task: Task) => boolean,
  first: string | undefined,
): Promise<string> {
  const tasks = core.tasks();
  const choices = taskChoices(tasks, fits);
  if (choices.length === 0) throw new UserError(vscode.l10n.t('There is no task this could be for.'));
  const selected = choices.findIndex(({ value }) => value === first);
  if (selected > 0) choices.unshift(...choices.splice(selected, 1));
  return pick(choices, title, vscode.l10n.t('Which task?'));
}

/**
 * After which tasks it comes.
 * @param present those that are checked at first
 */
export async function askDependencies(
  core: Core,
  title: string,
  of: string | undefined,
  present: readonly string[],
): Promise<string[]> {
  const fits = (task: Task): boolean =>
    task.id !== of && (task.status !== 'completed' || present.includes(task.id));
  const choices = taskChoices(core.tasks(), fits).map((choice) => ({
    ...choice,
    picked: present.includes(choice.value),
  }));
  if (choices.length === 0) return [];
  const chosen = await vscode.window.showQuickPick(choices, {
    title,
    placeHolder: vscode.l10n.t('After which tasks? None: it can be begun at once.'),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  if (chosen === undefined) throw new Cancelled();
  return chosen.map(({ value }) => value);
}

/** Who takes it: a teammate that is there. @throws {UserError} when nobody is */
export async function askOwner(core: Core, title: string, present: string | undefined): Promise<string> {
  const choices = core
    .members()
    .filter((member) => !isGone(member) && member.name !== present)
    .map((member): Choice<string> => {
      const row = memberRow(member, core.activity(member.name), core.gateOf(member.name));
      return { label: member.name, description: withoutIcons(row.description), value: member.name };
    });
  if (choices.length === 0) {
    throw new UserError(
      present === undefined
        ? vscode.l10n.t('There is no teammate to give it to. Start one first.')
        : vscode.l10n.t('There is no other teammate to give it to.'),
    );
  }
  return pick(choices, title, vscode.l10n.t('Who takes it?'));
}

function taskChoices(tasks: readonly Task[], fits: (task: Task) => boolean): Choice<string>[] {
  const done = completedIds(tasks);
  return [...tasks]
    .filter(fits)
    .sort(compareTasks)
    .map((task) => {
      const state = stateText(task, phaseOf(task, done));
      const owner = task.owner === undefined ? '' : ` · ${task.owner}`;
      return {
        label: withoutIcons(plainLine(task.subject, 120)),
        description: `${task.id} · ${state}${owner}`,
        value: task.id,
      };
    });
}
