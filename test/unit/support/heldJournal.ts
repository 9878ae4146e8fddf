import { Board } from '../../../src/team/board';
import { Decisions } from '../../../src/team/decisions';
import { type Journal, Ledger } from '../../../src/team/ledger';
import { KeyedLock } from '../../../src/team/locks';
import type { Clock } from '../../../src/team/ports';
import type { TeamRecord } from '../../../src/team/records';
import { Recruiting } from '../../../src/team/recruiting';
import type { CoreSettings } from '../../../src/team/settings';
import { Team } from '../../../src/team/team';
import { type Deferred, deferred } from './turns';

/** A journal in memory that writes when the test says so, or fails. Writes end in the order they came. */
export class HeldJournal implements Journal {
  readonly written: TeamRecord[] = [];
  /** Appends under way, oldest first. */
  readonly waiting: { records: readonly TeamRecord[]; end: Deferred<void> }[] = [];
  held = false;
  #arrivals: Deferred<void> = deferred();

  async append(records: readonly TeamRecord[], onDurable: () => void): Promise<void> {
    if (this.held) {
      const end = deferred();
      this.waiting.push({ records, end });
      this.#arrivals.resolve();
      this.#arrivals = deferred();
      await end.promise;
    }
    this.written.push(...records);
    onDurable();
  }

  /** Resolves when so many appends wait. */
  async arrived(count: number): Promise<void> {
    while (this.waiting.length < count) await this.#arrivals.promise;
  }

  /** Lets the oldest append succeed. */
  letThrough(): void {
    this.waiting.shift()?.end.resolve();
  }

  fail(error: Error): void {
    this.waiting.shift()?.end.reject(error);
  }

  /** Holds nothing any more. */
  release(): void {
    this.held = false;
    while (this.waiting.length > 0) this.letThrough();
  }

  async close(): Promise<void> {}

  kinds(): string[] {
    return this.written.map((record) => record.t);
  }
}

export function coreSettings(change: Partial<CoreSettings> = {}): CoreSettings {
  return {
    approvals: { plan: 'either', permission: 'human', team: 'human' },
    permissionMode: 'ask',
    maxTurns: 50,
    requestDeadlineMs: 600_000,
    resume: 'ask',
    ...change,
  };
}

/** A clock that counts, and ids that count too: `00000001…`, `00000002…`. */
export function countingClock(): Clock {
  let now = 1000;
  let ids = 0;
  return {
    now: () => now++,
    uuid: () => `${(++ids).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
  };
}

/** A team over a held journal, with teammates that do not run. */
export function heldTeam(change: Partial<CoreSettings> = {}) {
  const journal = new HeldJournal();
  const errors: unknown[] = [];
  const clock = countingClock();
  const settings = coreSettings(change);
  const ledger = new Ledger(
    journal,
    () => ({ t: 'team', team_id: 'team-1', team_name: 'workspace', at: 0 }),
    (error) => void errors.push(error),
  );
  const team = new Team(ledger, clock, () => settings);
  const woken: string[] = [];
  team.useRunners((member) => ({ wake: (cause) => void woken.push(`${member.name} ${cause}`) }));
  return { journal, errors, ledger, team, settings, woken, clock };
}

/** What a ledger replayed from these records adds up to. */
export function replayed(records: readonly TeamRecord[]) {
  const errors: unknown[] = [];
  const ledger = new Ledger(
    new HeldJournal(),
    () => ({ t: 'team', team_id: 'other', team_name: 'other', at: 0 }),
    (error) => void errors.push(error),
  );
  ledger.replay(
    records.map((record) => ({ record })),
    0,
  );
  const [locks, clock] = [new KeyedLock(), countingClock()];
  const nobody = (): never => {
    throw new Error('A replay asks nobody.');
  };
  const hooks = { give: nobody, takeBack: nobody, isFree: nobody, isFenced: nobody };
  const board = new Board(ledger, locks, clock, hooks);
  const recruiting = new Recruiting(ledger, locks, clock, coreSettings, board, (name) => {
    throw new Error(`A replay starts nobody, and not ${name}.`);
  });
  const decisions = new Decisions(ledger, locks, clock, coreSettings, () => false, recruiting);
  return { ledger, decisions, errors };
}
