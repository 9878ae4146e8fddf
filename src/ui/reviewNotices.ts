import * as vscode from 'vscode';
import { isToReview } from './boardModel';
import { Coalescer } from './coalesce';
import { Commands } from './contributions';
import type { NotificationLevel } from './notificationsModel';
import { plainLine } from './plainText';
import type { Session } from './session';

/** Says when finished work waits for the human's review: one notification for all that finish while it is open. */
export class ReviewNotices implements vscode.Disposable {
  readonly #finished = new Set<string>();
  readonly #soon = new Coalescer(() => void this.#tell().catch((error: unknown) => this.onError(error)), 500);
  readonly #subscription: vscode.Disposable;
  #isOpen = false;

  constructor(
    private readonly session: Session,
    level: () => NotificationLevel,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#subscription = session.onEvent((event) => {
      if (event.type !== 'task' || event.change !== 'completed' || session.readOnly()) return;
      const task = session.core()?.task(event.id);
      if (task === undefined || !isToReview(task) || level() !== 'all') return;
      this.#finished.add(task.id);
      this.#soon.request();
    });
  }

  async #tell(): Promise<void> {
    const [id, ...others] = [...this.#finished];
    if (this.#isOpen || id === undefined) return;
    this.#finished.clear();
    this.#isOpen = true;
    try {
      const { subject = '', owner } = this.session.core()?.task(id) ?? {};
      const what = plainLine(subject, 80);
      const one =
        owner === undefined
          ? vscode.l10n.t('Finished: {0} ({1}).', what, id)
          : vscode.l10n.t('{0} has finished {1} ({2}).', owner, what, id);
      const many = vscode.l10n.t('{0} finished tasks wait for your review.', others.length + 1);
      const review = vscode.l10n.t('Review Work');
      const label = await vscode.window.showInformationMessage(others.length === 0 ? one : many, review);
      if (label !== review) return;
      if (others.length > 0) await vscode.commands.executeCommand(Commands.showBoard);
      else await vscode.commands.executeCommand(Commands.reviewWork, id);
    } finally {
      this.#isOpen = false;
      if (this.#finished.size > 0) this.#soon.request();
    }
  }

  dispose(): void {
    this.#soon.dispose();
    this.#subscription.dispose();
  }
}
