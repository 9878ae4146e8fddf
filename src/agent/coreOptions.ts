import type { CallLimiter } from '../model/limiter';
import type { LanguageModel } from '../model/port';
import type { StoreFileSystem, Vault } from '../store';
import type { Ledger } from '../team/ledger';
import type { Clock } from '../team/ports';
import type { CoreSettings } from '../team/settings';
import type { Tool } from '../tools';
import type { Workspace } from '../workspace/port';

/** What a core is made of; the composition root brings it, tests may bring other parts. */
export interface CoreOptions {
  workspace: Workspace;
  /** The extension's own storage for this workspace: journal and transcripts. */
  storageDir: string;
  /** Keeps the journal's key and anchor. */
  vault: Vault;
  settings: () => CoreSettings;
  /**
   * The words for one call of a member, with a model of its own where it has one; asked before each call, so that
   * a new key or model counts at once.
   */
  languageModel(member: string, model: string | undefined): Promise<LanguageModel>;
  /** Shared by all members; by default one that allows {@link DEFAULT_CONCURRENT_CALLS}. */
  limiter?: CallLimiter;
  log(level: 'info' | 'warning' | 'error', text: string): void;
  clock?: Clock;
  /** This window's hold on the team; without one nobody else can take it over. */
  ownership?: { readonly epoch: number; isHeld(): boolean };
  /** Under journal, transcripts and the files of `.team/`; the machine's own unless a test brings another. */
  fileSystem?: StoreFileSystem;
  /** Another window, with a journal of its own, has adopted the team: nothing more is written to `.team/`. */
  onAdopted?(): void;
  /** Called with the replayed team before anything of it runs; it may write records, or refuse by throwing. */
  prepare?(ledger: Ledger): Promise<void>;
  /** Take over a journal that another key signed: the human was told, and said so. */
  acceptsForeignKey?: boolean;
  /** Tools of others for all members. Each asks first, and while one runs no decision is taken by string id. */
  foreignTools?: readonly Tool[];
}

/** Enough for a team at work, and few enough for the limits of a small account. */
export const DEFAULT_CONCURRENT_CALLS = 8;
