import { randomUUID } from 'node:crypto';
import * as path from 'node:path';
import {
  atomicWriteFile,
  claimOwnership,
  ForeignKeyError,
  fencedFileSystem,
  Journal,
  type Ownership,
  OwnerWatch,
  StorageError,
} from '../store';
import { adoptionRecords, clearInboxes, keepBeside, markAdopted } from '../team/adoption';
import { type Disposable, Emitter } from '../team/events';
import { type JournalItem, type Ledger, messageOf } from '../team/ledger';
import { isLater, nextAdoption } from '../team/lineage';
import type { Clock } from '../team/ports';
import { type Roster, readRoster } from '../team/roster';
import { openCore } from './core';
import type { Core } from './coreApi';
import type { CoreOptions } from './coreOptions';
import { journalDirOf } from './journalFollower';
import { openForeign, openReader, type Reader } from './openReader';
import { ReadOnlyError, type ReadOnlyReason } from './readOnly';
import { Retry } from './retry';

export interface OpenTeamOptions extends CoreOptions {
  /**
   * Milliseconds after opening in which a team that becomes free is run here without a word: a window that
   * reloads may come before its old self has ended.
   */
  graceMs?: number;
  /** Milliseconds after which a storage that failed is tried again, at first. */
  retryMs?: number;
  /** Milliseconds that another window has to pause when the team is taken over. */
  patienceMs?: number;
}

/** `core`: another core stands in {@link OpenTeam.core}. `owner`: the same one, with all of it to be looked at anew. */
export type TeamChange = 'core' | 'owner';

interface HowToRun {
  takeOver?: boolean;
  /** Adopt it, and what the human had been told when they said so. */
  adopt?: ReadOnlyReason['kind'];
}

const DEFAULT_GRACE_MS = 3000;
const systemClock: Clock = { now: () => Date.now(), uuid: () => randomUUID() };

/** `config.json` is of a team that the journal does not know, or that went on in another journal. */
class ForeignTeam extends Error {
  constructor(
    readonly roster: Roster,
    readonly kind: 'foreign' | 'adopted',
  ) {
    super(`The journal of the team '${roster.teamName}' is not here.`);
  }
}

/**
 * Opens the team of a workspace folder: to run it, when nobody else does and its journal is here; else to
 * look at it.
 * @throws {StorageError} when the journal cannot be read
 */
export async function openTeam(options: OpenTeamOptions): Promise<OpenTeam> {
  const team = new OpenTeam(options);
  await team.open();
  return team;
}

