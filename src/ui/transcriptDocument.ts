import * as vscode from 'vscode';
import { Coalescer } from './coalesce';
import { TRANSCRIPT_SCHEME } from './contributions';
import type { Session } from './session';
import { transcriptMarkdown } from './transcriptText';

/** Read-only documents that show a member's conversation, and grow while it goes on. */
export class TranscriptDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #grown = new Set<string>();
  readonly #refresh = new Coalescer(() => this.#tell(), 500);
  readonly #subscriptions: vscode.Disposable[];

  constructor(private readonly session: Session) {
    this.#subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(TRANSCRIPT_SCHEME, this),
      session.onEvent((event) => {
        if (event.type !== 'assistant' && event.type !== 'tool_ended' && event.type !== 'taken') return;
        this.#grown.add(event.member);
        this.#refresh.request();
      }),
    ];
  }

  /** @throws {UserError} when there is no team; an error of the core when the member is unknown */
  async open(name: string): Promise<void> {
    const core = await this.session.requireToRead();
    // Asked once before the document is opened, so that an unknown name is an error and not an empty page.
    await core.transcript(name);
    const document = await vscode.workspace.openTextDocument(uriOf(name));
    await vscode.window.showTextDocument(document, { preview: true });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const core = await this.session.requireToRead();
    const name = memberOf(uri);
    return transcriptMarkdown(name, await core.transcript(name), core.requests());
  }

  #tell(): void {
    const open = new Set(
      vscode.workspace.textDocuments
        .filter((d) => d.uri.scheme === TRANSCRIPT_SCHEME)
        .map((d) => memberOf(d.uri)),
    );
    for (const name of this.#grown) if (open.has(name)) this.#changed.fire(uriOf(name));
    this.#grown.clear();
  }

  dispose(): void {
    this.#refresh.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}

function uriOf(name: string): vscode.Uri {
  return vscode.Uri.from({ scheme: TRANSCRIPT_SCHEME, path: `/${name}.md` });
}

function memberOf(uri: vscode.Uri): string {
  return uri.path.replace(/^\//, '').replace(/\.md$/, '');
}
