import * as vscode from 'vscode';
import { LEAD } from '../protocol';
import type { TeamEvent } from '../team/events';
import { Commands } from './contributions';
import type { NotificationLevel } from './notificationsModel';
import { plainLine } from './plainText';
import type { Session } from './session';

export interface ErrorHost {
  level(): NotificationLevel;
  /** True while the user sees the Conversation, which shows the lead's failures itself. */
  conversationVisible(): boolean;
}

interface Problem {
  /** What is told once in a while, however many members meet it. */
  key: string;
  text: string;
  commands: readonly string[];
  /** Of a mere warning; an error otherwise. */
  level?: 'warning';
}

/** Milliseconds in which the same problem is not told again. */
const SILENCE = 60_000;

/** Failed turns and faults of the team as notifications with the button that helps. */
export class ErrorNotifications implements vscode.Disposable {
  /** When each problem was last told, in milliseconds since the epoch. */
  readonly #told = new Map<string, number>();
  readonly #subscription: vscode.Disposable;

  constructor(session: Session, host: ErrorHost, log: vscode.LogOutputChannel) {
    this.#subscription = session.onEvent((event) => {
      const problem = problemOf(event);
      if (!problem || host.level() !== 'all') return;
      // The Conversation shows failures; a warning stands nowhere else.
      if (host.conversationVisible() && problem.level === undefined) return;
      this.#show(problem).catch((error: unknown) => log.error('A notification failed.', error));
    });
  }

  async #show(problem: Problem): Promise<void> {
    const now = Date.now();
    for (const [key, at] of this.#told) if (now - at >= SILENCE) this.#told.delete(key);
    if (this.#told.has(problem.key)) return;
    this.#told.set(problem.key, now);
    const labels: Readonly<Record<string, string>> = {
      [Commands.setApiKey]: vscode.l10n.t('Set API Key'),
      [Commands.runDemo]: vscode.l10n.t('Run Demo'),
      [Commands.selectModel]: vscode.l10n.t('Select Model'),
      [Commands.openConversation]: vscode.l10n.t('Open Conversation'),
      [Commands.showLogs]: vscode.l10n.t('Show Log'),
      [Commands.allowModelAccess]: vscode.l10n.t('Allow Access'),
      [Commands.raiseBudget]: vscode.l10n.t('Raise Budget'),
    };
    const buttons = problem.commands.map((command) => labels[command] ?? command);
    const show =
      problem.level === 'warning' ? vscode.window.showWarningMessage : vscode.window.showErrorMessage;
    const label = await show(problem.text, ...buttons);
    const command = problem.commands.find((id) => labels[id] === label);
    if (command !== undefined && label !== undefined) await vscode.commands.executeCommand(command);
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

function problemOf(event: TeamEvent): Problem | undefined {
  if (event.type === 'turn_ended' && event.error) {
    const { kind, text } = event.error;
    const who = event.member === LEAD ? vscode.l10n.t('The lead') : event.member;
    return {
      // Every member meets a refused key or a dead endpoint; one notification is enough for all of them.
      key: kind === 'internal' || kind === 'other' ? `${kind} ${text}` : kind,
      text: plainLine(vscode.l10n.t('{0} stopped: {1}', who, text), 400),
      commands: commandsFor(kind),
    };
  }
  if (event.type === 'budget' && event.warning !== undefined) {
    const key = `budget ${event.name ?? ''} nearly`;
    return { key, text: event.warning, commands: [Commands.raiseBudget], level: 'warning' };
  }
  if (event.type === 'notice' && event.level === 'error') {
    return { key: event.text, text: plainLine(event.text, 400), commands: [Commands.showLogs] };
  }
  return undefined;
}

function commandsFor(kind: string): readonly string[] {
  switch (kind) {
    case 'no_key':
      return [Commands.setApiKey, Commands.runDemo];
    case 'bad_key':
    case 'expired_key':
      return [Commands.setApiKey, Commands.openConversation];
    case 'no_access':
      return [Commands.allowModelAccess, Commands.selectModel];
    case 'budget':
      return [Commands.raiseBudget, Commands.openConversation];
    case 'unknown_model':
    case 'no_tools':
      return [Commands.selectModel, Commands.openConversation];
    default:
      return [Commands.openConversation, Commands.showLogs];
  }
}
