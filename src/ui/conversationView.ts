import * as vscode from 'vscode';
import type { Core } from '../agent/coreApi';
import { ConversationController } from './conversationController';
import { conversationStringTable } from './conversationStrings';
import { conversationTexts } from './conversationTexts';
import {
  type ConversationAction,
  type FromConversation,
  fromConversation,
  isDraft,
  type ToConversation,
} from './messages';
import { openLink } from './openLink';
import { DraftFiles } from './webviewDrafts';
import { fillWebview } from './webviewHost';

export const CONVERSATION_VIEW = 'handshake.conversation';
/** The editor tab; `onWebviewPanel:` of it activates the extension after a reload. */
export const CONVERSATION_TAB = 'handshake.conversationTab';

const DRAFT_KEY = 'conversation';

export interface ConversationHost {
  core(): Core | undefined;
  /** Why there is no team, in words for the user, such as that no folder is open. */
  whyNoCore(): string;
  /** Fires also where only {@link modelState} changed; the same team is then kept. */
  readonly onDidChangeCore: vscode.Event<void>;
  /** `ready`: a source of words is configured. */
  modelState(): { demo: boolean; ready: boolean };
  /** Every action but `retry`, which the Conversation does itself. */
  run(action: ConversationAction): void;
  /** A folder for drafts. */
  readonly storage: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
}

export interface ConversationNotice {
  level: 'info' | 'warning' | 'error';
  text: string;
  actions?: readonly ConversationAction[];
}

export interface Conversation {
  /** Shows the conversation as an editor tab. */
  open(column?: vscode.ViewColumn): void;
  /** Shows the view and puts the focus there. */
  reveal(): Promise<void>;
  append(notice: ConversationNotice): void;
  /** Whether the view or the tab is in sight. */
  isVisible(): boolean;
  /** Sends the state again, for instance after the source of words changed. */
  refresh(): void;
  /** Resolves when the draft is on disk. */
  flush(): Promise<void>;
  dispose(): void;
}

/** One place where the conversation is shown: the view, or the tab. */
interface Surface {
  readonly webview: vscode.Webview;
  isVisible(): boolean;
  /** Its page has asked for the state and still exists. */
  ready: boolean;
}

/** The Conversation as a view and as an editor tab; both are live and show the same. */
export function registerConversation(context: vscode.ExtensionContext, host: ConversationHost): Conversation {
  const { log } = host;
  const logError = (what: string, error: unknown) =>
    log.error(what, error instanceof Error ? error : String(error));
  const folder = vscode.Uri.joinPath(host.storage, 'drafts').fsPath;
  const drafts = new DraftFiles(folder, (error) => logError('A draft could not be kept', error));
  const surfaces = new Set<Surface>();
  const disposables: vscode.Disposable[] = [];
  let tab: vscode.WebviewPanel | undefined;
  let draft = '';

  function post(message: ToConversation, except?: Surface): void {
    for (const surface of surfaces) if (surface !== except && surface.ready) deliver(surface, message);
  }

  function deliver(surface: Surface, message: ToConversation): void {
    surface.webview.postMessage(message).then(undefined, (error: unknown) => {
      logError('The Conversation could not be updated', error);
    });
  }

  function setDraft(text: string, except?: Surface): void {
    draft = text;
    drafts.write(DRAFT_KEY, text);
    post({ type: 'draft', text }, except);
  }

  const controller = new ConversationController(
    {
      core: host.core.bind(host),
      whyNoCore: host.whyNoCore.bind(host),
      modelState: host.modelState.bind(host),
      hasFolder: () => (vscode.workspace.workspaceFolders?.length ?? 0) > 0,
      run: host.run.bind(host),
      post,
      setDraft,
      draft: () => draft,
      logError,
    },
    conversationTexts(),
  );

  function run(action: Thenable<unknown>): void {
    action.then(undefined, (error: unknown) => logError('An action of the Conversation failed', error));
  }

  // The pages ask for the state at once; the first answer has to hold the draft of the last session.
  const draftRead = drafts.read(DRAFT_KEY).then((text) => {
    draft = text;
  });

  async function receive(surface: Surface, message: FromConversation): Promise<void> {
    switch (message.type) {
      case 'ready':
        await draftRead;
        surface.ready = true;
        deliver(surface, controller.state());
        return;
      case 'send':
        // A suggestion that was clicked leaves what stands in the input alone.
        if (message.text === draft) setDraft('', surface);
        await controller.send(message.text);
        return;
      case 'stop':
        await controller.stop();
        return;
      case 'draft':
        setDraft(message.text, surface);
        return;
      case 'action':
        await controller.act(message.action);
        return;
      case 'open_link':
        await openLink(message.href, log);
        return;
    }
  }

  function show(holder: vscode.WebviewView | vscode.WebviewPanel): Surface {
    const { webview } = holder;
    const surface: Surface = { webview, isVisible: () => holder.visible, ready: false };
    surfaces.add(surface);
    const listener = webview.onDidReceiveMessage((raw: unknown) => {
      const parsed = fromConversation.safeParse(raw);
      if (parsed.success) run(receive(surface, parsed.data));
      else {
        log.warn(`The Conversation sent something unknown: ${parsed.error.message}`);
        if (!isDraft(raw)) controller.notUnderstood();
      }
    });
    holder.onDidDispose(() => {
      surfaces.delete(surface);
      listener.dispose();
    });
    fillWebview(webview, context.extensionUri, {
      bundle: 'conversation',
      title: vscode.l10n.t('Conversation'),
      strings: conversationStringTable(),
    });
    return surface;
  }

  function adopt(panel: vscode.WebviewPanel): void {
    tab = panel;
    const surface = show(panel);
    // A hidden page is gone; it asks for the state when it is made again.
    panel.onDidChangeViewState(() => {
      if (!panel.visible) surface.ready = false;
    });
    panel.onDidDispose(() => {
      if (tab === panel) tab = undefined;
    });
  }

  disposables.push(
    vscode.window.registerWebviewViewProvider(CONVERSATION_VIEW, {
      resolveWebviewView(view) {
        const surface = show(view);
        view.onDidChangeVisibility(() => {
          if (!view.visible) surface.ready = false;
        });
      },
    }),
    vscode.window.registerWebviewPanelSerializer(CONVERSATION_TAB, {
      async deserializeWebviewPanel(panel) {
        adopt(panel);
      },
    }),
    host.onDidChangeCore(() => run(controller.attach())),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('handshake')) post(controller.state());
    }),
  );
  run(controller.attach());

  const conversation: Conversation = {
    open(column) {
      if (tab !== undefined) {
        tab.reveal(column);
        return;
      }
      const title = vscode.l10n.t('Handshake Conversation');
      adopt(vscode.window.createWebviewPanel(CONVERSATION_TAB, title, column ?? vscode.ViewColumn.Active));
    },
    async reveal() {
      await vscode.commands.executeCommand(`${CONVERSATION_VIEW}.focus`);
    },
    append: ({ level, text, actions }) => controller.model.notice(level, text, actions),
    isVisible: () => [...surfaces].some((surface) => surface.isVisible()),
    refresh: () => post(controller.state()),
    flush: () => drafts.flush(),
    dispose() {
      for (const disposable of disposables) disposable.dispose();
      controller.dispose();
      // The tab stays: the window that reloads now gives it back to the serializer.
    },
  };
  context.subscriptions.push(conversation);
  return conversation;
}
