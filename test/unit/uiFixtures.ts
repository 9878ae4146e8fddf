import type { HandshakeRequest, RequestKind } from '../../src/protocol';
import type { Member } from '../../src/team/member';

/** Builders of what the UI draws, with defaults. */

const PAYLOADS: Readonly<Record<RequestKind, unknown>> = {
  shutdown: { reason: 'done' },
  plan_approval: { plan: '# Split the router\n\n1. Read it' },
  tool_permission: { tool: 'bash', toolUseId: 'toolu_1', subject: 'npm test', access: 'command' },
  team_proposal: { members: [{ name: 'alice', role: 'coder', prompt: 'Write' }] },
};

const PARTIES: Readonly<Record<RequestKind, { from: string; to: string }>> = {
  shutdown: { from: 'lead', to: 'alice' },
  plan_approval: { from: 'alice', to: 'lead' },
  tool_permission: { from: 'alice', to: 'human' },
  team_proposal: { from: 'lead', to: 'human' },
};

export function member(overrides: Partial<Member> = {}): Member {
  return {
    name: 'alice',
    role: 'coder',
    incarnation: 1,
    prompt: 'Write',
    spawnedBy: 'lead',
    spawnedAt: 0,
    requirePlan: false,
    status: 'idle',
    taskId: 'task-1',
    workVersion: 0,
    planRequired: false,
    ...overrides,
  };
}

let made = 0;

export function request(overrides: Partial<HandshakeRequest> = {}): HandshakeRequest {
  const kind = overrides.kind ?? 'tool_permission';
  made++;
  return {
    requestId: made.toString(16).padStart(8, '0'),
    kind,
    ...PARTIES[kind],
    status: 'pending',
    payload: PAYLOADS[kind],
    work: { member: 'alice', incarnation: 1, taskId: null, workVersion: 0 },
    createdAt: made,
    deadlineAt: made + 300_000,
    ...overrides,
  };
}

export function command(subject: string, description?: string): HandshakeRequest {
  const payload = { tool: 'bash', toolUseId: 'toolu_1', subject, access: 'command' };
  return request({ payload: description === undefined ? payload : { ...payload, description } });
}
