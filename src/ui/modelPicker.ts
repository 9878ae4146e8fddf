import * as vscode from 'vscode';
import type { ListedModel } from '../model/modelList';
import { withoutIcons } from './plainText';
import type { Seat } from './seat';
import { modelSettings } from './settings';
import { Cancelled, problemText } from './userError';

/** `lead` is the whole team's, `teammates` that of teammates alone; an empty id is "as the lead". */
export type PickedModel = { kind: 'model'; id: string; whose: 'lead' | 'teammates' } | { kind: 'demo' };

type Choice = PickedModel | { kind: 'whose'; whose: 'lead' | 'teammates' };

interface Item extends vscode.QuickPickItem {
  choice?: Choice;
}

/** One source of models in the list. */
interface Listed {
  title: string;
  models: readonly ListedModel[];
  note: string;
}

/**
 * A quick pick of the endpoint's models and VS Code's own, with the demo and with whatever is typed.
 * @throws {Cancelled} on Escape
 */
export async function pickModel(
  seat: Pick<Seat, 'listModels' | 'listVscodeModels' | 'choice'>,
  log: vscode.LogOutputChannel,
): Promise<PickedModel> {
  const pick = vscode.window.createQuickPick<Item>();
  const abort = new AbortController();
  let whose: 'lead' | 'teammates' = 'lead';
  const lists: Listed[] = [];

  const draw = () => {
    pick.title =
      whose === 'lead'
        ? vscode.l10n.t('Select the model of the team')
        : vscode.l10n.t('Select the model of the teammates');
    pick.items = itemsOf(lists, pick.value.trim(), whose, seat.choice.isDemo);
  };
  const load = async (title: string, list: () => Promise<readonly ListedModel[]>): Promise<void> => {
    const listed: Listed = { title, models: [], note: '' };
    lists.push(listed);
    try {
      listed.models = await list();
    } catch (error) {
      if (abort.signal.aborted) return;
      listed.note = vscode.l10n.t('The models could not be listed: {0}', problemText(error));
      log.warn(listed.note);
    }
    if (!abort.signal.aborted) draw();
  };

  pick.placeholder = vscode.l10n.t('Choose a model or type its name');
  pick.matchOnDescription = true;
  // As with every question: the focus that goes back late to a webview must not close it.
  pick.ignoreFocusOut = true;
  pick.onDidChangeValue(draw);
  try {
    return await new Promise<PickedModel>((resolve, reject) => {
      pick.onDidAccept(() => {
        const picked = pick.selectedItems[0]?.choice;
        if (picked?.kind !== 'whose') return picked && resolve(picked);
        whose = picked.whose;
        pick.value = '';
        draw();
      });
      pick.onDidHide(() => reject(new Cancelled()));
      pick.busy = true;
      pick.show();
      const loading = [
        load(vscode.l10n.t('models of the endpoint'), () => seat.listModels(abort.signal)),
        load(vscode.l10n.t("VS Code's own models"), () => seat.listVscodeModels()),
      ];
      draw();
      void Promise.all(loading).then(() => {
        if (!abort.signal.aborted) pick.busy = false;
      });
    });
  } finally {
    abort.abort();
    pick.dispose();
  }
}

function itemsOf(
  lists: readonly Listed[],
  typed: string,
  whose: 'lead' | 'teammates',
  isDemo: boolean,
): Item[] {
  const { model, teammateModel } = modelSettings();
  const present = isDemo ? undefined : whose === 'lead' ? model : teammateModel;
  const items: Item[] = [];
  const separate = (label: string) => items.push({ label, kind: vscode.QuickPickItemKind.Separator });
  for (const { title, models, note } of lists) {
    if (models.length > 0 || note !== '') separate(title);
    for (const each of models) {
      items.push({
        label: withoutIcons(each.id),
        description: [each.name === each.id ? '' : withoutIcons(each.name ?? ''), inUse(each.id === present)]
          .filter((part) => part !== '')
          .join(' · '),
        choice: { kind: 'model', id: each.id, whose },
      });
    }
    if (note !== '') items.push({ label: note, alwaysShow: true });
  }
  separate('');
  if (typed !== '' && !lists.some(({ models }) => models.some(({ id }) => id === typed))) {
    items.push({
      label: withoutIcons(typed),
      description: vscode.l10n.t('use this name'),
      choice: { kind: 'model', id: typed, whose },
    });
  }
  if (whose === 'teammates') {
    items.push({
      label: vscode.l10n.t('As the lead'),
      description: inUse(teammateModel === ''),
      choice: { kind: 'model', id: '', whose },
    });
    return items;
  }
  items.push(
    {
      label: vscode.l10n.t('Demo'),
      description: vscode.l10n.t('scripted, no key, no network'),
      choice: { kind: 'demo' },
    },
    {
      label: vscode.l10n.t('Another model for teammates…'),
      description: withoutIcons(teammateModel),
      choice: { kind: 'whose', whose: 'teammates' },
    },
  );
  return items;
}

function inUse(is: boolean): string {
  return is ? vscode.l10n.t('in use') : '';
}
