import * as path from 'node:path';
import * as z from 'zod';
import { isMissing } from './inboxFiles';
import { adoptionShape, isLater } from './lineage';
import { KeyedLock } from './locks';
import { isGone } from './member';
import type { FileStamp, MirrorFiles } from './ports';
import type { TeamState } from './state';

const shape = z.object({ team_id: z.string(), adoption: adoptionShape.optional() });

/**
 * What became of `config.json` since it was last written here: nothing; somebody changed it; it is another team's; or
 * another window, with a journal of its own, has adopted the team and runs it.
 */
export type ConfigLook = 'own' | 'edited' | 'other_team' | 'adopted';

/** The roster file `.team/config.json`, which also says whose team it is. */
export class OwnConfig {
  readonly file: string;
  #stamp: FileStamp | undefined;
  /** Not while it is being written: half of what is seen then is old. */
  readonly #locks = new KeyedLock();
  /** As it was last written. */
  #text: string | undefined;

  constructor(
    dir: string,
    private readonly files: Pick<MirrorFiles, 'read' | 'stamp'>,
    private readonly state: TeamState,
  ) {
    this.file = path.join(dir, 'config.json');
  }

  /** Writes it by a function of the caller's. */
  write(text: string, write: () => Promise<void>): Promise<void> {
    return this.#locks.run(this.file, async () => {
      // Where this fails, what is in it may be either.
      this.#stamp = undefined;
      await write();
      this.#text = text;
      const stamp = await this.#stampNow();
      // Somebody may have edited it between the two.
      if ((await this.#read()) === text) this.#stamp = stamp;
    });
  }

  /** Reads it only where it is not as it was written. */
  look(): Promise<ConfigLook> {
    return this.#locks.run(this.file, () => this.#look());
  }

  async #look(): Promise<ConfigLook> {
    const now = await this.#stampNow();
    if (now === undefined || isSame(now, this.#stamp)) return 'own';
    const text = await this.#read();
    if (text === undefined) return 'own';
    const config = parsed(text);
    if (config?.team_id === this.state.teamId && isLater(config.adoption, this.state.adoption))
      return 'adopted';
    if (this.#text === undefined || text === this.#text) return 'own';
    return config === undefined || config.team_id === this.state.teamId ? 'edited' : 'other_team';
  }

  async #stampNow(): Promise<FileStamp | undefined> {
    return unlessMissing(() => this.files.stamp(this.file));
  }

  async #read(): Promise<string | undefined> {
    return unlessMissing(() => this.files.read(this.file));
  }
}

/** The text of `config.json`. */
export function configText(state: TeamState): string {
  const members = state.members().map((member) => ({
    name: member.name,
    role: member.role,
    status: member.status,
    incarnation: member.incarnation,
    ...(member.statusReason === undefined || isGone(member) ? {} : { reason: member.statusReason }),
  }));
  const { teamName: team_name, teamId: team_id, adoption } = state;
  const config = { team_name, team_id, ...(adoption === undefined ? {} : { adoption }), members };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function parsed(text: string): z.infer<typeof shape> | undefined {
  try {
    return shape.safeParse(JSON.parse(text)).data;
  } catch {
    // Damaged by whomever: it is written anew.
    return undefined;
  }
}

function isSame(a: FileStamp, b: FileStamp | undefined): boolean {
  return b !== undefined && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino;
}

async function unlessMissing<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
