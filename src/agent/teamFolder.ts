import * as path from 'node:path';
import { LEAD } from '../protocol';
import type { StoreFileSystem } from '../store';
import type { Disposable } from '../team/events';
import { FileWatch } from '../team/fileWatch';
import { ForeignMail } from '../team/foreignMail';
import { InboxFiles } from '../team/inboxFiles';
import { messageOf, sentenceOf } from '../team/ledger';
import { LOG_FILE, Mirror } from '../team/mirror';
import { OwnConfig } from '../team/ownConfig';
import type { Clock } from '../team/ports';
import { TaskFolder } from '../team/taskFolder';
import type { Team } from '../team/team';
import { FolderClaim } from './folderClaim';
import { FolderWatch } from './folderWatch';
import { TeamFiles } from './teamFiles';

/** As {@link WorkspaceMirrorFiles.writeAtomic} names what it has not yet put in place. */
const UNFINISHED = /^\..+\.[0-9a-f]{12}\.tmp$/;
const INBOX = /^([a-z][a-z0-9_-]{0,31})\.jsonl$/;
const RETRY_MS = 2000;

/** `.team/` in the workspace: the mirror that is written, and the inboxes that others may write to. */
export class TeamFolder implements Disposable {
  readonly #mirror: Mirror;
  readonly #inboxes: InboxFiles;
  readonly #tasks: TaskFolder;
  readonly #watch: FileWatch;
  readonly #dir: string;
  readonly #files: TeamFiles;
  readonly #claim: FolderClaim;
  readonly #rosterWatch: FolderWatch;
  readonly #subscription: Disposable;
  readonly #checks = new Set<Promise<void>>();
  #stopped = false;
  /** Why the inbox of a member could not be read when it was last looked at. */
  readonly #broken = new Map<string, string>();
  #logEditTold = false;
  #unwatchedTold = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(
    root: string,
    private readonly team: Team,
    private readonly clock: Clock,
    private readonly onSettled: () => void,
    fileSystem?: StoreFileSystem,
    /** False once another window runs the team: what lies in the inboxes is then that window's to take. */
    private readonly isHeld: () => boolean = () => true,
    private readonly onAdopted: () => void = () => undefined,
  ) {
    this.#dir = path.join(root, '.team');
    const inboxDir = path.join(this.#dir, 'inbox');
    this.#files = new TeamFiles(root, fileSystem, () => config, {
      claimConfig: () => this.#claim.claim(),
      // What is watched may be a folder that is gone.
      onMade: () => this.#watch.dispose(),
      isOurs: () => this.#claim.look(),
      onLogEdited: (file) => this.#tellLogEdited(file),
    });
    const config = new OwnConfig(this.#dir, this.#files, team.state);
    this.#claim = new FolderClaim({
      state: team.state,
      clock,
      files: this.#files,
      dir: this.#dir,
      config,
      renewConfig: () => this.#mirror.renewConfig(),
      onAdopted: () => this.onAdopted(),
      notice: (level, text) => this.#notice(level, text),
    });
    this.#rosterWatch = new FolderWatch(
      this.#dir,
      () => void this.#lookAtRoster(),
      (error) => this.#tellUnwatched(`${this.#dir} cannot be watched: ${sentenceOf(error)}`),
    );
    this.#inboxes = new InboxFiles(
      inboxDir,
      this.#files,
      new ForeignMail(team, inboxDir, this.#files, () => clock.now()),
    );
    this.#tasks = new TaskFolder(path.join(this.#dir, 'tasks'), this.#files, team.state.tasks.book, {
      isHeld: () => this.isHeld() && this.#claim.isOurs,
      whenWritten: () => this.#mirror.whenIdle(),
      renew: (id) => this.#mirror.renewTask(id),
      tell: (level, text) => this.#notice(level, text),
      onSettled: () => this.onSettled(),
    });
    // Where the system cannot watch, inboxes are still looked at before each model call.
    this.#watch = new FileWatch(
      inboxDir,
      INBOX,
      (name) => void this.takeForeign(name),
      (error) => this.#tellUnwatched(`${inboxDir} cannot be watched: ${sentenceOf(error)}`),
    );
    this.#mirror = new Mirror(
      this.#dir,
      team.state,
      this.#files,
      this.#inboxes,
      this.#tasks,
      // Where the folder is another window's, that has been said in words of its own.
      (text) => this.#claim.isOurs && this.#notice('error', text),
      () => {
        if (this.#mirror.isFolderReady && this.#watch.start()) this.#takeAll();
        this.onSettled();
      },
    );
    this.#subscription = team.ledger.events.on((event) => this.#mirror.observe(event));
  }

  /** True when nothing is being written to it or read from it. */
  get isIdle(): boolean {
    return this.#mirror.isIdle && this.#checks.size === 0 && this.#tasks.isIdle;
  }

  /** Brings the folder in line with the journal; takes in what was put there while no window was open. */
  async start(): Promise<void> {
    try {
      await this.#claim.claim();
      await this.#sweep();
      await this.#inboxes.recover();
      if (this.isHeld()) await this.#tasks.start(this.clock.now());
    } catch (error) {
      this.#notice('error', `${this.#dir} cannot be read: ${sentenceOf(error)}`);
    }
    this.#rosterWatch.start();
    if (this.team.state.teamId !== '') this.#mirror.refreshAll();
  }

  /** Clears away what a crash left unfinished: copies that were to become files, and the last line of the log. */
  async #sweep(): Promise<void> {
    if ((await this.#files.list(this.#dir)).includes(LOG_FILE)) {
      await this.#files.appendLines(path.join(this.#dir, LOG_FILE), []);
    }
    for (const dir of [this.#dir, path.join(this.#dir, 'inbox'), path.join(this.#dir, 'tasks')]) {
      for (const name of await this.#files.list(dir)) {
        if (UNFINISHED.test(name)) await this.#files.remove(path.join(dir, name));
      }
    }
  }

  /** Takes in foreign lines of one inbox. A failure is told once, and nothing waits for it. */
  async takeForeign(name: string): Promise<void> {
    if (this.#stopped || !this.isHeld() || !this.#claim.isOurs || !this.#isMember(name)) return;
    const check = this.#check(name);
    this.#checks.add(check);
    await check;
    this.#checks.delete(check);
    this.onSettled();
  }

  /** Looks into every inbox. */
  #takeAll(): void {
    for (const name of [LEAD, ...this.team.state.members().map((member) => member.name)]) {
      void this.takeForeign(name);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    this.dispose();
    await Promise.all([...this.#checks, this.#tasks.stop(), this.#mirror.stop()]);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#rosterWatch.dispose();
    this.#claim.dispose();
    this.#watch.dispose();
    this.#tasks.dispose();
  }

  #isMember(name: string): boolean {
    return name === LEAD || this.team.state.member(name) !== undefined;
  }

  async #check(name: string): Promise<void> {
    try {
      if (await this.#inboxes.check(name)) this.#mirror.renewInbox(name);
      this.#broken.delete(name);
    } catch (error) {
      const why = sentenceOf(error);
      // What is in the way of all of them is told once, not for each.
      if (![...this.#broken].some(([other, told]) => told === why && this.#isMember(other))) {
        this.#notice(
          'error',
          `The inbox of ${name} cannot be read: ${why} It is tried again; nothing in it is lost.`,
        );
      }
      this.#broken.set(name, why);
      // A line that waits in a file tells nobody by itself.
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.#takeAll(), RETRY_MS).unref();
    }
  }

  /** Also when nothing is to be written: who else runs the team is to be known at once. */
  async #lookAtRoster(): Promise<void> {
    try {
      await this.#claim.look();
    } catch (error) {
      this.#notice('info', messageOf(error));
    }
  }

  #tellLogEdited(file: string): void {
    if (this.#logEditTold) return;
    this.#logEditTold = true;
    this.#notice(
      'warning',
      `${file} was changed by another program. What happens from now on is added to it; what happened before stands in the journal.`,
    );
  }

  /** Said once: the notice is itself a line of the log, after which watching is tried again. */
  #tellUnwatched(text: string): void {
    if (this.#unwatchedTold) return;
    this.#unwatchedTold = true;
    this.#notice('info', text);
  }

  #notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.team.ledger.events.fire({ type: 'notice', level, text });
  }
}
