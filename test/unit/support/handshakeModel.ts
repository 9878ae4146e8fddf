import * as fc from 'fast-check';
import type { RequestKind, RequestStatus, ResponseType, Via, WorkRef } from '../../../src/protocol';

/**
 * What the design says of requests, written once more and independently of the registry: tables of literals
 * and plain records. The model-based test compares the two.
 */

export const TEAMMATES = ['alice', 'bob', 'carol'] as const;
const PARTIES = ['lead', 'human', 'runtime', ...TEAMMATES] as const;
const RESPONSES: readonly (ResponseType | undefined)[] = [
  undefined,
  'shutdown_response',
  'plan_approval_response',
  'permission_response',
  'proposal_response',
];

export interface Party {
  incarnation: number;
  taskId: string;
  workVersion: number;
  planRequired: boolean;
  present: boolean;
}

export interface ModelRequest {
  id: string;
  kind: RequestKind;
  from: string;
  to: string;
  work: WorkRef;
  status: RequestStatus;
  decidedBy?: string;
}

export interface Model {
  requests: ModelRequest[];
  members: Record<string, Party>;
  plan: 'human' | 'either';
  permission: 'human' | 'either';
  /** Ends a request ever had: more than one would be a broken machine. */
  ends: Map<string, number>;
}

export type Step =
  | {
      op: 'open';
      kind: RequestKind;
      from: string;
      to: string;
      about: string;
      old: number;
      valid: boolean;
      reuse: number | null;
    }
  | {
      op: 'decide';
      target: number | null;
      response: ResponseType | undefined;
      by: string;
      incarnation: number | undefined;
      to: string | undefined;
      approve: boolean;
      feedback: string | undefined;
      via: Via;
      /** The outcome is applied twice, as two writers would. */
      twice: boolean;
    }
  | { op: 'answer'; target: number; by: 'addressee' | 'human' | 'lead'; approve: boolean }
  | { op: 'cancel'; target: number | null }
  | { op: 'move'; member: string; planRequired: boolean }
  | { op: 'leave' | 'respawn'; member: string }
  | { op: 'policy'; plan: 'human' | 'either'; permission: 'human' | 'either' };

const member = fc.constantFrom(...TEAMMATES);
const party = fc.constantFrom(...PARTIES);
const kind = fc.constantFrom<RequestKind>('shutdown', 'plan_approval', 'tool_permission', 'team_proposal');
const target = fc.nat({ max: 60 });
const policy = fc.constantFrom<'human' | 'either'>('human', 'either');

/** Any open, from anybody to anybody: mostly refused. */
const anyOpen = fc.record({
  op: fc.constant('open' as const),
  kind,
  from: party,
  to: party,
  about: fc.constantFrom('lead', ...TEAMMATES),
  old: fc.constantFrom(0, 0, 0, 1),
  valid: fc.boolean(),
  reuse: fc.option(target),
});

/** An open as the team makes it. */
const fittingOpen = fc
  .tuple(kind, member, fc.constantFrom('lead', 'human'))
  .map(([of, name, asker]): Step => {
    const base = { op: 'open' as const, kind: of, old: 0, valid: true, reuse: null };
    if (of === 'shutdown') return { ...base, from: asker, to: name, about: name };
    if (of === 'plan_approval') return { ...base, from: name, to: 'lead', about: name };
    if (of === 'team_proposal') return { ...base, from: 'lead', to: 'human', about: 'lead' };
    const from = asker === 'lead' ? 'lead' : name;
    return { ...base, from, to: 'human', about: from };
  });

const anyDecide = fc.record({
  op: fc.constant('decide' as const),
  target: fc.option(target, { freq: 8 }),
  response: fc.constantFrom(...RESPONSES),
  by: party,
  incarnation: fc.constantFrom(undefined, 1, 2, 3),
  to: fc.option(party, { nil: undefined, freq: 2 }),
  approve: fc.boolean(),
  feedback: fc.constantFrom(undefined, '', 'because'),
  via: fc.constantFrom<Via>('tool', 'ui', 'command', 'api'),
  twice: fc.boolean(),
});

