import * as assert from 'node:assert/strict';
import {
  type Answer,
  type HandshakeRequest,
  KINDS,
  REQUEST_KINDS,
  Refusal,
  type RefusalCode,
  type RequestKind,
  type ResponseType,
} from '../../src/protocol';
import { LEAD_WORK } from '../../src/team/member';
import type { CoreSettings } from '../../src/team/settings';
import {
  assertNamedOnce,
  bashPayload,
  facts,
  genuine,
  openRequest,
  pendingScene,
} from './support/forgedScene';
import { replayed } from './support/heldJournal';

type Scene = Awaited<ReturnType<typeof pendingScene>>;

/** One way to fake an answer. A new one is a new row. */
interface Forgery {
  way: string;
  kinds: readonly RequestKind[];
  code: RefusalCode;
  /** What is wrong with an answer that is genuine otherwise. */
  forge(request: HandshakeRequest): Partial<Answer>;
  settings?: Partial<CoreSettings>;
  /** What has to be so before; may name another request than the one that waits. */
  before?(scene: Scene): Promise<HandshakeRequest | undefined>;
}

const ALL = REQUEST_KINDS;
const RESPONSES: readonly ResponseType[] = ALL.map((kind) => KINDS[kind].responseType);

const MANGLED_IDS: Readonly<Record<string, (id: string) => string>> = {
  'an id that nobody used': () => 'ffffffff',
  'an id in capitals': (id) => id.toUpperCase(),
  'an id with a blank before it': (id) => ` ${id}`,
  'an id with a line end behind it': (id) => `${id}\n`,
  'an id that is longer': (id) => `${id}0`,
  'an id that is shorter': (id) => id.slice(0, -1),
  'an id of other digits that look alike': (id) => id.replace('0', '０'),
  'an id with a NUL behind it': (id) => `${id}\0`,
  'an empty id': () => '',
  'the id of the message that asks': (id) => `${id}-ask`,
  'the id as JSON': (id) => JSON.stringify(id),
  'an id as in a path': (id) => `../${id}`,
  'a very long id': (id) => id.repeat(10_000),
  'the id of another team': () => 'd08982e3',
  ...Object.fromEntries(
    ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'].map((name) => [
      `the name ${name} for an id`,
      () => name,
    ]),
  ),
};

const IMPOSTORS: readonly [by: string, kinds: readonly RequestKind[]][] = [
  ['bob', ALL],
  ['alice', ['plan_approval', 'tool_permission', 'team_proposal']],
  ['lead', ['shutdown', 'team_proposal']],
  ['Lead', ALL],
  ['runtime', ALL],
  ['external', ALL],
  ['HUMAN', ALL],
  ['human ', ALL],
  ['', ALL],
  ['__proto__', ALL],
];

/** The request is decided, or withdrawn; its answer is sent once more. */
const ended = (approve: boolean) => async (scene: Scene) => {
  await scene.team.decisions.decide({ ...genuine(scene.request), approve });
  return undefined;
};

