/**
 * A light stand-in for the module `vscode`, so that `activate()` can be timed in plain Node: it answers every
 * call at once and does nothing. The real editor's own time for the same calls is not ours to measure.
 */
import * as path from 'node:path';

/** Whatever it is asked for or called with, it gives itself. */
function anything(): unknown {
  const self: unknown = new Proxy(class {}, {
    get: (_, key) => {
      // Neither a promise nor a list nor a text.
      if (key === 'then' || typeof key === 'symbol') return undefined;
      return key === 'dispose' ? () => undefined : self;
    },
    set: () => true,
    apply: () => self,
  });
  return self;
}

class Disposable {
  static from(...parts: { dispose(): void }[]): Disposable {
    return new Disposable(() => {
      for (const part of parts) part.dispose();
    });
  }
  constructor(readonly dispose: () => void) {}
}

class EventEmitter<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly event = (listener: (event: T) => void): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(event: T): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

class Uri {
  static file(fsPath: string): Uri {
    return new Uri('file', fsPath);
  }
  static parse(text: string): Uri {
    const [scheme = '', rest = ''] = text.split(/:(.*)/s);
    return new Uri(scheme, rest);
  }
  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(base.scheme, path.join(base.fsPath, ...parts));
  }
  constructor(
    readonly scheme: string,
    readonly fsPath: string,
  ) {}
  get path(): string {
    return this.fsPath;
  }
}

const folder = process.env.BENCH_WORKSPACE;
const fallback = anything();

function namespace(known: Record<string, unknown>): unknown {
  return new Proxy(known, { get: (target, key: string) => (key in target ? target[key] : fallback) });
}

module.exports = {
  Disposable,
  EventEmitter,
  Uri,
  TreeItem: class {},
  MarkdownString: class {
    appendMarkdown(): this {
      return this;
    }
    appendText(): this {
      return this;
    }
  },
  ThemeIcon: class {},
  ThemeColor: class {},
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  StatusBarAlignment: { Left: 1, Right: 2 },
  ViewColumn: { Active: -1, Beside: -2, One: 1 },
  QuickPickItemKind: { Default: 0, Separator: -1 },
  ConfigurationTarget: { Global: 1, Workspace: 2 },
  commands: namespace({ executeCommand: async () => undefined }),
  extensions: namespace({}),
  env: namespace({ language: 'en' }),
  lm: namespace({ selectChatModels: async () => [] }),
  comments: namespace({}),
  l10n: { t: (text: unknown) => String(text) },
  window: namespace({
    showWarningMessage: async () => undefined,
    showInformationMessage: async () => undefined,
  }),
  workspace: namespace({
    workspaceFolders: folder === undefined ? undefined : [{ uri: Uri.file(folder), name: 'bench', index: 0 }],
    textDocuments: [],
    isTrusted: true,
    getConfiguration: () => ({ get: () => undefined, inspect: () => undefined }),
  }),
};
