import * as vscode from 'vscode';
import { leftWorkText } from './leftWork';
import type { ConversationAction } from './messages';

/** Every text that the extension side of the Conversation writes; translated in one place, plain in tests. */
export interface ConversationTexts {
  older: string;
  stopped: string;
  memberSays(name: string, text: string): string;
  unknownCommand(name: string): string;
  help: string;
  notUnderstood: string;
  notSent(reason: string): string;
  historyFailed(reason: string): string;
  /** Whose work waits for the human's word since a restart. */
  leftWork(names: readonly string[]): string;
  suggestions: readonly string[];
  actions: Readonly<Record<ConversationAction, string>>;
}

export function conversationTexts(): ConversationTexts {
  return {
    older: vscode.l10n.t('Older entries are not shown here. The transcript of the lead has them all.'),
    stopped: vscode.l10n.t('Stopped before it ended.'),
    memberSays: (name, text) => vscode.l10n.t('{0}: {1}', name, text),
    unknownCommand: (name) =>
      vscode.l10n.t(
        "'/{0}' is not a command. Type /help for the list, or put a space before the slash to send it as a message.",
        name,
      ),
    help: vscode.l10n.t(
      '/team   who is in the team and what each is doing\n/inbox  what waits for an answer or to be read\n/tasks  the board: what is to be done, by whom, after what\n/help   this list\n\nEverything else goes to the lead.',
    ),
    notUnderstood: vscode.l10n.t(
      'What the page sent was not understood, and nothing came of it; see the log.',
    ),
    notSent: (reason) => vscode.l10n.t('The message was not sent: {0}', reason),
    historyFailed: (reason) => vscode.l10n.t('The earlier conversation could not be read: {0}', reason),
    leftWork: (names) =>
      vscode.l10n.t('{0} Nothing of it is lost: it goes on when you say so.', leftWorkText(names)),
    // The words the demo understands; they are the same in every language.
    suggestions: [
      'Spawn alice as a coder. Then request her shutdown.',
      "List teammates to see alice's status after shutdown approval",
      'Spawn bob with a risky refactoring task. Review and reject his plan.',
      'Spawn charlie, have him submit a plan, then approve it.',
    ],
    actions: {
      run_demo: vscode.l10n.t('Run the demo'),
      set_key: vscode.l10n.t('Set API key'),
      retry: vscode.l10n.t('Try again'),
      allow_access: vscode.l10n.t('Allow access'),
      go_on: vscode.l10n.t('Go On'),
      raise_budget: vscode.l10n.t('Raise budget'),
      open_requests: vscode.l10n.t('Review'),
      select_model: vscode.l10n.t('Select model'),
      open_settings: vscode.l10n.t('Open settings'),
      show_logs: vscode.l10n.t('Show log'),
      open_folder: vscode.l10n.t('Open folder'),
      take_over: vscode.l10n.t('Take Over'),
      adopt: vscode.l10n.t('Adopt Team'),
    },
  };
}
