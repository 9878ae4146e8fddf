import * as fc from 'fast-check';

/** One step of a random history of a team. Whatever it names may not be there: then it has to be refused. */
export type TeamStep =
  | { op: 'spawn'; name: string; role: string; requirePlan: boolean; by: 'lead' | 'human' }
  | { op: 'send'; from: string; to: string }
  | { op: 'broadcast'; from: string }
  | { op: 'askShutdown'; by: 'lead' | 'human'; name: string }
  | { op: 'requestPlan'; name: string }
  | { op: 'submitPlan'; name: string }
  | { op: 'askPermission'; from: string }
  | { op: 'propose'; names: readonly string[]; tasks: number }
  | {
      op: 'decide';
      target: number;
      by: string;
      approve: boolean;
      edit: number;
      via: 'tool' | 'ui' | 'command' | 'api';
    }
  | { op: 'cancel'; target: number }
  | { op: 'end'; name: string; status: 'shutdown' | 'failed' }
  | { op: 'forceStop'; name: string }
  | { op: 'recover'; name: string }
  | { op: 'show'; name: string; count: number }
  | { op: 'idle'; name: string }
  | { op: 'begin'; name: string }
  | { op: 'askAgain'; target: number }
  /** Changes a file, having read it since it was told of others. */
  | { op: 'change'; name: string; file: string }
  | { op: 'use'; name: string; model: string; tokens: number }
  | { op: 'allow'; name: string | undefined; limit: number | null }
  | { op: 'createTask'; by: 'lead' | 'human'; priority: number; blockedBy: readonly number[] }
  | { op: 'editTask'; task: number; by: 'lead' | 'human'; edit: HistoryEdit }
  | { op: 'claimTask'; task: number; by: string }
  | { op: 'assignTask'; task: number; to: string; by: 'lead' | 'human' }
  | { op: 'dealTask'; task: number; to: string }
  | { op: 'releaseTask'; task: number }
  | { op: 'completeTask'; task: number; by: string }
  | { op: 'spawnWith'; name: string; task: number }
  | { op: 'releaseAbsent' }
  | { op: 'makeWorktree'; task: number; by: 'lead' | 'human'; how: 'quick' | 'slow' | 'fails' }
  | { op: 'removeWorktree'; task: number }
  | { op: 'sendBack'; task: number }
  | { op: 'accept'; task: number; outcome: 'merged' | 'conflicts' | 'given_up' }
  | { op: 'recoverWorktrees' }
  | { op: 'cleanUp' }
  | { op: 'leadIdle' }
  | { op: 'newConversation' }
  | { op: 'policy'; plan: 'human' | 'either'; permission: 'human' | 'either' }
  | { op: 'time'; seconds: number }
  /** The disk: holds writes back, lets the oldest through, fails it, or works again. */
  | { op: 'hold' | 'letThrough' | 'fail' | 'release' }
  /** Lets what is under way go on for a while. */
  | { op: 'wait' }
  /** The process dies; what is on the disk is opened again, whole or as a snapshot keeps it. */
  | { op: 'crash'; snapshot: boolean };

export interface HistoryEdit {
  priority?: number;
  blockedBy?: readonly number[];
  status?: 'blocked' | 'pending';
}

export const NAMES = ['alice', 'bob', 'carol'] as const;

const name = fc.constantFrom(...NAMES);
const anybody = fc.constantFrom<string>('lead', 'human', ...NAMES, 'nobody');
/** One that has a file, and one that has none. */
const role = fc.constantFrom('reviewer', 'coder');
const target = fc.nat({ max: 30 });
const asker = fc.constantFrom<'lead' | 'human'>('lead', 'human');
/** Few tasks, so that histories meet the same one again. */
const task = fc.nat({ max: 9 });
const taker = fc.constantFrom<string>('lead', ...NAMES);
const policy = fc.constantFrom<'human' | 'either'>('human', 'either');

