import * as vscode from 'vscode';
import * as z from 'zod';
import { DEFAULT_BASE_URL, parseBaseUrl } from '../../model/endpoint';
import { Commands, Settings } from '../contributions';
import { baseUrlProblem, keyProblem } from '../keyInput';
import { pickModel } from '../modelPicker';
import { plainAddress } from '../plainText';
import type { Seat } from '../seat';
import { modelSettings } from '../settings';
import { Cancelled, UserError } from '../userError';
import { optionalText, registerCommand, requiredText } from './register';

/** Commands about where the words come from. */
export function registerModelCommands(seat: Seat): vscode.Disposable[] {
  const { log } = seat;
  return [
    registerCommand(Commands.setApiKey, log, async (call) => {
      const key = call.asks ? undefined : call.get(0, 'key', optionalText);
      const baseUrl = call.asks ? undefined : call.get(1, 'baseUrl', optionalText);
      // Whoever chooses the address reads all that the team says from then on.
      seat.session
        .core()
        ?.refuseFromCode(
          'the key and its address are not changed',
          'Wait until the tool has ended, then set the key again.',
          call.asks ? { via: 'ui', prompted: true } : { via: 'command' },
        );
      await setApiKey(seat, key, baseUrl);
    }),
    registerCommand(Commands.clearApiKey, log, async () => {
      await seat.keys.clear();
      const next = seat.choice.credentials();
      void vscode.window.showInformationMessage(
        'missing' in next || seat.choice.isDemo
          ? vscode.l10n.t('The stored API key is forgotten.')
          : vscode.l10n.t('The stored API key is forgotten. The key in {0} is used now.', next.keyName),
      );
    }),
    registerCommand(Commands.selectModel, log, async (call) => {
      const whose = call.asks ? undefined : call.get(1, 'for', z.enum(['lead', 'teammates']).optional());
      if (!call.asks) return useModel(seat, call.get(0, 'model', requiredText), whose ?? 'lead');
      const picked = await pickModel(seat, log);
      if (picked.kind === 'demo') return seat.choice.chooseDemo();
      return useModel(seat, picked.id, picked.whose);
    }),
    registerCommand(Commands.runDemo, log, async () => {
      await seat.session.require();
      await seat.choice.chooseDemo();
      seat.conversation.open();
    }),
  ];
}

async function setApiKey(seat: Seat, key: string | undefined, baseUrl: string | undefined): Promise<void> {
  const wanted = baseUrl?.trim() || modelSettings().baseUrl || seat.keys.key?.baseUrl || DEFAULT_BASE_URL;
  const parsed = parseBaseUrl(wanted);
  if ('problem' in parsed) throw new UserError(baseUrlProblem(wanted) ?? parsed.problem);
  const typed = key ?? (await askKey(parsed.url));
  const problem = keyProblem(typed);
  if (problem !== undefined) throw new UserError(problem);
  await seat.keys.set({ key: typed.trim(), baseUrl: parsed.url });
  await seat.choice.leaveDemo();
  const missing = seat.choice.missing();
  if (missing !== undefined) throw new UserError(missing, [openSetting(Settings.baseUrl)]);
  const { provider } = modelSettings();
  if (provider === 'demo' || provider === 'vscode') {
    throw new UserError(
      vscode.l10n.t('The key is stored, but the setting handshake.provider still says {0}.', provider),
      [openSetting(Settings.provider)],
    );
  }
  void vscode.window.showInformationMessage(
    vscode.l10n.t('The key is stored. It is sent to {0} and nowhere else.', plainAddress(parsed.url)),
  );
}

async function askKey(baseUrl: string): Promise<string> {
  const key = await vscode.window.showInputBox({
    title: vscode.l10n.t('API key for {0}', baseUrl),
    prompt: vscode.l10n.t("Kept in VS Code's secret storage and sent only to {0}.", baseUrl),
    password: true,
    ignoreFocusOut: true,
    validateInput: (value) => (value === '' ? undefined : keyProblem(value)),
  });
  if (key === undefined || key.trim() === '') throw new Cancelled();
  return key;
}

/** @param whose with `lead` the whole team speaks through it, except teammates that have a setting of their own */
async function useModel(seat: Seat, model: string, whose: 'lead' | 'teammates'): Promise<void> {
  const id = whose === 'lead' ? Settings.model : Settings.teammateModel;
  await vscode.workspace
    .getConfiguration()
    .update(id, model === '' ? undefined : model, vscode.ConfigurationTarget.Global);
  await seat.choice.leaveDemo();
}

function openSetting(id: string) {
  return {
    label: vscode.l10n.t('Open Settings'),
    run: () => void vscode.commands.executeCommand('workbench.action.openSettings', id),
  };
}
