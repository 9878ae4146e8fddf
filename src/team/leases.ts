import { LEAD } from '../protocol';
import type { Changer } from './leaseBook';
import type { Lease } from './leaseRecords';
import type { Ledger } from './ledger';
import type { Clock } from './ports';

/** A file that a call is about to change. */
export interface TouchedFile {
  /** The same for every name of the file; another one in another working tree. */
  readonly key: string;
  readonly path: string;
  /** The member has seen it as it is, or there is no such file yet. */
  readonly isKnown: boolean;
}

/** What the runtime does so that two members do not change one file without knowing of each other. */
export class Leases {
  /** On their way to the disk. */
  readonly #taking = new Set<Lease>();

  constructor(
    private readonly ledger: Ledger,
    private readonly clock: Clock,
    private readonly isFenced: (name: string, incarnation: number) => boolean,
  ) {}

  get #book() {
    return this.ledger.state.leases;
  }

  /** A member as it changes files now; undefined when it is not there any more. */
  changer(member: string, incarnation: number): Changer | undefined {
    if (member === LEAD) return { member, incarnation, task: LEAD };
    const present = this.ledger.state.member(member);
    if (present?.incarnation !== incarnation) return undefined;
    return { member, incarnation, task: present.taskId };
  }

  /**
   * Whether a member has to hear of others first. It is told once of each; after that it may go on, once it has
   * seen the file as it is now.
   * @param onTold called when it is told: what it knew of the file is out of date
   * @returns what to answer in place of the change, or undefined
   * @throws the journal's error; then it was not told
   */
  async refusal(file: TouchedFile, changer: Changer, onTold: () => void): Promise<string | undefined> {
    const others = this.#others(file.key, changer.member);
    if (others.length === 0) return undefined;
    const news = others.filter((lease) => !this.#book.isTold(lease, changer));
    if (news.length > 0) {
      onTold();
      const { key, path } = file;
      const at = this.clock.now();
      await this.ledger.commit([{ t: 'overlap', overlap: { key, path, ...changer, others: news, at } }]);
      return this.#sentence(file.path, news);
    }
    if (file.isKnown) return undefined;
    return `Not run: ${file.path} is being changed by ${namesOf(others)} too. Read it as it is now (read_file), then repeat the change.`;
  }

  /** Whether somebody came first since the member was told; to be asked in the tick in which {@link take} begins. */
  hasNews(file: TouchedFile, changer: Changer): boolean {
    return this.#others(file.key, changer.member).some((lease) => !this.#book.isTold(lease, changer));
  }

  /**
   * Holds the file for the changer from this tick on.
   * @param write journals the record, with whatever it belongs to
   */
  async take(
    file: TouchedFile,
    changer: Changer,
    write: (records: { t: 'lease'; lease: Lease }[]) => Promise<void>,
  ): Promise<void> {
    if (this.#book.has(file.key, changer)) return write([]);
    const { key, path } = file;
    const lease: Lease = { key, path, ...changer, at: this.clock.now() };
    this.#taking.add(lease);
    try {
      await write([{ t: 'lease', lease }]);
    } finally {
      this.#taking.delete(lease);
    }
  }

  /** The lead's turn has ended, or was cut off. */
  async endOfTurn(): Promise<void> {
    if (this.#book.of(LEAD).length === 0) return;
    await this.ledger.commit([{ t: 'leases_freed', member: LEAD, at: this.clock.now() }]);
  }

  #others(key: string, member: string): Lease[] {
    const taking = [...this.#taking].filter((lease) => lease.key === key && lease.member !== member);
    return [...this.#book.others(key, member), ...taking].filter(
      (lease) => !this.isFenced(lease.member, lease.incarnation),
    );
  }

  #sentence(path: string, others: readonly Lease[]): string {
    const who = others.map(({ member, task, at }) => {
      const subject = this.ledger.state.tasks.book.get(task)?.subject;
      const what = member === LEAD ? '' : ` for ${task}${subject === undefined ? '' : ` (${subject})`}`;
      return `${member} has been changing it${what} since ${new Date(at).toISOString()} (${ago(this.clock.now() - at)} ago)`;
    });
    return `Not run: ${path}: ${who.join('; ')}. Do something else first, or agree with ${namesOf(others)} (send_message). If you have to change it now, read it again (read_file) and repeat the change.`;
  }
}

function namesOf(leases: readonly Lease[]): string {
  return [...new Set(leases.map(({ member }) => member))].join(' and ');
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes === 0 ? `${Math.max(0, Math.round(ms / 1000))} s` : `${minutes} min`;
}
