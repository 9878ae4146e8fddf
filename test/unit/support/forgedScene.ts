import * as assert from 'node:assert/strict';
import type { Core } from '../../../src/agent/coreApi';
import { type Answer, type HandshakeRequest, KINDS, LEAD, type RequestKind } from '../../../src/protocol';
import { LEAD_WORK, workOf } from '../../../src/team/member';
import type { Team } from '../../../src/team/team';
import { heldTeam } from './heldJournal';

/** How a request of each kind is opened: by or about alice, or by the lead. */
export function openRequest(team: Team, kind: RequestKind): Promise<HandshakeRequest> {
  const work = workOf(team.resolveAlive('alice'));
  switch (kind) {
    case 'shutdown':
      return team.requestShutdown('lead', 'alice');
    case 'plan_approval':
      return team.decisions.open({ kind, from: 'alice', to: 'lead', payload: { plan: 'P' }, work });
    case 'tool_permission':
      return team.decisions.open({ kind, from: 'alice', to: 'human', payload: bashPayload('call_1'), work });
    case 'team_proposal': {
      const payload = { members: [{ name: 'zoe', role: 'coder', prompt: 'Work.' }] };
      return team.decisions.open({ kind, from: 'lead', to: 'human', payload, work: LEAD_WORK });
    }
  }
}

export function bashPayload(toolUseId: string) {
  return { tool: 'bash', toolUseId, subject: 'rm -rf b', access: 'command' };
}

/** Who answers a request of each kind as the protocol means it. */
const ADDRESSEES: Readonly<Record<RequestKind, Pick<Answer, 'by' | 'via' | 'incarnation'>>> = {
  shutdown: { by: 'alice', incarnation: 1, via: 'tool' },
  plan_approval: { by: LEAD, via: 'tool' },
  tool_permission: { by: 'human', via: 'ui' },
  team_proposal: { by: 'human', via: 'ui' },
};

/** The answer that a forger would like to give: it approves, and nothing about it is wrong yet. */
export function genuine({ kind, requestId }: HandshakeRequest): Answer {
  return { requestId, approve: true, response: KINDS[kind].responseType, ...ADDRESSEES[kind] };
}

/** A team with alice and bob, in which one request of the kind waits. Ids have letters, as most have. */
export async function pendingScene(kind: RequestKind, change: Parameters<typeof heldTeam>[0] = {}) {
  const scene = heldTeam(change);
  // A counting clock gives digits alone for long, in which the case of letters could not be wrong.
  for (let id = ''; !id.startsWith('00000aa0'); ) id = scene.clock.uuid();
  for (const name of ['alice', 'bob']) {
    await scene.team.spawn({ name, role: 'coder', prompt: 'Go.', requirePlan: true }, LEAD);
  }
  return { ...scene, request: await openRequest(scene.team, kind) };
}

/** All that an answer could change. */
export function facts(team: Team) {
  const { state, decisions } = team;
  const names = state.members().map(({ name }) => name);
  return structuredClone({
    requests: decisions.registry.all(),
    members: state.members(),
    gates: names.map((name) => decisions.gateOf(name)),
    granted: state.members().map(({ name, incarnation }) => state.isShutdownGranted(name, incarnation)),
    mail: [LEAD, ...names].map((name) => state.unread(name)),
    calls: state.calls.all(),
  });
}

/** The same of a running team, as those above the core see it. */
export function coreFacts(core: Core) {
  const names = core.members().map(({ name }) => name);
  return structuredClone({
    requests: core.requests(),
    roster: core.members().map(({ name, incarnation, status, taskId, workVersion }) => ({
      ...{ name, incarnation, status, taskId, workVersion },
      gate: core.gateOf(name),
    })),
    approvals: [LEAD, ...names].map((name) =>
      core.unread(name).filter(({ approve }) => approve !== undefined),
    ),
  });
}

/** Every member of a table is named once, and no two rows have one name. */
export function assertNamedOnce(names: readonly string[]): void {
  assert.deepEqual([...new Set(names)], names);
}
