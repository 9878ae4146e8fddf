import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { type Credentials, type MissingCredentials, resolveCredentials } from '../model/credentials';
import { isVscodeModel } from '../model/modelId';
import { LEAD } from '../protocol';
import { ContextKeys, Settings } from './contributions';
import type { FileKeys, WorkspaceKey } from './fileKeys';
import type { KeyStore } from './keyStore';
import { type ModelSettings, modelSettings } from './settings';

/** VS Code's own models, as far as it matters whether there are any. */
export interface ModelSource {
  readonly hasAny: boolean | undefined;
  readonly onDidChange: vscode.Event<void>;
  list(): Promise<unknown>;
}

/**
 * Where the words come from in this window: the settings, the stored key, and "run the demo", which is a
 * choice for this workspace and is kept in a file of its storage, never in the user's settings.
 */
export class ModelChoice implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #missed = new vscode.EventEmitter<string>();
  /** The setting of the base URL has just left the key without a use; with the reason for the user. */
  readonly onDidMissKey = this.#missed.event;
  readonly #subscriptions: vscode.Disposable[];
  /** Resolves when the stored choice and key were read; never rejects. */
  readonly loaded: Promise<void>;
  #demo = false;
  #isLooking = false;

  constructor(
    private readonly keys: KeyStore,
    private readonly files: FileKeys,
    private readonly vscodeModels: ModelSource,
    /** Holds the choice of the demo; undefined where no folder is open. */
    private readonly file: string | undefined,
    private readonly env: NodeJS.ProcessEnv,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.loaded = this.#load();
    this.#subscriptions = [
      keys.onDidChange(() => this.#tell()),
      vscodeModels.onDidChange(() => void this.#look()),
      // A file may have been written meanwhile, in another program.
      vscode.window.onDidChangeWindowState(({ focused }) => focused && void this.readFiles()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(Settings.provider)) void this.leaveDemo();
        if (
          [Settings.provider, Settings.model, Settings.teammateModel, Settings.baseUrl].some((id) =>
            event.affectsConfiguration(id),
          )
        ) {
          void this.#look();
          this.#tell();
        }
        if (event.affectsConfiguration(Settings.baseUrl) && !this.isDemo) {
          const why = this.missing();
          if (why !== undefined) this.#missed.fire(why);
        }
      }),
    ];
  }

  /** The settings, with the demo in place of the provider where it was chosen for this workspace. */
  settings(): ModelSettings {
    const settings = modelSettings();
    return this.#demo ? { ...settings, provider: 'demo' } : settings;
  }

  get isDemo(): boolean {
    return this.settings().provider === 'demo';
  }

  /** True when a member could call a model now. */
  get isReady(): boolean {
    const { provider } = this.settings();
    if (provider === 'demo') return true;
    const hasVscodeModel = this.vscodeModels.hasAny === true;
    if (provider === 'vscode') return hasVscodeModel;
    const found = this.credentials();
    return !('missing' in found) || (provider === 'auto' && found.reason === 'none' && hasVscodeModel);
  }

  /** The model that a member is to have; undefined for the one of the source. */
  modelOf(member: string, own: string | undefined): string | undefined {
    const { model, teammateModel } = modelSettings();
    const wanted = own?.trim() || (member === LEAD ? '' : teammateModel) || model;
    return wanted === '' ? undefined : wanted;
  }

  /** Values that no child process may find in its environment. */
  secrets(): string[] {
    const { ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: token } = this.env;
    const known = [this.keys.key?.key, key, token].flatMap((secret) => secret || []);
    return [...known, ...this.files.secrets()];
  }

  /** Reads the files that may hold keys anew. */
  async readFiles(): Promise<void> {
    if (await this.files.read()) this.#tell();
  }

  /** The user agrees to a key of the workspace as it was shown, or (undefined) takes that back. */
  async useWorkspaceKey(shown: WorkspaceKey | undefined): Promise<void> {
    if (shown === undefined) await this.files.revoke();
    else await this.files.agree(shown);
    this.#tell();
  }

  /** The key to use, its address and the model, by the sources there are now. */
  credentials(): Credentials | MissingCredentials {
    const { model, baseUrl } = modelSettings();
    const stored = this.keys.key;
    const { agreed, claudeSettings } = this.files;
    return resolveCredentials({
      ...(agreed ? { workspaceFile: agreed } : {}),
      ...(stored ? { stored } : {}),
      ...(claudeSettings ? { claudeSettings } : {}),
      env: this.env,
      settingsBaseUrl: baseUrl,
      // One of VS Code's own is no model of the endpoint.
      settingsModel: isVscodeModel(model) ? '' : model,
    });
  }

  /** Why no key can be used, in words for the user; undefined when one can. */
  missing(): string | undefined {
    const found = this.credentials();
    return 'missing' in found ? found.message : undefined;
  }

  async chooseDemo(): Promise<void> {
    if (this.#demo) return;
    this.#demo = true;
    this.#tell();
    await this.#keep();
  }

  async leaveDemo(): Promise<void> {
    if (!this.#demo) return;
    this.#demo = false;
    this.#tell();
    await this.#keep();
  }

  async #load(): Promise<void> {
    if (this.file !== undefined) {
      try {
        this.#demo = (await readFile(this.file, 'utf8')).trim() === 'demo';
      } catch (error) {
        if (!isMissing(error)) this.log.warn(`The choice of the demo could not be read: ${String(error)}`);
      }
    }
    await Promise.all([this.keys.loaded, this.files.read()]);
    this.#tell();
    // Only where nothing else is there: asking starts the extensions that bring models.
    void this.#look();
  }

  async #keep(): Promise<void> {
    if (this.file === undefined) return;
    try {
      if (!this.#demo) {
        await rm(this.file, { force: true });
        return;
      }
      await mkdir(dirname(this.file), { recursive: true });
      await writeFile(this.file, 'demo\n');
    } catch (error) {
      this.log.warn(`The choice of the demo holds until the window is reloaded: ${String(error)}`);
    }
  }

  /** Whether VS Code has models of its own, where that decides whether the team can speak. */
  async #look(): Promise<void> {
    const { provider } = this.settings();
    const isNeeded = provider === 'vscode' || (provider === 'auto' && this.missing() !== undefined);
    if (!isNeeded || this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.vscodeModels.list();
    } catch (error) {
      this.log.warn(`VS Code's own language models could not be listed: ${String(error)}`);
    } finally {
      this.#isLooking = false;
    }
    this.#tell();
  }

  #tell(): void {
    void vscode.commands.executeCommand('setContext', ContextKeys.modelReady, this.isReady);
    this.#changed.fire();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
    this.#missed.dispose();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