const FORGERIES: readonly Forgery[] = [
  ...Object.entries(MANGLED_IDS).map(
    ([way, mangle]): Forgery => ({
      way,
      kinds: ALL,
      code: 'unknown_request',
      forge: ({ requestId }) => ({ requestId: mangle(requestId) }),
    }),
  ),
  ...RESPONSES.map(
    (response): Forgery => ({
      way: `the answer is a ${response}`,
      kinds: ALL.filter((kind) => KINDS[kind].responseType !== response),
      code: 'wrong_kind',
      forge: () => ({ response }),
    }),
  ),
  ...IMPOSTORS.map(
    ([by, kinds]): Forgery => ({
      way: `it comes from '${by}'`,
      kinds,
      code: 'wrong_responder',
      settings: { approvals: { plan: 'either', permission: 'either', team: 'auto' } },
      forge: () => ({ by, incarnation: 1, via: 'tool' }),
    }),
  ),
  ...[0, 2].map(
    (incarnation): Forgery => ({
      way: `it comes from the right name, started as number ${incarnation}`,
      kinds: ['shutdown'],
      code: 'wrong_responder',
      forge: () => ({ incarnation }),
    }),
  ),
  {
    way: 'it goes to somebody who did not ask',
    kinds: ALL,
    code: 'wrong_responder',
    forge: () => ({ to: 'bob' }),
  },
  {
    way: 'the lead answers its own permission, where it may decide those of others',
    kinds: ['tool_permission'],
    code: 'wrong_responder',
    settings: { approvals: { plan: 'either', permission: 'either', team: 'human' } },
    before: ({ team }) =>
      team.decisions.open({
        kind: 'tool_permission',
        from: 'lead',
        to: 'human',
        payload: bashPayload('call_2'),
        work: LEAD_WORK,
      }),
    forge: () => ({ by: 'lead', via: 'tool' }),
  },
  {
    way: 'the lead decides what the settings keep for the human',
    kinds: ['plan_approval', 'tool_permission'],
    code: 'not_allowed',
    settings: { approvals: { plan: 'human', permission: 'human', team: 'human' } },
    forge: () => ({ by: 'lead', via: 'tool' }),
  },
  ...(['command', 'api'] as const).map(
    (via): Forgery => ({
      way: `it is sent by ${via} while a foreign tool runs`,
      kinds: ALL,
      code: 'not_allowed',
      before: async ({ team }) => {
        team.decisions.beginForeignCall();
        return undefined;
      },
      forge: () => ({ by: 'human', via }),
    }),
  ),
  ...[true, false].flatMap((approve): Forgery[] => [
    {
      way: `an ${approve ? 'approval' : 'objection'} is sent once more, turned round`,
      kinds: ALL,
      code: 'already_decided',
      before: ended(approve),
      forge: () => ({ approve: !approve }),
    },
    {
      way: `an ${approve ? 'approval' : 'objection'} is sent once more, as it was`,
      kinds: ALL,
      code: 'already_decided',
      before: ended(approve),
      forge: () => ({ approve }),
    },
  ]),
  {
    way: 'it answers what was withdrawn',
    kinds: ALL,
    code: 'already_decided',
    before: async ({ team, request }) => {
      await team.decisions.cancel([request.requestId], 'call_ended');
      return undefined;
    },
    forge: () => ({}),
  },
  {
    way: 'it answers the plan that a newer one took the place of',
    kinds: ['plan_approval'],
    code: 'already_decided',
    before: async ({ team, request }) => {
      await openRequest(team, 'plan_approval');
      return request;
    },
    forge: () => ({}),
  },
  {
    way: 'it answers what an earlier start of the name asked or was asked',
    kinds: ['shutdown', 'plan_approval', 'tool_permission'],
    code: 'already_decided',
    before: async ({ team }) => {
      await team.end('alice', 1, 'shutdown', undefined);
      await team.spawn({ name: 'alice', role: 'coder', prompt: 'Again.' }, 'lead');
      return undefined;
    },
    forge: () => ({}),
  },
  {
    way: 'it comes from a later start of the name',
    kinds: ['shutdown'],
    code: 'wrong_responder',
    before: async ({ team }) => {
      await team.end('alice', 1, 'shutdown', undefined);
      await team.spawn({ name: 'alice', role: 'coder', prompt: 'Again.' }, 'lead');
      return undefined;
    },
    forge: () => ({ incarnation: 2 }),
  },
  {
    way: 'its member was stopped by force',
    kinds: ['shutdown', 'plan_approval', 'tool_permission'],
    code: 'stale_work',
    before: async ({ team }) => {
      team.fence('alice', 1);
      return undefined;
    },
    forge: () => ({}),
  },
];

describe('forging: answers that are not what they seem', () => {
  for (const { way, kinds, code, forge, settings, before } of FORGERIES) {
    for (const kind of kinds) {
      it(`${kind}: ${way}`, async () => {
        const scene = await pendingScene(kind, settings);
        const { team, ledger, journal } = scene;
        const target = (await before?.(scene)) ?? scene.request;
        const answer: Answer = { ...genuine(target), ...forge(target) };
        const told = facts(team);
        const written = journal.written.length;
        const seen = new Promise((resolve) => {
          ledger.events.on((event) => {
            if (event.type === 'refusal') resolve([event.code, event.by, event.requestId, event.text]);
          });
        });
        const refusal = await team.decisions.decide(answer).then(
          () => assert.fail('It was taken for an answer.'),
          (error: unknown) => error,
        );
        assert.ok(refusal instanceof Refusal);
        assert.equal(refusal.code, code);
        // The caller, the log and the sequence picture say the same.
        assert.deepEqual(await seen, [code, answer.by, refusal.requestId, refusal.message]);
        assert.ok(refusal.message.length < 500, 'and say it shortly');
        assert.deepEqual(
          journal.written.slice(written).map((record) => record.t),
          ['refused'],
        );
        assert.deepEqual(facts(team), told);
        const again = replayed(journal.written);
        assert.deepEqual(again.errors, []);
        assert.deepEqual(again.decisions.registry.all(), told.requests);
      });
    }
  }

  it('the table has every check for every kind', () => {
    assertNamedOnce(FORGERIES.map(({ way }) => way));
    const codes: RefusalCode[] = [
      'unknown_request',
      'wrong_kind',
      'wrong_responder',
      'already_decided',
      'stale_work',
      'not_allowed',
    ];
    const missing = REQUEST_KINDS.flatMap((kind) =>
      codes
        .filter((code) => !FORGERIES.some((row) => row.code === code && row.kinds.includes(kind)))
        .map((code) => `${kind} ${code}`),
    );
    // The lead, whose work a proposal belongs to, never leaves.
    assert.deepEqual(missing, ['team_proposal stale_work']);
  });

  it('what is forged in the table would count if nothing were wrong with it', async () => {
    for (const kind of REQUEST_KINDS) {
      const { team, request } = await pendingScene(kind);
      assert.equal((await team.decisions.decide(genuine(request))).status, 'approved', kind);
    }
  });
});