/** The team of a workspace folder in this window, which runs it or shows it; see {@link openTeam}. */
export class OpenTeam {
  readonly #changes: Emitter<TeamChange>;
  /** While the team is only shown. */
  #watch: OwnerWatch | undefined;
  readonly #clock: Clock;
  #core: Core | undefined;
  #reader: Reader | undefined;
  #reason: ReadOnlyReason = { kind: 'free' };
  /** Why the last attempt to run the team here failed, whoever has run it since. */
  #obstacle: ReadOnlyReason | undefined;
  #owner: Ownership | undefined;
  /** The core that this window runs, while it is being opened and after. */
  #running: Promise<Core> | undefined;
  #isOpening = true;
  #graceTimer: NodeJS.Timeout | undefined;
  readonly #retry: Retry;
  #turn: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor(private readonly options: OpenTeamOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#retry = new Retry(() => this.#soon(() => this.#tryAgain()), options.retryMs);
    this.#changes = new Emitter((error) => options.log('error', messageOf(error)));
  }

  /** The team as it is open now; another one after a {@link TeamChange} `core`. */
  get core(): Core {
    if (!this.#core) throw new Error('The team is not open.');
    return this.#core;
  }

  onDidChange(listener: (change: TeamChange) => void): Disposable {
    return this.#changes.on(listener);
  }

  /** Called once, by {@link openTeam}. */
  open(): Promise<void> {
    return this.#inTurn(async () => {
      const why = await this.#run({});
      if (why) await this.#show(why);
      // It ended between the two looks.
      if (why?.reason.kind === 'held' && this.#reason.kind === 'free') await this.#ownerChanged();
      this.#graceTimer = setTimeout(() => {
        this.#isOpening = false;
      }, this.options.graceMs ?? DEFAULT_GRACE_MS);
      this.#graceTimer.unref();
    });
  }

  /**
   * Runs the team in this window; one that runs it elsewhere pauses and becomes read-only. Nothing is done
   * when it is run here already.
   * @throws {ReadOnlyError} when somebody was quicker, or the team has to be adopted first
   */
  takeOver(): Promise<void> {
    return this.#inTurn(() => this.#change({ takeOver: true }));
  }

  /**
   * Runs here what was run elsewhere. Where `config.json` names another team, this window's journal becomes that
   * team's: its members count as shut down, and what they had not been shown goes to the lead. Where the window
   * said that another key signed the journal, that one is taken over and signed anew; its permits are void.
   */
  adopt(): Promise<void> {
    // What the human saw when they said so counts, not what turned out since.
    const told = this.#reason.kind;
    return this.#inTurn(() => this.#change({ takeOver: true, adopt: told }));
  }

  /** Ends what runs here, and frees the team; what cannot be written any more is logged. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#graceTimer);
    this.#retry.dispose();
    await this.#inTurn(async () => {
      this.#watch?.dispose();
      await this.#core?.dispose();
      await this.#owner?.release();
    });
  }

  async #change(how: HowToRun): Promise<void> {
    if (this.#owner || this.#disposed) return;
    const why = await this.#runInstead(how);
    if (!why) return;
    this.#because(why);
    throw new ReadOnlyError(why);
  }

  /**
   * Runs what is only shown now. An attempt that fails owns the team for a moment, which is nothing to be told of.
   * @returns undefined when the team is run here now, else why not
   */
  async #runInstead(how: HowToRun): Promise<ReadOnlyReason | undefined> {
    const shown = this.#core;
    this.#watch?.dispose();
    const why = await this.#run(how);
    if (why) await this.#watchOwner();
    else await this.#endShowing(shown);
    return why?.reason;
  }

  /** @returns undefined when the team is run here now, else why not */
  async #run(how: HowToRun): Promise<{ reason: ReadOnlyReason; roster?: Roster } | undefined> {
    const { storageDir, patienceMs } = this.options;
    try {
      const claim = await claimOwnership(storageDir, {
        takeOver: how.takeOver === true,
        onAsked: ({ pid }) => this.#pause(pid),
        ...(patienceMs === undefined ? {} : { patience: patienceMs }),
      });
      if ('heldBy' in claim) {
        this.#overcome();
        return { reason: { kind: 'held', ...claim.heldBy } };
      }
      const { owner, forced } = claim;
      if (forced !== undefined) this.options.log('warning', `The team was taken over by force: ${forced}.`);
      await this.#runAs(owner, how);
      this.#overcome();
      return undefined;
    } catch (error) {
      if (error instanceof ForeignTeam) {
        const { roster } = error;
        return { reason: { kind: error.kind, teamName: roster.teamName }, roster };
      }
      if (!(error instanceof StorageError)) throw error;
      this.#obstacle =
        error instanceof ForeignKeyError ? { kind: 'foreign_key' } : { kind: 'storage', text: error.message };
      if (this.#obstacle.kind === 'storage') this.#retry.schedule();
      return { reason: this.#obstacle };
    }
  }

  /** The disk may have space again, or the keyring be open. Nothing is said while that is not so. */
  async #tryAgain(): Promise<void> {
    if (this.#owner || this.#disposed || this.#obstacle?.kind !== 'storage') return;
    const why = await this.#runInstead({});
    const isSame =
      why?.kind === 'storage' && this.#reason.kind === 'storage' && why.text === this.#reason.text;
    if (why && !isSame) this.#because(why);
  }

  /** Nothing stands in the way any more, or somebody else runs the team. */
  #overcome(): void {
    this.#obstacle = undefined;
    this.#retry.reset();
  }

  async #runAs(owner: Ownership, how: HowToRun): Promise<void> {
    const fileSystem = fencedFileSystem(() => owner.isHeld(), this.options.fileSystem);
    const running = openCore({
      ...this.options,
      fileSystem,
      ownership: owner,
      ...(how.adopt === 'foreign_key' ? { acceptsForeignKey: true } : {}),
      onAdopted: () => this.#soon(() => this.#adopted(owner)),
      prepare: (ledger) => this.#prepare(ledger, how.adopt !== undefined),
    });
    this.#running = running;
    try {
      this.#core = await running;
    } catch (error) {
      await owner.release();
      throw error;
    }
    this.#owner = owner;
    owner.onLost(() => this.#soon(() => this.#lost(owner)));
  }

  /** Before anything of the team runs: is its journal the one that `config.json` speaks of? */
  async #prepare(ledger: Ledger, adopt: boolean): Promise<void> {
    const dir = this.#teamDir;
    const roster = await readRoster(dir);
    const { state } = ledger;
    if (!roster) return;
    const isKnown = roster.teamId === state.teamId;
    if (isKnown && !isLater(roster.adoption, state.adoption)) return;
    // A journal that lost the line with its team's name is still that team's.
    const isNamelessHere =
      state.teamId === '' && (state.members().length > 0 || state.registry.all().length > 0);
    if (isNamelessHere) return;
    if (!adopt) throw new ForeignTeam(roster, isKnown ? 'adopted' : 'foreign');
    const adoption = nextAdoption(roster.adoption, this.#clock.uuid());
    const records = await adoptionRecords(dir, roster, state, this.#clock, adoption);
    await keepBeside(dir, this.#clock.now());
    await ledger.commit(records);
    await markAdopted(dir, adoption, atomicWriteFile);
    await clearInboxes(dir);
  }

  /** Another window asks for the team: everything here ends, and is written. */
  async #pause(pid: number): Promise<void> {
    this.options.log('info', `Another window (process ${pid}) takes the team over; this one pauses.`);
    const core = await this.#running?.catch(() => undefined);
    await core?.dispose();
  }

  async #lost(owner: Ownership): Promise<void> {
    if (this.#owner !== owner || this.#disposed) return;
    this.#owner = undefined;
    // Paused already, unless it slept through that; then nothing it still wants to write counts, and a loop
    // that tries to is not waited for.
    this.#core?.dispose().catch((error: unknown) => this.options.log('info', messageOf(error)));
    await this.#show({ reason: { kind: 'free' } });
    this.#changes.fire('core');
  }

  /** Another window, with a journal of its own, goes on with the team: here everything ends and is written. */
  async #adopted(owner: Ownership): Promise<void> {
    const roster = await readRoster(this.#teamDir);
    if (this.#owner !== owner || this.#disposed || !roster) return;
    this.options.log(
      'warning',
      'Another window has adopted this team; this one ends its work and is read-only.',
    );
    this.#owner = undefined;
    await this.#core?.dispose();
    await owner.release();
    await this.#show({ reason: { kind: 'adopted', teamName: roster.teamName }, roster });
    this.#changes.fire('core');
  }

  async #show({ reason, roster }: { reason: ReadOnlyReason; roster?: Roster }): Promise<void> {
    const options = {
      ...this.options,
      clock: this.#clock,
      reason: () => this.#reason,
      readJournal: () => this.#readJournal(),
      onRebuilt: () => this.#changes.fire('owner'),
    };
    this.#reason = reason;
    await this.#watchOwner();
    if (!roster) this.#reason = this.#presentReason();
    try {
      this.#reader = roster ? openForeign(options, roster) : await openReader(options);
    } catch (error) {
      this.#watch?.dispose();
      throw error;
    }
    this.#core = this.#reader.core;
  }

  async #watchOwner(): Promise<void> {
    this.#watch?.dispose();
    const watch = new OwnerWatch(
      this.options.storageDir,
      () => this.#soon(() => this.#ownerChanged()),
      (error) => this.options.log('info', messageOf(error)),
    );
    this.#watch = watch;
    await watch.start();
  }

  async #ownerChanged(): Promise<void> {
    if (this.#owner || this.#disposed || this.#isElsewhere) return;
    if (!this.#watch?.owner && this.#isOpening) {
      if (!(await this.#runInstead({}))) return;
    }
    this.#because(this.#presentReason());
  }

  async #endShowing(shown: Core | undefined): Promise<void> {
    this.#watch?.dispose();
    this.#watch = undefined;
    this.#reader = undefined;
    await shown?.dispose();
    this.#changes.fire('core');
  }

  #presentReason(): ReadOnlyReason {
    const owner = this.#watch?.owner;
    // What stood in the way here stood in nobody's way there.
    if (owner) this.#overcome();
    if (owner) return { kind: 'held', ...owner };
    return this.#obstacle ?? { kind: 'free' };
  }

  #because(reason: ReadOnlyReason): void {
    this.#reason = reason;
    this.#reader?.ownerChanged();
    this.#changes.fire('owner');
  }

  /** What is being written at this moment looks damaged; whoever runs the team tells of true damage. */
  #readJournal(): Promise<readonly JournalItem[]> {
    const { storageDir, vault, fileSystem } = this.options;
    return Journal.read(journalDirOf(storageDir), {
      vault,
      onDamage: () => undefined,
      ...(fileSystem === undefined ? {} : { fileSystem }),
    });
  }

  /** The team goes on in another journal than this window's. */
  get #isElsewhere(): boolean {
    return this.#reason.kind === 'foreign' || this.#reason.kind === 'adopted';
  }

  get #teamDir(): string {
    return path.join(this.options.workspace.root, '.team');
  }

  /** For what nobody waits for. */
  #soon(run: () => Promise<void>): void {
    this.#inTurn(run).catch((error: unknown) => this.options.log('error', messageOf(error)));
  }

  /** One change at a time. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
