import { LEAD } from '../protocol';
import type { TeamEvent } from './events';
import type { Lease, LeaseRecord, Overlap } from './leaseRecords';
import { isGone, type Member } from './member';

/** Whoever is about to change a file. */
export interface Changer {
  readonly member: string;
  readonly incarnation: number;
  readonly task: string;
}

/**
 * Who changes which file: one lease a file and task, from the first change until the task ends or its owner goes.
 * A lease whose holder has left or moved on while it was being written counts for nothing.
 */
export class LeaseBook {
  /** By file; in it the oldest first. */
  readonly #leases = new Map<string, { lease: Lease; told: Set<string> }[]>();

  constructor(private readonly memberOf: (name: string) => Member | undefined) {}

  apply(record: LeaseRecord): TeamEvent[] {
    switch (record.t) {
      case 'lease':
        return this.#take(record.lease);
      case 'overlap':
        return this.#tell(record.overlap);
      case 'leases_freed':
        this.freeOf(record.member);
        return [];
      case 'kept_lease':
        this.#put(record.lease, new Set(record.told));
        return [];
    }
  }

  /** Every lease, by file and then age. */
  all(): Lease[] {
    return [...this.#leases.values()].flatMap((entries) => entries.map(({ lease }) => lease));
  }

  of(member: string): Lease[] {
    return this.all().filter((lease) => lease.member === member);
  }

  has(key: string, changer: Changer): boolean {
    return this.#entries(key).some(({ lease }) => isSame(lease, changer));
  }

  /** The leases of others on a file, the oldest first. */
  others(key: string, member: string): Lease[] {
    return this.#entries(key).flatMap(({ lease }) => (lease.member === member ? [] : [lease]));
  }

  /** Whether the changer knows of that lease. */
  isTold(lease: Lease, changer: Changer): boolean {
    const entry = this.#entries(lease.key).find((other) => isSame(other.lease, lease));
    return entry?.told.has(nameOf(changer)) ?? false;
  }

  /** Frees what a member holds. @param but the task whose files it goes on with */
  freeOf(member: string, but?: string): void {
    for (const [key, entries] of this.#leases) {
      const rest = entries.filter(({ lease }) => lease.member !== member || lease.task === but);
      if (rest.length === 0) this.#leases.delete(key);
      else this.#leases.set(key, rest);
    }
  }

  /** The lines that rebuild it, in an order of their own. */
  snapshot(): LeaseRecord[] {
    return [...this.#leases.keys()].sort().flatMap((key) =>
      this.#entries(key).map(({ lease, told }) => ({
        t: 'kept_lease' as const,
        lease,
        told: [...told].sort(),
      })),
    );
  }

  #take(lease: Lease): TeamEvent[] {
    if (!this.#isAtWork(lease) || this.has(lease.key, lease)) return [];
    const others = this.others(lease.key, lease.member);
    this.#put(lease, new Set());
    const changed: TeamEvent = { type: 'member', name: lease.member };
    if (others.length === 0) return [changed];
    const text = `${lease.member} changes ${lease.path} as well, and knows of ${namesOf(others)}.`;
    return [changed, { type: 'notice', level: 'warning', text, member: lease.member }];
  }

  #tell(overlap: Overlap): TeamEvent[] {
    const { key, path, member, others } = overlap;
    for (const { lease, told } of this.#entries(key)) {
      if (others.some((other) => isSame(other, lease))) told.add(nameOf(overlap));
    }
    const text = `${member} was about to change ${path}, which ${namesOf(others)} ${others.length === 1 ? 'changes' : 'change'} already. It was told first.`;
    return [{ type: 'notice', level: 'warning', text, member }];
  }

  #put(lease: Lease, told: Set<string>): void {
    this.#leases.set(lease.key, [...this.#entries(lease.key), { lease, told }]);
  }

  #entries(key: string): readonly { lease: Lease; told: Set<string> }[] {
    return this.#leases.get(key) ?? [];
  }

  #isAtWork({ member: name, incarnation, task }: Changer): boolean {
    if (name === LEAD) return true;
    const member = this.memberOf(name);
    if (member === undefined || isGone(member) || member.status === 'failed') return false;
    return member.incarnation === incarnation && member.taskId === task;
  }
}

function isSame(a: Changer, b: Changer): boolean {
  return a.member === b.member && a.incarnation === b.incarnation && a.task === b.task;
}

function nameOf({ member, incarnation, task }: Changer): string {
  return `${member}#${incarnation} ${task}`;
}

function namesOf(leases: readonly Lease[]): string {
  return leases.map(({ member, task }) => `${member} (${task})`).join(', ');
}
