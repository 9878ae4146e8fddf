import * as vscode from 'vscode';
import type { ReadOnlyReason } from '../agent/readOnly';
import { Commands } from './contributions';
import type { NotificationLevel } from './notificationsModel';
import { readOnlyTexts } from './ownershipTexts';
import type { Session } from './session';

/** Milliseconds in which a window that reloads may come back before anybody is told that it is gone. */
const GRACE = 3000;

/**
 * One message when the window turns out to be read-only, when it lost the team, and when the owner is gone;
 * and a word to whoever has to know that the window runs the team again.
 */
export class OwnershipNotices implements vscode.Disposable {
  readonly #subscription: vscode.Disposable;
  #told: ReadOnlyReason['kind'] | undefined;
  #wasReadOnly = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param onRun the window has begun to run a team that it only showed before */
  constructor(
    private readonly session: Session,
    private readonly onRun: () => void,
    private readonly level: () => NotificationLevel,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.#subscription = session.onDidChangeCore(() => this.#look());
  }

  #look(): void {
    const reason = this.session.readOnly();
    clearTimeout(this.#timer);
    if (!reason) {
      if (this.#wasReadOnly && this.session.core()) {
        this.#wasReadOnly = false;
        this.#told = undefined;
        this.onRun();
      }
      return;
    }
    this.#wasReadOnly = true;
    // Whoever knows that it was free sees in the views who has it now.
    if (this.#told === 'free' && reason.kind === 'held') this.#told = 'held';
    if (this.#told === reason.kind || this.level() === 'none') return;
    this.#timer = setTimeout(() => {
      const present = this.session.readOnly();
      if (present && present.kind !== this.#told) this.#tell(present);
    }, GRACE);
  }

  #tell(reason: ReadOnlyReason): void {
    this.#told = reason.kind;
    const { why, label, action } = readOnlyTexts(reason);
    vscode.window.showInformationMessage(why, label).then(
      (chosen) => {
        if (chosen !== label) return;
        void vscode.commands.executeCommand(action === 'adopt' ? Commands.adoptTeam : Commands.takeOver);
      },
      (error: unknown) => this.log.error('That the team is read-only could not be shown.', error),
    );
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscription.dispose();
  }
}
