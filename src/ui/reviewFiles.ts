import * as vscode from 'vscode';
import type { ReviewFile } from '../agent/reviewApi';
import { REVIEW_SCHEME } from './contributions';
import type { Session } from './session';

export type ReviewSide = 'base' | 'work';

/**
 * The two sides of a reviewed change as read-only files, so that VS Code's own diff views can show them, pictures
 * included. The content is named by git's id for it: what is on screen never changes under the reader.
 */
export class ReviewFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #registration: vscode.Disposable;
  /** Sizes have to be told before the content is asked for; the last few are kept. */
  readonly #kept = new Map<string, Uint8Array>();

  constructor(private readonly session: Session) {
    this.#registration = vscode.workspace.registerFileSystemProvider(REVIEW_SCHEME, this, {
      isReadonly: true,
      isCaseSensitive: true,
    });
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { byteLength } = await this.readFile(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: byteLength };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { taskId, blob } = partsOf(uri);
    if (blob === '') return new Uint8Array();
    const key = `${taskId} ${blob}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const core = await this.session.requireToRead();
    const content = await core.reviewContent(taskId, blob);
    this.#kept.set(key, content);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return content;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory = (uri: vscode.Uri): never => refuse(uri);
  writeFile = (uri: vscode.Uri): never => refuse(uri);
  delete = (uri: vscode.Uri): never => refuse(uri);
  rename = (uri: vscode.Uri): never => refuse(uri);

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

const KEPT_MAX = 40;

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}

/** One side of a file; the side that is not there is empty. */
export function sideUri(taskId: string, file: ReviewFile, side: ReviewSide): vscode.Uri {
  const path = side === 'base' ? (file.oldPath ?? file.path) : file.path;
  const blob = (side === 'base' ? file.baseBlob : file.workBlob) ?? '';
  return vscode.Uri.from({
    scheme: REVIEW_SCHEME,
    path: `/${path}`,
    query: new URLSearchParams({ task: taskId, side, blob }).toString(),
  });
}

/** What a document of a review shows; undefined for any other document. */
export function shownIn(uri: vscode.Uri): { taskId: string; path: string; side: ReviewSide } | undefined {
  if (uri.scheme !== REVIEW_SCHEME) return undefined;
  const { taskId, side } = partsOf(uri);
  return { taskId, path: uri.path.replace(/^\//, ''), side };
}

function partsOf(uri: vscode.Uri): { taskId: string; blob: string; side: ReviewSide } {
  const query = new URLSearchParams(uri.query);
  return {
    taskId: query.get('task') ?? '',
    blob: query.get('blob') ?? '',
    side: query.get('side') === 'base' ? 'base' : 'work',
  };
}
