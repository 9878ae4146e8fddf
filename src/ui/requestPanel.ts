import * as vscode from 'vscode';
import * as z from 'zod';
import type { Core } from '../agent/coreApi';
import { openLink } from './openLink';
import { RequestPanelController } from './requestPanelController';
import { requestStringTable, requestTexts } from './requestPanelTexts';
import { DraftFiles } from './webviewDrafts';
import { fillWebview } from './webviewHost';

/** `onWebviewPanel:` of it activates the extension after a reload. */
export const REQUEST_PANEL = 'handshake.request';

export interface RequestPanelHost {
  core(): Core | undefined;
  /** Open panels follow the new team. */
  readonly onDidChangeCore: vscode.Event<void>;
  /** A folder for drafts. */
  readonly storage: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
}

export interface RequestPanels {
  /** Shows the panel of this request; there is one a request. An unknown id is said in the panel. */
  show(requestId: string, options?: { focusFeedback?: boolean }): void;
  /** Resolves when all feedback drafts are on disk. */
  flush(): Promise<void>;
  dispose(): void;
}

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  readonly controller: RequestPanelController;
}

const savedState = z.object({ requestId: z.string().min(1) });

/** The panels on requests: plan, shutdown, permission. */
export function createRequestPanels(context: vscode.ExtensionContext, host: RequestPanelHost): RequestPanels {
  const { log } = host;
  const logError = (what: string, error: unknown) =>
    log.error(what, error instanceof Error ? error : String(error));
  const folder = vscode.Uri.joinPath(host.storage, 'drafts').fsPath;
  const drafts = new DraftFiles(folder, (error) => logError('A draft could not be kept', error));
  const texts = requestTexts();
  const open = new Map<string, OpenPanel>();
  let followed: Core | undefined;
  let subscription: { dispose(): void } | undefined;

  function follow(): void {
    const core = host.core();
    if (core === followed) return;
    subscription?.dispose();
    followed = core;
    subscription = core?.on((event) => {
      for (const { controller } of open.values()) controller.onEvent(event);
    });
    for (const { controller } of open.values()) controller.refresh();
  }

  function adopt(requestId: string, panel: vscode.WebviewPanel, focusFeedback: boolean): void {
    const controller = new RequestPanelController(
      requestId,
      {
        core: () => host.core(),
        texts,
        drafts,
        post: (message) => panel.webview.postMessage(message),
        setTitle: (title) => {
          panel.title = title;
        },
        openLink: (href) => openLink(href, log),
        warn: (text) => log.warn(text),
        logError,
      },
      focusFeedback,
    );
    open.set(requestId, { panel, controller });
    panel.webview.onDidReceiveMessage((raw: unknown) => controller.receive(raw));
    panel.onDidChangeViewState(() => {
      if (!panel.visible) controller.hidden();
    });
    panel.onDidDispose(() => {
      controller.dispose();
      if (open.get(requestId)?.panel === panel) open.delete(requestId);
    });
    fillWebview(panel.webview, context.extensionUri, {
      bundle: 'request',
      title: panel.title,
      strings: requestStringTable(),
      requestId,
    });
    follow();
  }

  const disposables = [
    vscode.window.registerWebviewPanelSerializer(REQUEST_PANEL, {
      async deserializeWebviewPanel(panel, state: unknown) {
        const saved = savedState.safeParse(state);
        if (!saved.success || open.has(saved.data.requestId)) panel.dispose();
        else adopt(saved.data.requestId, panel, false);
      },
    }),
    host.onDidChangeCore(follow),
  ];

  const panels: RequestPanels = {
    show(requestId, options) {
      const focusFeedback = options?.focusFeedback ?? false;
      const shown = open.get(requestId);
      if (shown !== undefined) {
        shown.panel.reveal();
        shown.controller.refresh(focusFeedback);
        return;
      }
      const title = vscode.l10n.t('Request {0}', requestId);
      const panel = vscode.window.createWebviewPanel(REQUEST_PANEL, title, vscode.ViewColumn.Active);
      adopt(requestId, panel, focusFeedback);
    },
    flush: () => drafts.flush(),
    dispose() {
      subscription?.dispose();
      for (const disposable of disposables) disposable.dispose();
      // The panels stay: a window that reloads gives them back to the serializer.
      for (const { controller } of open.values()) controller.dispose();
    },
  };
  context.subscriptions.push(panels);
  return panels;
}
