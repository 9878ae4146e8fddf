import * as fs from 'node:fs';
import * as path from 'node:path';
import { openCore } from '../../src/agent/core';
import type { Core } from '../../src/agent/coreApi';
import type { StoreFileSystem } from '../../src/store';
import type { TeamEvent } from '../../src/team/events';
import { createNodeWorkspace } from '../../src/workspace/node';
import type { MemberWorkspace, Workspace } from '../../src/workspace/port';
import { fileVault } from '../unit/support/fileVault';
import { testSettings } from '../unit/support/settings';
import { Brain } from './brain';
import { type Note, noteOf } from './notes';
import { SCENARIOS, type Scenario } from './scenario';

export interface Home {
  dir: string;
  root: string;
  storageDir: string;
  /** What was said to have happened, by all lives; outside of what the core knows. */
  notes: string;
}

export function homeAt(dir: string): Home {
  return {
    dir,
    root: path.join(dir, 'workspace'),
    storageDir: path.join(dir, 'storage'),
    notes: path.join(dir, 'notes.jsonl'),
  };
}

/** A core over a folder, from its opening to its end, with all that is told noted down. */
export class Life {
  private constructor(
    readonly core: Core,
    readonly brain: Brain,
    /** Notices, failed turns and failed calls, as the human can see them. */
    readonly said: string[],
    private readonly home: Home,
    private readonly scenario: Scenario,
  ) {}

  /** @param name no other life of this folder has it */
  static async begin(
    home: Home,
    name: string,
    fileSystem: StoreFileSystem,
    scenario: Scenario = SCENARIOS.team,
  ): Promise<Life> {
    fs.mkdirSync(home.root, { recursive: true });
    const note = (line: Note): void => fs.appendFileSync(home.notes, `${JSON.stringify(line)}\n`);
    const brain = new Brain(name, scenario.minds);
    const said: string[] = [];
    const core = await openCore({
      workspace: noting(createNodeWorkspace(home.root), note),
      storageDir: home.storageDir,
      vault: fileVault(path.join(home.dir, 'vault.json')),
      settings: () => testSettings({ requestDeadlineMs: 3_600_000, permissionMode: scenario.permissionMode }),
      languageModel: async () => brain,
      log: (level, text) => void said.push(`${level}: ${text}`),
      fileSystem,
    });
    core.on((event: TeamEvent) => {
      const line = noteOf(event);
      if (line) note(line);
      if (event.type === 'notice') said.push(`${event.level}: ${event.text}`);
      if (event.type === 'tool_ended' && event.isError) said.push(`call: ${event.result}`);
      if (event.type === 'turn_ended' && event.error) {
        said.push(`error: ${event.member}'s turn failed: ${event.error.text}`);
      }
    });
    return new Life(core, brain, said, home, scenario);
  }

  /** Waits until the team does no more without a person. */
  async rest(): Promise<void> {
    await this.core.whenIdle(300_000);
  }

  /** Lets those that were cut off go on, and plays the human's part to the end. */
  async play(): Promise<void> {
    this.brain.isCalm = false;
    this.core.resume();
    await this.scenario.play(this.core, this.home.root, this.said);
  }

  end(): Promise<void> {
    return this.core.dispose();
  }
}

/** Notes each change of a file by its call, before it is made: a handler that runs twice is seen. */
function noting(real: Workspace, note: (line: Note) => void): Workspace {
  return {
    root: real.root,
    forMember: (name, isolated): MemberWorkspace => {
      const view = real.forMember(name, isolated);
      return {
        readFile: (...args) => view.readFile(...args),
        readImage: (...args) => view.readImage(...args),
        writeFile: (file, content) => {
          const [, id = ''] = /^by (.*)$/m.exec(content) ?? [];
          note({ t: 'ran', id, file });
          return view.writeFile(file, content);
        },
        editFile: (...args) => view.editFile(...args),
        previewWrite: (...args) => view.previewWrite(...args),
        previewEdit: (...args) => view.previewEdit(...args),
        identify: (...args) => view.identify(...args),
        forget: (...args) => view.forget(...args),
        runCommand: async (command) => {
          throw new Error(`Nobody permitted '${command}'.`);
        },
      };
    },
  };
}
