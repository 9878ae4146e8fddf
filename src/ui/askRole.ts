import * as vscode from 'vscode';
import { problemPlace, type RoleList } from '../protocol';
import { askText } from './ask';
import { plainLine, withoutIcons } from './plainText';
import { Cancelled } from './userError';

interface RoleChoice extends vscode.QuickPickItem {
  /** The role; absent on a row that only says something. */
  role?: string;
}

/** A role: one of the workspace's files, or whatever is typed. Without files it is a line of text. */
export function askRole(list: RoleList, title: string, prompt: string): Promise<string> {
  if (list.roles.length === 0 && list.problems.length === 0) {
    return askText(title, prompt, vscode.l10n.t('coder'));
  }
  const known = roleChoices(list);
  const pick = vscode.window.createQuickPick<RoleChoice>();
  pick.title = title;
  pick.placeholder = prompt;
  pick.matchOnDescription = true;
  pick.ignoreFocusOut = true;
  pick.items = known;
  return new Promise((resolve, reject) => {
    pick.onDidChangeValue((value) => {
      pick.items = withTyped(known, value);
    });
    pick.onDidAccept(() => {
      const role = pick.selectedItems[0]?.role;
      if (role === undefined) return;
      resolve(role);
      pick.hide();
    });
    pick.onDidHide(() => {
      reject(new Cancelled());
      pick.dispose();
    });
    pick.show();
  });
}

function roleChoices({ roles, problems }: RoleList): RoleChoice[] {
  const choices = roles.map(
    ({ name, description, file }): RoleChoice => ({
      label: withoutIcons(name),
      description: withoutIcons(plainLine(file, 80)),
      ...(description === '' ? {} : { detail: withoutIcons(plainLine(description, 200)) }),
      role: name,
    }),
  );
  if (problems.length === 0) return choices;
  return [
    ...choices,
    { label: vscode.l10n.t('Not used'), kind: vscode.QuickPickItemKind.Separator },
    ...problems.map(
      (problem): RoleChoice => ({
        label: `$(warning) ${withoutIcons(plainLine(problemPlace(problem), 80))}`,
        description: withoutIcons(plainLine(problem.text, 200)),
      }),
    ),
  ];
}

/** What is typed is a choice of its own, unless a file has that name. */
function withTyped(known: readonly RoleChoice[], value: string): RoleChoice[] {
  const typed = value.trim();
  const same = known.some(({ role }) => role?.toLowerCase() === typed.toLowerCase());
  if (typed === '' || same) return [...known];
  const own: RoleChoice = {
    label: withoutIcons(typed),
    description: vscode.l10n.t('a role without a file'),
    role: typed,
    alwaysShow: true,
  };
  return [...known, own];
}
