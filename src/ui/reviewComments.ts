import * as vscode from 'vscode';
import * as z from 'zod';
import type { Review } from '../agent/reviewApi';
import { parseJson } from './parseJson';
import { shownIn, sideUri } from './reviewFiles';
import type { ReviewComment } from './reviewModel';
import type { DraftFiles } from './webviewDrafts';

/** What VS Code hands to the button under the box in which a comment is written. */
interface Reply {
  thread: vscode.CommentThread;
  text: string;
}

export function isReply(value: unknown): value is Reply {
  return (
    typeof value === 'object' &&
    value !== null &&
    'thread' in value &&
    'text' in value &&
    typeof value.text === 'string'
  );
}

/** A comment as it is kept until it is sent; its text may have several parts. */
const keptComments = z.array(
  z.object({
    path: z.string(),
    side: z.enum(['base', 'work']),
    /** From 0. */
    line: z.number().int().nonnegative(),
    texts: z.array(z.string()).min(1),
  }),
);

/** The human's comments on lines of the change, kept for each task until its work is sent back. */
export class ReviewComments implements vscode.Disposable {
  readonly #controller = vscode.comments.createCommentController(
    'handshake-review',
    vscode.l10n.t('Handshake Review'),
  );
  readonly #threads = new Set<vscode.CommentThread>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  #taskId: string | undefined;

  /** @param drafts outlast a reload of the window */
  constructor(private readonly drafts: DraftFiles) {
    const prompt = vscode.l10n.t('What should change here?');
    this.#controller.options = { prompt, placeHolder: prompt };
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: (document) =>
        this.#taskId !== undefined && shownIn(document.uri)?.taskId === this.#taskId
          ? [new vscode.Range(0, 0, Math.max(0, document.lineCount - 1), 0)]
          : [],
    };
  }

  get count(): number {
    return this.#threads.size;
  }

  /** From now on lines of this work can be commented on; what was said of it and not sent stands there again. */
  async begin(review: Review | undefined): Promise<void> {
    if (review?.taskId === this.#taskId) return;
    this.#clear();
    this.#taskId = review?.taskId;
    if (review === undefined) return;
    const kept = await this.drafts.read(keyOf(review.taskId));
    if (kept === '' || this.#taskId !== review.taskId) return;
    const parsed = keptComments.safeParse(parseJson(kept));
    for (const { path, side, line, texts } of parsed.data ?? []) {
      const file = review.files.find(
        (each) => path === (side === 'base' ? (each.oldPath ?? each.path) : each.path),
      );
      if (file === undefined) continue;
      const range = new vscode.Range(line, 0, line, 0);
      const uri = sideUri(review.taskId, file, side);
      this.#keep(this.#controller.createCommentThread(uri, range, texts.map(commentOf)));
    }
    this.#changed.fire();
  }

  /** Keeps what was written in the box under a line. */
  add({ thread, text }: Reply): void {
    if (text.trim() === '') return;
    thread.comments = [...thread.comments, commentOf(text)];
    this.#keep(thread);
    this.#save();
  }

  /** @param shown the thread whose button was pressed */
  remove(shown: unknown): void {
    for (const thread of this.#threads) {
      if (thread !== shown) continue;
      this.#threads.delete(thread);
      thread.dispose();
    }
    this.#save();
  }

  /** @returns all comments, with the lines they stand at */
  async all(): Promise<ReviewComment[]> {
    return Promise.all(
      this.#shown().map(async ({ uri, path, side, line, texts }) => {
        const document = await vscode.workspace.openTextDocument(uri);
        const quoted = line < document.lineCount ? document.lineAt(line).text : '';
        return { path, line: line + 1, quoted, side, text: texts.join('\n') };
      }),
    );
  }

  /** They were sent. */
  forget(): void {
    this.#clear();
    this.#save();
  }

  #keep(thread: vscode.CommentThread): void {
    thread.label = vscode.l10n.t('Goes with the work when it is sent back');
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.#threads.add(thread);
  }

  #shown() {
    return [...this.#threads].flatMap(({ uri, range, comments }) => {
      const shown = shownIn(uri);
      if (shown === undefined) return [];
      const texts = comments.map(({ contextValue = '' }) => contextValue);
      return [{ uri, path: shown.path, side: shown.side, line: range?.end.line ?? 0, texts }];
    });
  }

  #save(): void {
    if (this.#taskId !== undefined) {
      const kept = this.#shown().map(({ uri: _, ...comment }) => comment);
      this.drafts.write(keyOf(this.#taskId), kept.length === 0 ? '' : JSON.stringify(kept));
    }
    this.#changed.fire();
  }

  #clear(): void {
    for (const thread of this.#threads) thread.dispose();
    this.#threads.clear();
  }

  dispose(): void {
    this.#clear();
    this.#controller.dispose();
    this.#changed.dispose();
  }
}

function commentOf(text: string): vscode.Comment {
  return {
    author: { name: vscode.l10n.t('You') },
    body: new vscode.MarkdownString().appendText(text),
    mode: vscode.CommentMode.Preview,
    contextValue: text,
  };
}

const keyOf = (taskId: string): string => `review-${taskId}`;
