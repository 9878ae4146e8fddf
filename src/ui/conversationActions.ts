import * as vscode from 'vscode';
import { Commands, Views } from './contributions';
import type { ConversationAction } from './messages';
import type { ModelChoice } from './modelChoice';

/** What the buttons of the Conversation do outside of it. */
export function conversationActions(choice: ModelChoice): (action: ConversationAction) => void {
  const run = (command: string, ...args: unknown[]) => void vscode.commands.executeCommand(command, ...args);
  return (action) => {
    switch (action) {
      case 'run_demo':
        // The Conversation is in sight already; the command would open another one.
        void choice.chooseDemo();
        return;
      case 'set_key':
        run(Commands.setApiKey);
        return;
      case 'allow_access':
        run(Commands.allowModelAccess);
        return;
      case 'go_on':
        run(Commands.resumeTeam);
        return;
      case 'raise_budget':
        run(Commands.raiseBudget);
        return;
      case 'open_requests':
        run(`${Views.requests}.focus`);
        return;
      case 'select_model':
        run(Commands.selectModel);
        return;
      case 'open_settings':
        run('workbench.action.openSettings', '@ext:handshake.handshake-team');
        return;
      case 'show_logs':
        run(Commands.showLogs);
        return;
      case 'open_folder':
        run('vscode.openFolder');
        return;
      case 'take_over':
        run(Commands.takeOver);
        return;
      case 'adopt':
        run(Commands.adoptTeam);
        return;
      case 'retry':
        // The Conversation sends the text again itself.
        return;
    }
  };
}