const fittingAnswer = fc.record({
  op: fc.constant('answer' as const),
  target,
  by: fc.constantFrom<'addressee' | 'human' | 'lead'>('addressee', 'addressee', 'human', 'lead'),
  approve: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: anyOpen },
  { weight: 5, arbitrary: fittingOpen },
  { weight: 4, arbitrary: anyDecide },
  { weight: 4, arbitrary: fittingAnswer },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('cancel' as const), target: fc.option(target) }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('move' as const), member, planRequired: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('leave' as const, 'respawn' as const), member }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('policy' as const), plan: policy, permission: policy }),
  },
);

export const steps = fc.array(step, { minLength: 5, maxLength: 45, size: 'max' });

export function newModel(): Model {
  const members = Object.fromEntries(TEAMMATES.map((name) => [name, fresh(name, 1)]));
  return { requests: [], members, plan: 'either', permission: 'human', ends: new Map() };
}

export function fresh(name: string, incarnation: number): Party {
  return {
    incarnation,
    taskId: `${name}-${incarnation}.1`,
    workVersion: 1,
    planRequired: false,
    present: true,
  };
}

export function workNow(model: Model, name: string): WorkRef | undefined {
  if (name === 'lead') return { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 };
  const party = model.members[name];
  if (!party?.present) return undefined;
  const { incarnation, taskId, workVersion } = party;
  return { member: name, incarnation, taskId, workVersion };
}

function isTeammate(name: string): boolean {
  return name !== 'lead' && name !== 'human';
}

/** Whether the design lets this be asked. */
export function mayOpen({ kind: of, from, to, valid }: Extract<Step, { op: 'open' }>): boolean {
  if (!valid) return false;
  if (of === 'shutdown') return !isTeammate(from) && isTeammate(to);
  if (of === 'plan_approval') return isTeammate(from) && to === 'lead';
  if (of === 'tool_permission') return from !== 'human' && to === 'human';
  return from === 'lead' && to === 'human';
}

export interface Given {
  response: ResponseType | undefined;
  by: string;
  incarnation: number | undefined;
  to: string | undefined;
}

/** The first check of the design that an answer fails, or undefined when it decides. */
export function firstFailing(
  model: Model,
  request: ModelRequest | undefined,
  given: Given,
): string | undefined {
  if (request === undefined) return 'unknown_request';
  const fits = {
    shutdown: 'shutdown_response',
    plan_approval: 'plan_approval_response',
    tool_permission: 'permission_response',
    team_proposal: 'proposal_response',
  }[request.kind];
  if (given.response !== undefined && given.response !== fits) return 'wrong_kind';
  if (given.to !== undefined && given.to !== request.from) return 'wrong_responder';
  if (given.by !== 'human') {
    const instead = given.by === 'lead' && request.kind === 'tool_permission' && request.from !== 'lead';
    if (given.by !== request.to && !instead) return 'wrong_responder';
    if (isTeammate(given.by) && given.incarnation !== request.work.incarnation) return 'wrong_responder';
  }
  if (request.status !== 'pending') return 'already_decided';
  const now = workNow(model, request.work.member);
  if (now?.incarnation !== request.work.incarnation) return 'stale_work';
  if (request.kind === 'plan_approval') {
    const { taskId, workVersion } = request.work;
    if (now.taskId !== taskId || now.workVersion !== workVersion) return 'stale_work';
  }
  if (given.by === 'human') return undefined;
  if (request.kind === 'shutdown') return undefined;
  if (request.kind === 'plan_approval') return model.plan === 'either' ? undefined : 'not_allowed';
  if (request.kind === 'tool_permission') return model.permission === 'either' ? undefined : 'not_allowed';
  return 'not_allowed';
}

/** The gate as the design words it. */
export function gateNow(model: Model, name: string): string {
  const now = model.members[name];
  if (!now) throw new Error(`no ${name}`);
  const plans = model.requests.filter(
    ({ kind: of, from, work, status }) =>
      of === 'plan_approval' &&
      from === name &&
      status !== 'cancelled' &&
      work.member === name &&
      work.incarnation === now.incarnation &&
      work.taskId === now.taskId &&
      work.workVersion === now.workVersion,
  );
  return plans.at(-1)?.status ?? (now.planRequired ? 'required' : 'not_required');
}
