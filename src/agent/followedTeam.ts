import { Emitter, type TeamEvent } from '../team/events';
import { type JournalItem, Ledger } from '../team/ledger';
import type { MemberStatus } from '../team/member';
import type { Clock } from '../team/ports';
import { teamRecord } from '../team/records';
import type { CoreSettings } from '../team/settings';
import { Team } from '../team/team';

/** Statuses that only a running loop knows; the journal does not hold them. */
const RUNNING: ReadonlySet<MemberStatus> = new Set(['working', 'waiting', 'stopping']);

export interface FollowedOptions {
  clock: Clock;
  settings: () => CoreSettings;
  /** What to answer where something would be written. */
  refusal: () => Error;
  /** The records were others than before, as after the journal was made smaller: everything may have changed. */
  onRebuilt(): void;
  report(error: unknown): void;
}

/** A team that is run elsewhere, as its records tell of it. Nothing can be written to it. */
export class FollowedTeam {
  readonly events: Emitter<TeamEvent>;
  #team: Team;
  #first = '';
  #last = '';
  #count = 0;

  constructor(private readonly options: FollowedOptions) {
    this.events = new Emitter<TeamEvent>(options.report);
    this.#team = this.#newTeam();
  }

  get team(): Team {
    return this.#team;
  }

  /** Takes the records as they are now: what follows those it knows is told, anything else is begun anew. */
  take(items: readonly JournalItem[]): void {
    const known = this.#count === 0 || (this.#count <= items.length && this.#goesOn(items));
    if (!known) {
      this.begin(items);
      return;
    }
    const events = items.slice(this.#count).flatMap((item) => this.#apply(item));
    this.#note(items);
    for (const event of events) this.events.fire(event);
  }

  /** Takes the records instead of those it knows. */
  begin(items: readonly JournalItem[]): void {
    this.#team = this.#newTeam();
    for (const item of items) this.#apply(item);
    this.#note(items);
    this.options.onRebuilt();
  }

  /** What the owner's files say of who works now; nobody does whom they do not name. */
  show(statuses: ReadonlyMap<string, MemberStatus>): void {
    for (const member of this.#team.state.members()) {
      const listed = statuses.get(member.name) ?? 'idle';
      const status = RUNNING.has(listed) ? listed : 'idle';
      if (!RUNNING.has(status) && !RUNNING.has(member.status)) continue;
      for (const event of this.#team.state.setStatus(member.name, status)) this.events.fire(event);
    }
  }

  #note(items: readonly JournalItem[]): void {
    this.#count = items.length;
    this.#first = JSON.stringify(items[0]) ?? '';
    this.#last = JSON.stringify(items.at(-1)) ?? '';
  }

  #goesOn(items: readonly JournalItem[]): boolean {
    return JSON.stringify(items[0]) === this.#first && JSON.stringify(items[this.#count - 1]) === this.#last;
  }

  #apply(item: JournalItem): TeamEvent[] {
    if ('gap' in item) return this.#team.state.voidPermits(this.options.clock.now());
    const parsed = teamRecord.safeParse(item.record);
    if (!parsed.success) {
      this.options.report(new Error('A record of the journal is not understood and was left out.'));
      return [];
    }
    try {
      return this.#team.state.apply(parsed.data);
    } catch (error) {
      this.options.report(error);
      return [];
    }
  }

  #newTeam(): Team {
    const { clock, settings, refusal, report } = this.options;
    const journal = { append: () => Promise.reject(refusal()), close: async () => undefined };
    const ledger = new Ledger(
      journal,
      () => ({ t: 'team', team_id: '', team_name: '', at: clock.now() }),
      report,
    );
    return new Team(ledger, clock, settings);
  }
}
