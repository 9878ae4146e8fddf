import type { HandshakeRequest } from '../../src/protocol';
import type { Member } from '../../src/team/member';
import type { RequestTexts } from '../../src/ui/requestPanelModel';

export const texts: RequestTexts = {
  planTitle: (name) => `Plan of ${name}`,
  shutdownTitle: (name) => `Shut down ${name}`,
  commandTitle: (name) => `${name} wants to run a command`,
  editTitle: (name) => `${name} wants to change a file`,
  teamTitle: (name) => `${name} proposes a team`,
  you: 'you',
  lead: 'lead',
  runtime: 'Handshake',
  approvedBy: (who) => `Approved by ${who}.`,
  rejectedBy: (who) => `Rejected by ${who}.`,
  withCommand: (who) => `${who} (command)`,
  throughApi: (who) => `${who} (api)`,
  withFeedback: (sentence, feedback) => `${sentence} Feedback: ${feedback}`,
  agreedToStop: (name) => `${name} agreed.`,
  refusedToStop: (name) => `${name} declined.`,
  withdrawn: (reason) => `Withdrawn: ${reason}`,
  withdrawnNoReason: 'Withdrawn.',
  noTeam: 'No team.',
  unknownRequest: (id) => `No request ${id}.`,
  notUnderstood: 'Not understood.',
  otherRequest: 'Another request.',
  estimate: (calls) => `About ${calls} calls.`,
};

export const bob: Member = {
  name: 'bob',
  role: 'coder',
  incarnation: 2,
  prompt: 'Refactor',
  spawnedBy: 'lead',
  spawnedAt: 0,
  requirePlan: true,
  status: 'working',
  taskId: 't1',
  workVersion: 1,
  planRequired: true,
};

export function facts(member: Member | undefined = bob) {
  return {
    members: () => (member === undefined ? [] : [member]),
    member: (name: string) => (name === member?.name ? member : undefined),
    activity: () => ({ doing: { what: 'call' as const, call: 'bash npm test' } }),
    isOverdue: () => true,
  };
}

export function shutdownOf(more: Partial<HandshakeRequest>): HandshakeRequest {
  return {
    requestId: 'd08982e3',
    kind: 'shutdown',
    from: 'lead',
    to: 'bob',
    status: 'pending',
    payload: { reason: 'All done.' },
    work: { member: 'bob', incarnation: 2, taskId: 't1', workVersion: 1 },
    createdAt: 1_700_000_000_000,
    deadlineAt: 1_700_000_060_000,
    ...more,
  };
}
