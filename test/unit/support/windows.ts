import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Core } from '../../../src/agent/coreApi';
import { type OpenTeam, type OpenTeamOptions, openTeam, type TeamChange } from '../../../src/agent/openTeam';
import type { LanguageModel } from '../../../src/model/port';
import { HUMAN } from '../../../src/protocol';
import type { Member } from '../../../src/team/member';
import { createNodeWorkspace } from '../../../src/workspace/node';
import { fileVault } from './fileVault';
import { ScriptedModel, text } from './scriptedModel';
import { testSettings } from './settings';

/** Which storage folder and which secret storage a window has, by name; windows that share them give the same. */
export interface WindowPlace {
  storage?: string;
  vault?: string;
}

/** Several windows of this process over one workspace folder; `close` ends them and removes their files. */
export class Windows {
  readonly logged: string[] = [];
  model: LanguageModel = new ScriptedModel({})
    .always('lead', [text('Yes.')])
    .always('alice', [text('Done.')])
    .always('bob', [text('Done.')]);
  readonly #open: OpenTeam[] = [];

  private constructor(readonly home: string) {}

  static async make(): Promise<Windows> {
    const home = await fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), 'handshake-windows-'));
    await fs.mkdir(path.join(home, 'workspace'));
    return new Windows(home);
  }

  async open(place: WindowPlace = {}, options: Partial<OpenTeamOptions> = {}): Promise<OpenTeam> {
    const team = await openTeam({
      workspace: createNodeWorkspace(path.join(this.home, 'workspace')),
      storageDir: this.storage(place),
      vault: fileVault(path.join(this.home, `${place.vault ?? 'key'}.vault`)),
      settings: () => testSettings({ permissionMode: 'allow' }),
      languageModel: async () => this.model,
      log: (_level, line) => void this.logged.push(line),
      graceMs: 0,
      patienceMs: 2000,
      ...options,
    });
    this.#open.push(team);
    return team;
  }

  storage({ storage = 'storage' }: WindowPlace = {}): string {
    return path.join(this.home, storage);
  }

  /** A file of `.team/`. */
  file(...parts: string[]): string {
    return path.join(this.home, 'workspace', '.team', ...parts);
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((team) => team.dispose()));
    await fs.rm(this.home, { recursive: true, force: true });
    if (this.model instanceof ScriptedModel) assert.deepEqual(this.model.problems, []);
  }
}

export function spawn(core: Core, name = 'alice'): Promise<Member> {
  return core.spawn({ name, role: 'coder', prompt: 'Work.' }, HUMAN);
}

/** Resolves with the next change of the kind. */
export function changed(team: OpenTeam, what: TeamChange): Promise<void> {
  return new Promise((resolve) => {
    const listening = team.onDidChange((change) => {
      if (change !== what) return;
      listening.dispose();
      resolve();
    });
  });
}

/** What the user is told from now on. */
export function noticesOf(team: OpenTeam): string[] {
  const notices: string[] = [];
  team.core.on((event) => {
    if (event.type === 'notice') notices.push(event.text);
  });
  return notices;
}
