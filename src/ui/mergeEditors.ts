import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import type { Review } from '../agent/reviewApi';

/** As much of VS Code's Git extension as is used. */
interface GitExtension {
  getAPI(version: 1): {
    getRepository(uri: vscode.Uri): {
      readonly state: { readonly onDidChange: vscode.Event<void> };
    } | null;
  };
}

const MERGE_EDITORS_MAX = 8;

/** Conflicts that are being resolved in VS Code, until they have come home. */
export class MergeEditors implements vscode.Disposable {
  readonly #watched = new Map<string, vscode.Disposable>();

  constructor(private readonly onError: (error: unknown) => void) {}

  /** Without VS Code's Git extension the files themselves are opened, with their conflict marks. */
  async open(core: Core, review: Review, conflicts: readonly string[]): Promise<void> {
    const git = await activatedGit();
    if (git) this.#watch(core, review, git);
    const uris = conflicts.map((file) => vscode.Uri.file(path.join(review.mainFolder, file)));
    // The first conflict is opened last, so that it is the one in sight.
    for (const uri of uris.slice(0, MERGE_EDITORS_MAX).reverse()) {
      if (git) await vscode.commands.executeCommand('git.openMergeEditor', uri);
      else await vscode.window.showTextDocument(uri, { preview: false });
    }
  }

  /** Whenever the repository is no longer as it was, the core looks whether the merge is finished. */
  #watch(core: Core, { taskId, mainFolder }: Review, git: GitExtension): void {
    const repository = git.getAPI(1).getRepository(vscode.Uri.file(mainFolder));
    if (!repository) return;
    this.#forget(taskId);
    const look = async (): Promise<void> => {
      await core.reviewWork(taskId);
      const outcome = core.task(taskId)?.worktree?.accepted.at(-1)?.outcome;
      if (outcome !== 'conflicts') this.#forget(taskId);
    };
    const watch = repository.state.onDidChange(() => {
      look().catch((error: unknown) => {
        this.#forget(taskId);
        this.onError(error);
      });
    });
    this.#watched.set(taskId, watch);
  }

  #forget(taskId: string): void {
    this.#watched.get(taskId)?.dispose();
    this.#watched.delete(taskId);
  }

  /** Another team, or none, is open now. */
  clear(): void {
    for (const taskId of [...this.#watched.keys()]) this.#forget(taskId);
  }

  dispose(): void {
    this.clear();
  }
}

async function activatedGit(): Promise<GitExtension | undefined> {
  const git = vscode.extensions.getExtension<GitExtension>('vscode.git');
  return git?.activate();
}
