import * as path from 'node:path';
import { StorageError } from '../store';
import type { Disposable } from '../team/events';
import { FreshLook } from '../team/freshLook';
import type { JournalItem } from '../team/ledger';
import type { MemberStatus } from '../team/member';
import { readRoster } from '../team/roster';
import { FolderWatch } from './folderWatch';
import type { FollowedTeam } from './followedTeam';

/** The next reading waits this many times as long as the last one took, so that a long journal costs little. */
const PAUSE_FACTOR = 4;
const MIN_PAUSE = 30;

export interface FollowerOptions {
  journalDir: string;
  /** `.team/` of the workspace, where the owner writes who works. */
  teamDir: string;
  readJournal: () => Promise<readonly JournalItem[]>;
  /** True while somebody runs the team; without an owner nobody is working. */
  isRun: () => boolean;
  report(error: unknown): void;
}

/** Keeps a followed team up to date with the journal that its owner writes. Writes nothing. */
export class JournalFollower implements Disposable {
  readonly #watches: FolderWatch[];
  readonly #statuses = new FreshLook(() => this.#showStatuses());
  #reading = false;
  #dirty = false;
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(
    private readonly followed: FollowedTeam,
    private readonly options: FollowerOptions,
  ) {
    const watch = (dir: string, change: () => void) => new FolderWatch(dir, change, options.report);
    this.#watches = [
      watch(options.journalDir, () => this.refresh()),
      watch(options.teamDir, () => void this.#statuses.now()),
    ];
  }

  /** @throws {StorageError} when the journal cannot be read */
  async start(): Promise<void> {
    for (const watch of this.#watches) watch.start();
    this.followed.take(await readPatiently(this.options.readJournal));
    await this.#statuses.now();
  }

  /** Reads again, soon; also when somebody else owns the team, or nobody. */
  refresh(): void {
    this.#dirty = true;
    if (!this.#reading && !this.#timer && !this.#disposed) void this.#read();
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    for (const watch of this.#watches) watch.dispose();
  }

  async #read(): Promise<void> {
    this.#reading = true;
    this.#dirty = false;
    const began = performance.now();
    try {
      const items = await readPatiently(this.options.readJournal);
      if (this.#disposed) return;
      this.followed.take(items);
      await this.#statuses.now();
    } catch (error) {
      this.options.report(error);
    } finally {
      this.#reading = false;
    }
    if (this.#disposed) return;
    const pause = Math.max(MIN_PAUSE, PAUSE_FACTOR * (performance.now() - began));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#dirty) void this.#read();
    }, pause);
    this.#timer.unref();
  }

  async #showStatuses(): Promise<void> {
    const roster = this.options.isRun() ? await readRoster(this.options.teamDir) : undefined;
    if (this.#disposed) return;
    const statuses = new Map<string, MemberStatus>();
    if (roster?.teamId === this.followed.team.state.teamId) {
      for (const { name, status } of roster.members) statuses.set(name, status);
    }
    this.followed.show(statuses);
  }
}

export function journalDirOf(storageDir: string): string {
  return path.join(storageDir, 'journal');
}

/** Its owner may be replacing files just now; then they are there under other names a moment later. */
async function readPatiently(read: () => Promise<readonly JournalItem[]>): Promise<readonly JournalItem[]> {
  for (let tries = 3; ; tries--) {
    try {
      return await read();
    } catch (error) {
      if (tries <= 1 || !(error instanceof StorageError) || error.code !== 'ENOENT') throw error;
    }
  }
}
