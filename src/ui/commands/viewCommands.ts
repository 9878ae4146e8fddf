import * as vscode from 'vscode';
import { askText } from '../ask';
import { Commands, Views } from '../contributions';
import type { Seat } from '../seat';
import { registerCommand, requiredText } from './register';

/** Commands that talk with the lead or show something. */
export function registerViewCommands(seat: Seat): vscode.Disposable[] {
  const { log, session, conversation } = seat;
  return [
    registerCommand(Commands.sendToLead, log, async (call) => {
      const core = await session.require();
      if (!call.asks) return core.sendToLead(call.get(0, 'text', requiredText));
      const text = await askText(vscode.l10n.t('Send to the lead'), vscode.l10n.t('What should be done?'));
      await conversation.reveal();
      // The Conversation shows how the turn ends; nothing here waits for it.
      core.sendToLead(text).catch((error: unknown) => log.warn('The lead could not finish its turn.', error));
      return undefined;
    }),
    registerCommand(Commands.openConversation, log, () => conversation.reveal()),
    registerCommand(Commands.openConversationTab, log, async () => conversation.open()),
    registerCommand(Commands.newConversation, log, async () => (await session.require()).newConversation()),
    registerCommand(Commands.showTeam, log, async () => {
      const core = await session.requireToRead();
      await vscode.commands.executeCommand(`${Views.team}.focus`);
      return core.describeTeam();
    }),
    registerCommand(Commands.showInbox, log, async () => {
      const core = await session.requireToRead();
      await vscode.commands.executeCommand(`${Views.requests}.focus`);
      return core.describeInbox();
    }),
    registerCommand(Commands.showLogs, log, async () => log.show()),
  ];
}
