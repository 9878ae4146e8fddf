import { setForeignConfigAside } from '../team/configFile';
import type { Disposable } from '../team/events';
import { FreshLook } from '../team/freshLook';
import type { OwnConfig } from '../team/ownConfig';
import type { Clock, MirrorFiles } from '../team/ports';
import type { TeamState } from '../team/state';
import { Retry } from './retry';

export interface FolderClaimHost {
  state: TeamState;
  clock: Clock;
  files: MirrorFiles;
  dir: string;
  config: OwnConfig;
  /** Writes the roster anew. */
  renewConfig(): void;
  /** Another window, with a journal of its own, goes on with this very team. */
  onAdopted(): void;
  notice(level: 'warning' | 'error', text: string): void;
}

/** A roster that is changed again and again is written anew ever more rarely. */
const FIRST_RENEWAL_MS = 20;

/**
 * Whose `.team/` is. The roster says so: one that somebody edited is written anew, one of another team is kept
 * beside once, and where another window goes on with the folder nothing more is written to it.
 */
export class FolderClaim implements Disposable {
  readonly #renewal: Retry;
  readonly #looks = new FreshLook(() => this.#look());
  #isClaimed = false;
  #isLost = false;
  #editTold = false;
  #othersKept = 0;

  constructor(private readonly host: FolderClaimHost) {
    this.#renewal = new Retry(() => host.renewConfig(), FIRST_RENEWAL_MS);
  }

  /** False once the folder is another window's. */
  get isOurs(): boolean {
    return !this.#isLost;
  }

  /** Once a session: a roster that is not this team's is kept beside. */
  async claim(): Promise<void> {
    const { teamId } = this.host.state;
    if (this.#isClaimed) return;
    const said = await this.#keepBeside();
    // Without a team of its own, only a damaged file has been named so far; a foreign one is set aside
    // when the first own one is written.
    if (teamId !== '') this.#isClaimed = true;
    if (said !== undefined) this.host.notice('warning', said);
  }

  /** Looks at the roster, and does what has to be done. @returns whether the folder is this team's still */
  look(): Promise<boolean> {
    return this.#looks.now();
  }

  async #look(): Promise<boolean> {
    if (this.#isLost || !this.#isClaimed) return !this.#isLost;
    const look = await this.host.config.look();
    if (look === 'adopted') this.#lose();
    else if (look === 'other_team') await this.#meetOther();
    else if (look === 'edited') {
      if (!this.#editTold) {
        const text = `${this.host.config.file} was changed by another program. It is written anew from the journal, which alone says who is in the team.`;
        this.host.notice('warning', text);
      }
      this.#editTold = true;
      this.#renewal.schedule();
    }
    return !this.#isLost;
  }

  dispose(): void {
    this.#renewal.dispose();
  }

  #lose(): void {
    this.#isLost = true;
    this.#renewal.dispose();
    this.host.onAdopted();
  }

  /** The first time somebody may have copied a file here; the second time a window writes against this one. */
  async #meetOther(): Promise<void> {
    this.#othersKept += 1;
    if (this.#othersKept > 1) {
      this.#isLost = true;
      const text = `Another window works with another team in this folder: ${this.host.dir} is left to it, and shows nothing of this team any more. The team works on from its journal. Close one of the two windows, and load the other anew.`;
      this.host.notice('error', text);
      return;
    }
    const said = await this.#keepBeside();
    if (said !== undefined) this.host.notice('warning', said);
    this.#renewal.schedule();
  }

  #keepBeside(): Promise<string | undefined> {
    const { files, dir, state, clock } = this.host;
    return setForeignConfigAside(files, dir, state.teamId, clock.now());
  }
}
