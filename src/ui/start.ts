import * as vscode from 'vscode';
import type { Attention } from '../model/attention';
import type { ListedModel } from '../model/modelList';
import { createApi, type HandshakeApi } from './api';
import { BoardDrag, TeamDrop } from './boardDrag';
import { BoardTree } from './boardTree';
import { registerBoardCommands } from './commands/boardCommands';
import { registerBudgetCommands } from './commands/budgetCommands';
import { registerMemberCommands } from './commands/memberCommands';
import { registerModelCommands } from './commands/modelCommands';
import { registerRequestCommands } from './commands/requestCommands';
import { registerReviewCommands } from './commands/reviewCommands';
import { registerSourceCommands } from './commands/sourceCommands';
import { registerViewCommands } from './commands/viewCommands';
import { Commands, Settings, Views } from './contributions';
import { Decider } from './decider';
import { ErrorNotifications } from './errorNotifications';
import { eventLine } from './eventLine';
import type { FileKeys } from './fileKeys';
import type { KeyStore } from './keyStore';
import type { ModelChoice } from './modelChoice';
import { RequestNotifications } from './notifications';
import { registerOwnershipCommands } from './ownershipCommands';
import { OwnershipNotices } from './ownershipNotices';
import { RequestsTree } from './requestsTree';
import { offerToResume } from './resume';
import { ReviewDesk } from './reviewDesk';
import { ReviewNotices } from './reviewNotices';
import type { ConversationPort, Seat } from './seat';
import type { OpenTeamIn, Session } from './session';
import { coreSettings, notificationLevelSetting, tellUnreadNumbers } from './settings';
import { StatusBar } from './statusBar';
import { TaskDocuments } from './taskDocument';
import { TeamTree } from './teamTree';
import { TranscriptDocuments } from './transcriptDocument';
import type { DraftFiles } from './webviewDrafts';
import { offerWorkspaceKey } from './workspaceKey';

/** What the seat needs of the other rooms; `extension.ts` brings it. */
export interface SeatParts {
  log: vscode.LogOutputChannel;
  session: Session;
  keys: KeyStore;
  files: FileKeys;
  attention: Attention;
  choice: ModelChoice;
  openTeam: OpenTeamIn;
  conversation: ConversationPort;
  panels: Seat['panels'];
  /** Keeps what is typed and not sent. */
  drafts: DraftFiles;
  listModels(signal: AbortSignal): Promise<readonly ListedModel[]>;
  listVscodeModels(): Promise<readonly ListedModel[]>;
}

/**
 * Puts up everything the human sees and uses, then opens the team.
 * @returns the API for other extensions, once the team is open (or cannot be)
 */
export async function startSeat(context: vscode.ExtensionContext, parts: SeatParts): Promise<HandshakeApi> {
  const { log, session, choice, conversation, panels } = parts;
  const own = <T extends vscode.Disposable>(disposable: T): T => {
    context.subscriptions.push(disposable);
    return disposable;
  };

  own(
    session.onEvent((event) => {
      const line = eventLine(event);
      if (line) log[line.level](line.text);
    }),
  );
  const decider = new Decider(
    () => session.require(),
    (error) => log.error('A listener of decisions failed.', error),
  );
  const requests = own(new RequestsTree(session, decider));
  own(new TeamTree(session, requests, requests.onDidRedraw, new TeamDrop(session, log)));
  const board = own(new BoardTree(session, new BoardDrag(session, log)));
  own(new StatusBar(session, () => choice.isDemo, choice.onDidChange));
  const transcripts = own(new TranscriptDocuments(session));
  const tasks = own(new TaskDocuments(session));
  const desk = own(
    new ReviewDesk(session, parts.drafts, (error) =>
      log.error('The review could not be read anew.', error instanceof Error ? error : String(error)),
    ),
  );
  const seat: Seat = {
    ...parts,
    decider,
    transcripts,
    tasks,
    desk,
    selectedRequest: () => requests.selected(),
    selectedTask: () => board.selected(),
  };
  own(
    new RequestNotifications(
      session,
      decider,
      {
        level: notificationLevelSetting,
        approvals: () => coreSettings().approvals,
        review: (requestId) => panels.show(requestId),
        showRequests: () => void vscode.commands.executeCommand(`${Views.requests}.focus`),
      },
      log,
    ),
  );
  own(
    new ErrorNotifications(
      session,
      { level: notificationLevelSetting, conversationVisible: () => conversation.isVisible() },
      log,
    ),
  );
  own(
    new ReviewNotices(session, notificationLevelSetting, (error) =>
      log.error('A notification failed.', error instanceof Error ? error : String(error)),
    ),
  );
  const commands = [
    ...registerRequestCommands(seat),
    ...registerMemberCommands(seat),
    ...registerViewCommands(seat),
    ...registerModelCommands(seat),
    ...registerBudgetCommands(seat),
    ...registerSourceCommands(seat),
    ...registerBoardCommands(seat),
    ...registerReviewCommands(seat),
    ...registerOwnershipCommands(session, log),
  ];
  for (const command of commands) own(command);
  own(warnOfChangedBaseUrl(choice));
  own(tellUnreadNumbers((text) => log.warn(text)));
  own(
    vscode.workspace.onDidChangeConfiguration((event) => {
      const raised = [Settings.tokenBudget, Settings.memberTokenBudget].some((id) =>
        event.affectsConfiguration(id),
      );
      if (raised) session.core()?.recheck('budget');
    }),
  );

  own(new OwnershipNotices(session, () => offerToResume(session, log), notificationLevelSetting, log));

  await session.open(parts.openTeam);
  offerToResume(session, log);
  own(offerWorkspaceKey(seat, (error) => log.error('A notification failed.', error)));
  return own(createApi(session));
}

/** A key stays with the address it was set for; when the setting moves away from it, a new one is needed. */
function warnOfChangedBaseUrl(choice: ModelChoice): vscode.Disposable {
  return choice.onDidMissKey(async (why) => {
    const setKey = vscode.l10n.t('Set API Key');
    const label = await vscode.window.showWarningMessage(why, setKey);
    if (label === setKey) await vscode.commands.executeCommand(Commands.setApiKey);
  });
}
