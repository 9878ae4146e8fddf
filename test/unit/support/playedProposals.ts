import * as assert from 'node:assert/strict';
import {
  type AcceptedProposal,
  acceptAll,
  acceptedOf,
  type HandshakeRequest,
  type ProposalPayload,
  proposalPayload,
} from '../../../src/protocol';
import type { TeamRecord } from '../../../src/team/records';

/** A proposal for random histories: the first teammate begins with the first task, the others wait for it. */
export function proposalOf(names: readonly string[], tasks: number): ProposalPayload {
  const keys = Array.from({ length: tasks }, (_, index) => `k${index}`);
  return {
    members: names.map((name, index) => ({
      name,
      role: 'coder',
      prompt: 'Go.',
      ...(index === 0 && tasks > 0 ? { task: 'k0' } : {}),
    })),
    tasks: keys.map((key, index) => ({
      key,
      subject: `Task ${key}`,
      description: 'Do it.',
      blocked_by: index === 0 ? [] : ['k0'],
      // The first one, so that somebody waits for its worktree, where there are two of them.
      ...(tasks === 2 ? { isolated: index === 0 } : {}),
    })),
  };
}

/** Parts of a proposal by number: undefined and the whole, smaller ones, and one that nobody may accept. */
export function partOf(request: HandshakeRequest | undefined, edit: number): unknown {
  const read = proposalPayload.safeParse(request?.payload);
  if (!read.success) return undefined;
  const { members, tasks } = acceptAll(read.data);
  const others: AcceptedProposal['tasks'] = tasks.slice(1).map((task) => ({ ...task, blocked_by: [] }));
  switch (edit) {
    case 1:
      return { members, tasks };
    case 2:
      return { members: members.slice(1), tasks };
    case 3:
      return {
        members: members.map((member) => ({ ...member, task: undefined, prompt: 'Other.' })),
        tasks: others,
      };
    case 4:
      return { members: [], tasks: others };
    case 5:
      return { members: [...members, { ...members[0], of: 'mallory', name: 'mallory' }], tasks };
    default:
      return undefined;
  }
}

/** Every approved proposal made the tasks of its accepted part, each once, in the append of the decision. */
export function checkProposals(records: readonly TeamRecord[], requests: readonly HandshakeRequest[]): void {
  const created = records.flatMap((record) => (record.t === 'task_created' ? [record.task_id] : []));
  assert.equal(new Set(created).size, created.length, 'a task was made twice');
  const decided = new Map(
    records.flatMap((record) =>
      record.t === 'decided' ? [[record.decision.requestId, record] as const] : [],
    ),
  );
  for (const request of requests) {
    const record = decided.get(request.requestId);
    if (request.kind !== 'team_proposal' || request.status !== 'approved' || !record) continue;
    const accepted = acceptedOf(request);
    const made = record.tasks ?? [];
    assert.deepEqual(
      made.map(({ of }) => of),
      accepted.tasks.map(({ of }) => of),
    );
    for (const { id } of made) assert.ok(created.includes(id), `${id} was promised and not made`);
    assert.ok(!accepted.members.some(({ of }) => of === 'mallory'), 'somebody started who was not proposed');
  }
}
