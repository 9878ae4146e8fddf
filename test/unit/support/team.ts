import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { openCore } from '../../../src/agent/core';
import type { Core } from '../../../src/agent/coreApi';
import type { CallLimiter } from '../../../src/model/limiter';
import type { LanguageModel } from '../../../src/model/port';
import type { HandshakeRequest } from '../../../src/protocol';
import type { StoreFileSystem } from '../../../src/store';
import type { TeamEvent } from '../../../src/team/events';
import type { CoreSettings } from '../../../src/team/settings';
import type { Tool } from '../../../src/tools';
import { createNodeWorkspace } from '../../../src/workspace/node';
import type { Workspace } from '../../../src/workspace/port';
import { fileVault } from './fileVault';
import { ScriptedModel } from './scriptedModel';
import { testSettings } from './settings';

export interface TestTeam {
  core: Core;
  root: string;
  storageDir: string;
  settings: CoreSettings;
  events: TeamEvent[];
  notices(): string[];
  /** The pending request of a kind, once there is one. */
  pending(kind: string): Promise<HandshakeRequest>;
  /** Resolves when an event fits; looks at future events only. */
  next(fits: (event: TeamEvent) => boolean): Promise<TeamEvent>;
  inbox(name: string): Promise<string[]>;
  /**
   * The inbox once the mirror has brought it to so many lines, of which none holds `gone`; the mirror tells
   * nobody, so the file is looked at.
   */
  inboxWith(name: string, count: number, gone?: string): Promise<string[]>;
  config(): Promise<{
    team_name: string;
    team_id: string;
    members: { name: string; role: string; status: string }[];
  }>;
  /** Closes the window and opens the folder again, with the same storage. */
  reopen(model?: LanguageModel, change?: TeamSetup): Promise<TestTeam>;
  /** Opens a copy of what is on the disk now, as after a crash at this moment; the old window knows nothing of it. */
  reopenAfterCrash(model: LanguageModel, change?: TeamSetup): Promise<TestTeam>;
}

export interface TeamSetup {
  /** Stands between the tools and the real workspace. */
  workspace?: (real: Workspace) => Workspace;
  /** Tools that are not Handshake's own. */
  foreignTools?: readonly Tool[];
  /** Under the journal, the transcripts and `.team/`; the machine's own unless said. */
  fileSystem?: StoreFileSystem;
  /** By default the core's own. */
  limiter?: CallLimiter;
  /** The human adopts a journal that another key signed. */
  acceptsForeignKey?: boolean;
  /** This window's hold on the team. */
  ownership?: { readonly epoch: number; isHeld(): boolean };
}

const made: { core: Core; dir: string; model: unknown }[] = [];

/** A team over an empty temporary folder; `closeTeams` in an `afterEach` removes it. */
export async function openTeam(
  model: LanguageModel | (() => Promise<LanguageModel>),
  options: Partial<CoreSettings> = {},
  dir?: string,
  setup: TeamSetup = {},
): Promise<TestTeam> {
  const home = dir ?? (await newHome());
  const root = path.join(home, 'workspace');
  const storageDir = path.join(home, 'storage');
  await fs.mkdir(root, { recursive: true });
  const settings = testSettings(options);
  const events: TeamEvent[] = [];
  const real = createNodeWorkspace(root);
  const core = await openCore({
    workspace: setup.workspace?.(real) ?? real,
    storageDir,
    vault: fileVault(path.join(home, 'vault.json')),
    settings: () => settings,
    languageModel: async () => (typeof model === 'function' ? model() : model),
    ...(setup.limiter === undefined ? {} : { limiter: setup.limiter }),
    ...(setup.foreignTools === undefined ? {} : { foreignTools: setup.foreignTools }),
    ...(setup.fileSystem === undefined ? {} : { fileSystem: setup.fileSystem }),
    ...(setup.acceptsForeignKey === undefined ? {} : { acceptsForeignKey: setup.acceptsForeignKey }),
    ...(setup.ownership === undefined ? {} : { ownership: setup.ownership }),
    log: (level, text) => void events.push({ type: 'notice', level, text }),
  });
  core.on((event) => void events.push(event));
  made.push({ core, dir: home, model });
  const next = (fits: (event: TeamEvent) => boolean): Promise<TeamEvent> =>
    new Promise((resolve) => {
      const listening = core.on((event) => {
        if (!fits(event)) return;
        listening.dispose();
        resolve(event);
      });
    });
  return {
    core,
    root,
    storageDir,
    settings,
    events,
    next,
    notices: () => events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])),
    async pending(kind) {
      const found = () =>
        core.requests().find((request) => request.kind === kind && request.status === 'pending');
      const already = found();
      if (already) return already;
      await next(
        (event) => event.type === 'request' && event.change === 'opened' && event.request.kind === kind,
      );
      const opened = found();
      if (!opened) throw new Error(`The ${kind} request was gone at once.`);
      return opened;
    },
    async inbox(name) {
      const content = await fs.readFile(path.join(root, '.team', 'inbox', `${name}.jsonl`), 'utf8');
      return content.split('\n').filter((line) => line !== '');
    },
    async inboxWith(name, count, gone) {
      for (;;) {
        const file = path.join(root, '.team', 'inbox', `${name}.jsonl`);
        const content = await fs.readFile(file, 'utf8').catch(() => '');
        const lines = content.split('\n').slice(0, -1);
        const isOld = gone !== undefined && lines.some((line) => JSON.parse(line).content === gone);
        if (lines.length === count && content.endsWith('\n') && !isOld) return lines;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async config() {
      return JSON.parse(await fs.readFile(path.join(root, '.team', 'config.json'), 'utf8'));
    },
    async reopen(other, change = {}) {
      await core.dispose();
      return openTeam(other ?? model, options, home, { ...setup, ...change });
    },
    async reopenAfterCrash(other, change = {}) {
      return openTeam(other, options, await copyOf(home), { ...setup, ...change });
    },
  };
}

/** A copy of a folder in which a window still works: where a file goes away under the copying, it begins anew. */
async function copyOf(home: string): Promise<string> {
  const copy = await newHome();
  for (;;) {
    try {
      await fs.cp(home, copy, { recursive: true, filter: (file) => !file.endsWith('.tmp') });
      return copy;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      await fs.rm(copy, { recursive: true });
      await fs.mkdir(copy);
    }
  }
}

async function newHome(): Promise<string> {
  return fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), 'handshake-'));
}

/** Also fails the test when a model was called in a way that no script expected. */
export async function closeTeams(): Promise<void> {
  const problems: string[] = [];
  const teams = made.splice(0);
  for (const { core } of teams) await core.dispose();
  for (const { dir, model } of teams) {
    await fs.rm(dir, { recursive: true, force: true });
    if (model instanceof ScriptedModel) problems.push(...model.problems);
  }
  assert.deepEqual(problems, []);
}
