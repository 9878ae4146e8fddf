import type { Disposable, TeamEvent } from '../team/events';
import type { Clock } from '../team/ports';
import type { Core, MemberActivity } from './coreApi';
import type { FollowedTeam } from './followedTeam';
import { ReadOnlyError, type ReadOnlyReason } from './readOnly';
import { TeamView } from './teamView';
import type { TranscriptRecord } from './transcript';

export interface ReadOnlyParts {
  followed: FollowedTeam;
  /** The name where the records have none yet. */
  newTeamName: string;
  clock: Clock;
  reason: () => ReadOnlyReason;
  readTranscript(name: string, number: number): Promise<readonly TranscriptRecord[]>;
  dispose(): void;
}

/** A team that another window runs, or none: everything can be looked at, and nothing can be changed. */
export class ReadOnlyCore extends TeamView implements Core {
  constructor(private readonly parts: ReadOnlyParts) {
    super(parts.clock, parts.newTeamName);
  }

  get readOnly(): ReadOnlyReason {
    return this.parts.reason();
  }

  protected get team() {
    return this.parts.followed.team;
  }

  leadStatus(): ReturnType<Core['leadStatus']> {
    return { status: 'idle' };
  }

  /** What a member is doing is known to its owner alone. */
  activity(): MemberActivity {
    return {};
  }

  protected readTranscript(name: string, number: number): Promise<readonly TranscriptRecord[]> {
    return this.parts.readTranscript(name, number);
  }

  /** Nobody is started here. */
  async roles(): ReturnType<Core['roles']> {
    return { roles: [], problems: [] };
  }

  resumable(): readonly string[] {
    return [];
  }

  /** Nothing runs here. */
  async whenIdle(): Promise<void> {}

  on(listener: (event: TeamEvent) => void): Disposable {
    return this.parts.followed.events.on(listener);
  }

  async dispose(): Promise<void> {
    this.parts.dispose();
  }

  decide = (): Promise<never> => this.#refuse();
  sendToLead = (): Promise<never> => this.#refuse();
  spawn = (): Promise<never> => this.#refuse();
  sendMessage = (): Promise<never> => this.#refuse();
  broadcast = (): Promise<never> => this.#refuse();
  requestShutdown = (): Promise<never> => this.#refuse();
  requestPlan = (): Promise<never> => this.#refuse();
  interrupt = (): Promise<never> => this.#refuse();
  forceStop = (): Promise<never> => this.#refuse();
  retry = (): Promise<never> => this.#refuse();
  stopAll = (): Promise<never> => this.#refuse();
  allowTokens = (): Promise<never> => this.#refuse();
  newConversation = (): Promise<never> => this.#refuse();
  cleanUpTeam = (): Promise<never> => this.#refuse();
  createWorktree = (): Promise<never> => this.#refuse();
  inspectWorktree = (): Promise<never> => this.#refuse();
  removeWorktree = (): Promise<never> => this.#refuse();
  reviewWork = (): Promise<never> => this.#refuse();
  reviewContent = (): Promise<never> => this.#refuse();
  acceptWork = (): Promise<never> => this.#refuse();
  sendBack = (): Promise<never> => this.#refuse();
  createTask = (): Promise<never> => this.#refuse();
  updateTask = (): Promise<never> => this.#refuse();
  assignTask = (): Promise<never> => this.#refuse();
  releaseTask = (): Promise<never> => this.#refuse();
  completeTask = (): Promise<never> => this.#refuse();

  /** Nobody waits for a key here. */
  modelChanged(): void {}

  /** @throws {ReadOnlyError} */
  resume(): void {
    throw new ReadOnlyError(this.readOnly);
  }

  /** No tool runs here, and what the human does is refused for another reason. */
  refuseFromCode(): void {}

  /** Nobody waits here. */
  recheck(): void {}

  #refuse(): Promise<never> {
    return Promise.reject(new ReadOnlyError(this.readOnly));
  }
}
