import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import type { OpenTeam } from '../agent/openTeam';
import type { ReadOnlyReason } from '../agent/readOnly';
import type { Disposable, TeamEvent } from '../team/events';
import { Commands, ContextKeys } from './contributions';
import { readOnlyTexts } from './ownershipTexts';
import { problemText, UserError } from './userError';

export type SessionState = 'opening' | 'ready' | 'failed' | 'none';

/** Opens the team over one folder; what it throws is shown to the user. */
export type OpenTeamIn = (workspaceRoot: string) => Promise<OpenTeam>;

/**
 * The one place that knows whether there is a team to talk to. Everything of the UI asks here, so that a
 * window without a folder, a team that could not be opened, or one that another window runs, is answered the
 * same way everywhere.
 */
export class Session implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #events = new vscode.EventEmitter<TeamEvent>();
  /** Another core, or none, or why there is none, or why it is read-only. */
  readonly onDidChangeCore = this.#changed.event;
  readonly onEvent = this.#events.event;
  #team: OpenTeam | undefined;
  #heard: Disposable | undefined;
  #state: SessionState = 'opening';
  #why = '';
  #opened: Promise<void> = Promise.resolve();

  constructor(private readonly log: vscode.LogOutputChannel) {}

  get state(): SessionState {
    return this.#state;
  }

  core(): Core | undefined {
    return this.#team?.core;
  }

  /** Why this window only shows the team; undefined where it runs it, or where there is none. */
  readOnly(): ReadOnlyReason | undefined {
    return this.core()?.readOnly;
  }

  /** Why there is no core, in a sentence for the user; empty while there is one. */
  whyNoCore(): string {
    if (this.#team) return '';
    return this.#why || vscode.l10n.t('The team of this folder is being opened.');
  }

  /** Never rejects: what fails is logged and told by {@link whyNoCore} and {@link require}. */
  open(openTeam: OpenTeamIn): Promise<void> {
    this.#opened = this.#open(openTeam);
    return this.#opened;
  }

  /**
   * The core, once it is open, to look at it.
   * @throws {UserError} with the reason and the button that helps
   */
  async requireToRead(): Promise<Core> {
    return (await this.#requireTeam()).core;
  }

  /**
   * The core, once it is open, to change something.
   * @throws {UserError} with the reason and the button that helps
   */
  async require(): Promise<Core> {
    const { core } = await this.#requireTeam();
    if (!core.readOnly) return core;
    const { why, label, action } = readOnlyTexts(core.readOnly);
    const command = action === 'adopt' ? Commands.adoptTeam : Commands.takeOver;
    throw new UserError(why, [{ label, run: () => void vscode.commands.executeCommand(command) }]);
  }

  /** Runs the team in this window. @throws why it cannot, in words for the user */
  async takeOver(): Promise<void> {
    await (await this.#requireTeam()).takeOver();
  }

  /** Goes on in this window with a team that was run elsewhere. @throws why it cannot, in words for the user */
  async adopt(): Promise<void> {
    await (await this.#requireTeam()).adopt();
  }

  async #requireTeam(): Promise<OpenTeam> {
    await this.#opened;
    if (this.#team) return this.#team;
    if (this.#state === 'none') throw new UserError(this.whyNoCore(), [openFolderAction()]);
    throw new UserError(this.whyNoCore(), [
      { label: vscode.l10n.t('Show Log'), run: () => void vscode.commands.executeCommand(Commands.showLogs) },
    ]);
  }

  async #open(openTeam: OpenTeamIn): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0];
    if (!folder) {
      this.#become('none', openFolderText());
      return;
    }
    if (folder.uri.scheme !== 'file') {
      this.#become('none', vscode.l10n.t('Handshake needs a folder on disk; this one is virtual.'));
      return;
    }
    if ((vscode.workspace.workspaceFolders?.length ?? 0) > 1) {
      this.log.info(`Several folders are open; the team works on the first, ${folder.uri.fsPath}.`);
    }
    this.#become('opening', '');
    try {
      const team = await openTeam(folder.uri.fsPath);
      this.#team = team;
      team.onDidChange((change) => {
        if (change === 'core') this.#hear(team);
        this.#become('ready', '');
      });
      this.#hear(team);
      this.#become('ready', '');
    } catch (error) {
      this.log.error(`The team of ${folder.uri.fsPath} could not be opened.`, error);
      this.#become(
        'failed',
        vscode.l10n.t('The team of this folder could not be opened: {0}', problemText(error)),
      );
    }
  }

  /** Listens to the core that is open now, and to no earlier one. */
  #hear(team: OpenTeam): void {
    this.#heard?.dispose();
    this.#heard = team.core.on((event) => this.#events.fire(event));
  }

  #become(state: SessionState, why: string): void {
    this.#state = state;
    this.#why = why;
    const readOnly = this.readOnly();
    void vscode.commands.executeCommand('setContext', ContextKeys.state, state);
    void vscode.commands.executeCommand('setContext', ContextKeys.readOnly, readOnly?.kind ?? '');
    if (readOnly) this.log.info(readOnlyTexts(readOnly).why);
    this.#changed.fire();
  }

  /** Ends the core and frees the team for other windows; resolves when what it had to write is written. */
  async close(): Promise<void> {
    await this.#opened;
    const team = this.#team;
    this.#team = undefined;
    await team?.dispose();
  }

  dispose(): void {
    this.#heard?.dispose();
    this.#changed.dispose();
    this.#events.dispose();
  }
}

function openFolderText(): string {
  return vscode.l10n.t('Open a folder first: Handshake works on a workspace folder.');
}

function openFolderAction() {
  return {
    label: vscode.l10n.t('Open Folder'),
    run: () => void vscode.commands.executeCommand('vscode.openFolder'),
  };
}
