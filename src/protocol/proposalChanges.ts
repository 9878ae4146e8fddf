import { type AcceptedProposal, acceptAll, type ProposalPayload } from './proposal';

type Value = string | number | boolean | readonly string[] | undefined;

/** One thing that the human changed of a proposal. */
export type ProposalChange = {
  readonly part: 'member' | 'task';
  /** The name or key in the proposal. */
  readonly of: string;
} & (
  | { readonly leftOut: true }
  | { readonly field: ProposalField; readonly from: Value; readonly to: Value }
);

const MEMBER_FIELDS = ['name', 'role', 'prompt', 'require_plan', 'model', 'task'] as const;
const TASK_FIELDS = ['subject', 'description', 'priority', 'blocked_by', 'isolated'] as const;
export type ProposalField = (typeof MEMBER_FIELDS)[number] | (typeof TASK_FIELDS)[number];

/** Everything that was changed, in the order of the proposal; empty where it was accepted as it stood. */
export function changesOf(
  proposal: ProposalPayload,
  accepted: AcceptedProposal | undefined,
): ProposalChange[] {
  if (accepted === undefined) return [];
  const whole = acceptAll(proposal);
  return [
    ...compare('member', whole.members, accepted.members, MEMBER_FIELDS),
    ...compare('task', whole.tasks, accepted.tasks, TASK_FIELDS),
  ];
}

function compare<F extends ProposalField, T extends { readonly of: string } & { readonly [K in F]?: Value }>(
  part: ProposalChange['part'],
  proposed: readonly T[],
  accepted: readonly T[],
  fields: readonly F[],
): ProposalChange[] {
  return proposed.flatMap((before): ProposalChange[] => {
    const { of } = before;
    const after = accepted.find((other) => other.of === of);
    if (after === undefined) return [{ part, of, leftOut: true }];
    return fields
      .filter((field) => !isSame(fieldOf(before, field), fieldOf(after, field)))
      .map((field) => ({ part, of, field, from: fieldOf(before, field), to: fieldOf(after, field) }));
  });
}

function fieldOf<F extends ProposalField>(part: { readonly [K in F]?: Value }, field: F): Value {
  // Left out where it is not so.
  return field === 'isolated' ? part[field] === true : part[field];
}

function isSame(a: Value, b: Value): boolean {
  const text = (value: Value): Value => (typeof value === 'string' ? value.trim() : value);
  return JSON.stringify(text(a)) === JSON.stringify(text(b));
}

/** What was changed, exactly, for the lead's model. */
export function changeLine(change: ProposalChange): string {
  const { part, of } = change;
  const what = part === 'member' ? of : `task ${of}`;
  if ('leftOut' in change) return `${what}: left out`;
  const { field, from, to } = change;
  return `${what}: ${field}: ${inWords(from)} -> ${inWords(to)}`;
}

function inWords(value: Value): string {
  if (value === undefined) return '(none)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? String(value) : value.join(', ') || '(none)';
}
