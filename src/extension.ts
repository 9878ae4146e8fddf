import { createHash } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { openTeam } from './agent/openTeam';
import { Attention } from './model/attention';
import { CallLimiter } from './model/limiter';
import { listModels } from './model/modelList';
import { createModelProvider } from './model/router';
import { VscodeModels } from './model/vscodeModels';
import type { HandshakeApi } from './ui/api';
import { conversationActions } from './ui/conversationActions';
import { registerConversation } from './ui/conversationView';
import { FileKeys } from './ui/fileKeys';
import { KeyStore } from './ui/keyStore';
import { useTranslator } from './ui/l10n';
import { attendTo } from './ui/modelAccess';
import { ModelChoice } from './ui/modelChoice';
import { createRequestPanels } from './ui/requestPanel';
import { secretVault } from './ui/secretVault';
import { Session } from './ui/session';
import { coreSettings, httpProxySetting, maxConcurrentCallsSetting, thinkingSetting } from './ui/settings';
import { tellOfSlowKeyring } from './ui/slowKeyring';
import { startSeat } from './ui/start';
import { storageOfFolder, teamStorageDir } from './ui/teamStorage';
import { DraftFiles } from './ui/webviewDrafts';
import { createNodeWorkspace } from './workspace/node';

let close: (() => Promise<void>) | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<HandshakeApi> {
  useTranslator(vscode.l10n.t);
  const log = vscode.window.createOutputChannel('Handshake', { log: true });
  // Without a folder there is no storage of a workspace, and nothing is kept for one.
  const storage = context.storageUri ?? context.globalStorageUri;
  const teamStorage = storageOfFolder(
    teamStorageDir(storage.fsPath),
    workspaceRoot(),
    vscode.workspace.workspaceFile !== undefined,
  );
  const journalId = createHash('sha256').update(teamStorage).digest('hex');
  const session = new Session(log);
  const keys = new KeyStore(context.secrets, log);
  const demoFile = context.storageUri && path.join(teamStorage, 'provider');
  const attention = new Attention();
  const vscodeModels = new VscodeModels(
    context.languageModelAccessInformation,
    attention,
    vscode.l10n.t('It speaks for the lead and the teammates that work in this folder.'),
  );
  const files = new FileKeys({
    root: workspaceRoot(),
    consentFile: context.storageUri && path.join(teamStorage, 'workspace-key.json'),
    warn: (text) => log.warn(text),
  });
  const choice = new ModelChoice(keys, files, vscodeModels, demoFile, process.env, log);
  context.subscriptions.push(log, session, keys, vscodeModels, choice);
  context.subscriptions.push(
    attendTo(session, attention),
    vscodeModels.onDidChange(() => session.core()?.recheck('no_access')),
  );

  const provider = createModelProvider({
    getSettings: () => ({
      provider: choice.settings().provider,
      httpProxy: httpProxySetting(),
      thinking: thinkingSetting(),
    }),
    getCredentials: async () => {
      await choice.loaded;
      await choice.readFiles();
      return choice.credentials();
    },
    findVscodeModel: (model) => vscodeModels.find(model),
    loadAnthropic: () => import('./model/anthropic/index'),
    env: process.env,
  });
  const changed = new vscode.EventEmitter<void>();
  context.subscriptions.push(
    changed,
    session.onDidChangeCore(() => changed.fire()),
    choice.onDidChange(() => {
      session.core()?.modelChanged();
      changed.fire();
    }),
  );
  const ui = { core: () => session.core(), onDidChangeCore: changed.event, storage, log };
  const conversation = registerConversation(context, {
    ...ui,
    whyNoCore: () => session.whyNoCore(),
    modelState: () => ({ demo: choice.isDemo, ready: choice.isReady }),
    run: conversationActions(choice),
  });
  const panels = createRequestPanels(context, ui);
  const drafts = new DraftFiles(vscode.Uri.joinPath(storage, 'drafts').fsPath, (error) =>
    log.error('A draft could not be kept', error instanceof Error ? error : String(error)),
  );
  close = async () => {
    await Promise.all([conversation.flush(), panels.flush(), drafts.flush(), session.close()]);
  };

  return startSeat(context, {
    log,
    files,
    attention,
    session,
    keys,
    choice,
    conversation,
    panels,
    drafts,
    openTeam: (root) =>
      openTeam({
        workspace: createNodeWorkspace(root, {
          secretValues: () => choice.secrets(),
        }),
        storageDir: teamStorage,
        vault: secretVault(context.secrets, journalId, log, (answer) => tellOfSlowKeyring(answer, log)),
        settings: coreSettings,
        languageModel: (member, model) => provider.resolve(choice.modelOf(member, model)),
        limiter: new CallLimiter({ maxConcurrentCalls: maxConcurrentCallsSetting }),
        log: (level, text) => (level === 'warning' ? log.warn(text) : log[level](text)),
      }),
    listModels: async (signal) => {
      await choice.loaded;
      const credentials = choice.credentials();
      if ('missing' in credentials) throw new Error(credentials.message);
      return listModels(credentials, signal);
    },
    listVscodeModels: () => vscodeModels.list(),
  });
}

/** Where the team works; as the session says, the first folder on disk. */
function workspaceRoot(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.scheme === 'file' ? folder.uri.fsPath : undefined;
}

export async function deactivate(): Promise<void> {
  await close?.();
}
