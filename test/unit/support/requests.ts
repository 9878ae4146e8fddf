import type {
  Answer,
  ApprovalPolicy,
  DecisionContext,
  HandshakeRequest,
  OpenInput,
  RequestRegistry,
  WorkRef,
} from '../../../src/protocol';

/** Builders with defaults, so that a test names only what it is about. */

export function work(change: Partial<WorkRef> = {}): WorkRef {
  return { member: 'alice', incarnation: 1, taskId: 'alice-1.1', workVersion: 1, ...change };
}

export function planInput(change: Partial<OpenInput> = {}): OpenInput {
  return {
    requestId: 'aaaaaaaa',
    kind: 'plan_approval',
    from: 'alice',
    to: 'lead',
    payload: { plan: 'Change a.' },
    work: work(),
    createdAt: 1000,
    deadlineAt: 2000,
    ...change,
  };
}

export function shutdownInput(change: Partial<OpenInput> = {}): OpenInput {
  return planInput({ kind: 'shutdown', from: 'lead', to: 'alice', payload: {}, ...change });
}

export function permissionInput(change: Partial<OpenInput> = {}): OpenInput {
  const payload = { tool: 'bash', toolUseId: 'call_1', subject: 'npm test', access: 'command' };
  return planInput({ kind: 'tool_permission', from: 'alice', to: 'human', payload, ...change });
}

export function proposalInput(change: Partial<OpenInput> = {}): OpenInput {
  return planInput({
    kind: 'team_proposal',
    from: 'lead',
    to: 'human',
    payload: { members: [{ name: 'zoe', role: 'coder', prompt: 'Work.' }] },
    work: { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 },
    ...change,
  });
}

export function answer(change: Partial<Answer> = {}): Answer {
  return { requestId: 'aaaaaaaa', approve: true, by: 'human', via: 'ui', ...change };
}

export function context(
  change: { work?: WorkRef | undefined; policy?: Partial<ApprovalPolicy>; foreignRuns?: boolean } = {},
): DecisionContext {
  const present = 'work' in change ? change.work : work();
  const lead = { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 };
  return {
    currentWork: (member) => (member === 'lead' ? lead : present),
    policy: { plan: 'either', permission: 'human', ...change.policy },
    foreignRuns: change.foreignRuns ?? false,
  };
}

/** Opens a request as the team does: the check, then the record with what it supersedes. */
export function openIn(registry: RequestRegistry, input: OpenInput): HandshakeRequest {
  const { request, supersedes } = registry.prepareOpen(input);
  registry.applyOpen(request);
  for (const requestId of supersedes) {
    registry.applyCancel({
      requestId,
      reason: `superseded by plan ${request.requestId}`,
      at: input.createdAt,
    });
  }
  return request;
}
