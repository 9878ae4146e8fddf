import * as vscode from 'vscode';
import { Coalescer } from './coalesce';
import { TASK_SCHEME } from './contributions';
import type { Session } from './session';
import { taskMarkdown } from './taskText';
import { UserError } from './userError';

/** Read-only documents that show a task with its notes and its result, and follow it. */
export class TaskDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #refresh = new Coalescer(() => this.#tell(), 500);
  readonly #subscriptions: { dispose(): void }[];

  constructor(private readonly session: Session) {
    this.#subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(TASK_SCHEME, this),
      session.onEvent((event) => {
        if (event.type === 'task') this.#refresh.request();
      }),
    ];
  }

  /** @throws {UserError} when there is no team, or no such task */
  async open(taskId: string): Promise<void> {
    const core = await this.session.requireToRead();
    if (!core.task(taskId))
      throw new UserError(vscode.l10n.t("There is no task '{0}'.", taskId.slice(0, 40)));
    const uri = vscode.Uri.from({ scheme: TASK_SCHEME, path: `/${taskId}.md` });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const core = await this.session.requireToRead();
    const id = uri.path.replace(/^\//, '').replace(/\.md$/, '');
    const task = core.task(id);
    if (!task) return vscode.l10n.t("There is no task '{0}'.", id);
    return taskMarkdown(task, core.tasks());
  }

  #tell(): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme === TASK_SCHEME) this.#changed.fire(uri);
    }
  }

  dispose(): void {
    this.#refresh.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}
