import * as z from 'zod';
import {
  type AcceptedMember,
  type AcceptedProposal,
  type AcceptedTask,
  acceptAll,
  acceptedMember,
  acceptedTask,
  type ProposalPayload,
  type ProposalProblemCode,
  problemsOf,
} from '../src/protocol/proposal';

/** A part of a proposal as it is being edited; what is not taken keeps its edits. */
export interface Part<T> {
  taken: boolean;
  value: T;
}

export type EditProblemCode = ProposalProblemCode | 'name_taken' | 'priority';

/** What stands in the way of accepting, where it is to be shown. */
export interface EditProblem {
  /** `member:ada` or `task:parser`; undefined where it is about the whole. */
  readonly part: string | undefined;
  readonly field: string;
  readonly code: EditProblemCode;
}

const draft = z.object({
  members: z.array(z.object({ taken: z.boolean(), value: acceptedMember })),
  tasks: z.array(z.object({ taken: z.boolean(), value: acceptedTask })),
});

/** The human's edits of one proposal. Knows no page. */
export class ProposalEdits {
  readonly members: Part<AcceptedMember>[];
  readonly tasks: Part<AcceptedTask>[];

  constructor(readonly proposal: ProposalPayload) {
    const { members, tasks } = acceptAll(proposal);
    this.members = members.map((value) => ({ taken: true, value }));
    this.tasks = tasks.map((value) => ({ taken: true, value }));
  }

  /** Takes back what {@link kept} gave; what does not fit the proposal is left. */
  restore(text: string): void {
    let read: unknown;
    try {
      read = JSON.parse(text);
    } catch {
      // A draft of another version: the proposal stands as it was made.
      return;
    }
    const parsed = draft.safeParse(read);
    if (!parsed.success) return;
    for (const part of this.members) {
      Object.assign(
        part,
        parsed.data.members.find(({ value }) => value.of === part.value.of),
      );
    }
    for (const part of this.tasks) {
      Object.assign(
        part,
        parsed.data.tasks.find(({ value }) => value.of === part.value.of),
      );
    }
  }

  kept(): string {
    if (!this.isChanged()) return '';
    const proposed = acceptAll(this.proposal).tasks;
    // What is half typed in a field of numbers is no number yet.
    const tasks = this.tasks.map((part, index) => {
      const { priority } = part.value;
      if (isPriority(priority)) return part;
      return { ...part, value: { ...part.value, priority: proposed[index]?.priority ?? 0 } };
    });
    return JSON.stringify({ members: this.members, tasks });
  }

  /** What would be accepted now. A task that is not taken is waited for by none, and begun with by nobody. */
  accepted(): AcceptedProposal {
    const taken = new Set(this.tasks.filter((part) => part.taken).map(({ value }) => value.of));
    return {
      members: this.members
        .filter((part) => part.taken)
        .map(({ value }) => {
          const { task, ...member } = value;
          return { ...member, ...(task === undefined || !taken.has(task) ? {} : { task }) };
        }),
      tasks: this.tasks
        .filter((part) => part.taken)
        .map(({ value }) => ({ ...value, blocked_by: value.blocked_by.filter((key) => taken.has(key)) })),
    };
  }

  isChanged(): boolean {
    return JSON.stringify(this.accepted()) !== JSON.stringify(acceptAll(this.proposal));
  }

  /** @param takenNames of teammates that are there already */
  problems(takenNames: readonly string[]): EditProblem[] {
    const accepted = this.accepted();
    const found = problemsOf(this.proposal, accepted).map(({ path, code }): EditProblem => {
      const [list, index, field] = path;
      const parts = list === 'members' ? accepted.members : accepted.tasks;
      const of = typeof index === 'number' ? parts[index]?.of : undefined;
      if (of === undefined) return { part: undefined, field: '', code };
      return { part: `${list === 'members' ? 'member' : 'task'}:${of}`, field: String(field ?? ''), code };
    });
    for (const { of, name } of accepted.members) {
      if (takenNames.includes(name)) found.push({ part: `member:${of}`, field: 'name', code: 'name_taken' });
    }
    for (const { of, priority } of accepted.tasks) {
      if (!isPriority(priority)) found.push({ part: `task:${of}`, field: 'priority', code: 'priority' });
    }
    return found;
  }
}

function isPriority(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 1000;
}