const step: fc.Arbitrary<TeamStep> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ op: fc.constant('spawn'), name, role, requirePlan: fc.boolean(), by: asker }),
  },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('send'), from: anybody, to: anybody }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('broadcast'), from: anybody }) },
  { weight: 12, arbitrary: fc.record({ op: fc.constant('askShutdown'), by: asker, name }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('requestPlan'), name }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('submitPlan'), name }) },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('askPermission'), from: fc.constantFrom('lead', ...NAMES) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('propose'),
      names: fc.subarray([...NAMES], { minLength: 1 }),
      tasks: fc.nat(3),
    }),
  },
  {
    weight: 24,
    arbitrary: fc.record({
      op: fc.constant('decide'),
      target,
      by: fc.constantFrom<string>('human', 'human', 'lead', 'addressee', 'addressee', ...NAMES),
      approve: fc.boolean(),
      // Of a proposal: taken as it is, or a part of it, or what cannot be.
      edit: fc.nat(7),
      via: fc.constantFrom('tool', 'ui', 'command', 'api'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('cancel'), target }) },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('end'), name, status: fc.constantFrom('shutdown', 'failed') }),
  },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('forceStop'), name }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('recover'), name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('show'),
      name: fc.constantFrom('lead', ...NAMES),
      count: fc.nat(3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('idle'), name }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('begin'), name }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('askAgain'), target }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('change'),
      name: fc.constantFrom('lead', ...NAMES),
      file: fc.constantFrom('a.ts', 'b.ts'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('use'),
      name: fc.constantFrom('lead', ...NAMES),
      model: fc.constantFrom('big', 'small'),
      tokens: fc.nat(1000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('allow'),
      name: fc.constantFrom(undefined, 'lead', ...NAMES),
      limit: fc.constantFrom(null, 500, 5000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('createTask'),
      by: asker,
      priority: fc.nat(2),
      blockedBy: fc.array(task, { maxLength: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('editTask'),
      task,
      by: asker,
      edit: fc.oneof(
        fc.record({ blockedBy: fc.array(task, { maxLength: 3 }) }),
        fc.record({ priority: fc.nat(2) }),
        fc.record({ status: fc.constantFrom('blocked' as const, 'pending' as const) }),
      ),
    }),
  },
  { weight: 6, arbitrary: fc.record({ op: fc.constant('claimTask'), task, by: taker }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('assignTask'), task, to: taker, by: asker }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('dealTask'), task, to: name }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('releaseTask'), task }) },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('completeTask'),
      task,
      by: fc.constantFrom<string>('owner', 'owner', 'human', 'lead', ...NAMES),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('spawnWith'), name, task }) },
  { weight: 1, arbitrary: fc.constant({ op: 'releaseAbsent' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('makeWorktree'),
      task,
      by: asker,
      how: fc.constantFrom('quick', 'quick', 'slow', 'fails'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('removeWorktree'), task }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('sendBack'), task }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('accept'),
      task,
      outcome: fc.constantFrom('merged', 'conflicts', 'given_up'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ op: 'recoverWorktrees' }) },
  { weight: 1, arbitrary: fc.constant({ op: 'cleanUp' }) },
  { weight: 1, arbitrary: fc.constant({ op: 'leadIdle' }) },
  { weight: 1, arbitrary: fc.constant({ op: 'newConversation' }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('policy'), plan: policy, permission: policy }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('time'), seconds: fc.nat(900) }) },
  { weight: 3, arbitrary: fc.constant({ op: 'hold' }) },
  { weight: 4, arbitrary: fc.constant({ op: 'letThrough' }) },
  { weight: 2, arbitrary: fc.constant({ op: 'fail' }) },
  { weight: 3, arbitrary: fc.constant({ op: 'release' }) },
  { weight: 14, arbitrary: fc.constant({ op: 'wait' }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('crash'), snapshot: fc.boolean() }) },
) as fc.Arbitrary<TeamStep>;

/** Random histories, of a length that fast-check can make shorter. */
export const histories = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });
