import * as assert from 'node:assert/strict';
import type { Core } from '../../src/agent/coreApi';
import { REQUEST_KINDS, type RequestKind } from '../../src/protocol';
import { fromConversation, LONGEST_FEEDBACK, type ToRequestPanel } from '../../src/ui/messages';
import { RequestPanelController } from '../../src/ui/requestPanelController';
import { ScriptedCore } from './conversationFixtures';
import { assertNamedOnce, facts, genuine, openRequest, pendingScene } from './support/forgedScene';
import { texts } from './webviewRequestFixtures';

/** The panel's own request, another that waits, and one that has been decided. */
interface Ids {
  own: string;
  other: string;
  decided: string;
}

/** What a page could post; a new way is a new row. */
const POSTED: Readonly<Record<string, (ids: Ids) => unknown>> = {
  'a click that names another request': ({ other }) => decide(other),
  'a click that names a decided request': ({ decided }) => decide(decided),
  'a click that names what nobody asked': () => decide('ffffffff'),
  'a click that names its request in capitals': ({ own }) => decide(own.toUpperCase()),
  'a click that names its request with a blank': ({ own }) => decide(`${own} `),
  'a click that names what every object has': () => decide('__proto__'),
  'a click that names several': ({ own, other }) => ({ ...decide(own), requestId: [own, other] }),
  'a click that names none': () => ({ type: 'decide', approve: true, feedback: '' }),
  'a click that says yes in words': ({ own }) => ({ ...decide(own), approve: 'true' }),
  'a click that says yes as a number': ({ own }) => ({ ...decide(own), approve: 1 }),
  'a click that does not say what': ({ own }) => ({ type: 'decide', requestId: own, feedback: '' }),
  'a click with more feedback than anybody types': ({ own }) => ({
    ...decide(own),
    feedback: 'x'.repeat(LONGEST_FEEDBACK + 1),
  }),
  'a click that takes a part of it with a field of its own': ({ own }) => ({
    ...decide(own),
    accepted: { members: [], tasks: [], by: 'human' },
  }),
  'a click that takes somebody with a field that nobody may set': ({ own }) => ({
    ...decide(own),
    accepted: { members: [{ ...TAKEN, spawned_by: 'human' }], tasks: [] },
  }),
  'a click that takes everything, in words': ({ own }) => ({ ...decide(own), accepted: 'all' }),
  'a click of another case': ({ own }) => ({ ...decide(own), type: 'Decide' }),
  'a click in a list': ({ own }) => [decide(own)],
  'a click in an envelope': ({ own }) => ({ data: decide(own) }),
  'a click as JSON': ({ own }) => JSON.stringify(decide(own)),
  'a force stop that names another request': ({ other }) => ({ type: 'force_stop', requestId: other }),
  'a force stop that names a member': () => ({ type: 'force_stop', requestId: 'alice' }),
  'a word of the core': ({ own }) => ({ type: 'request', change: 'approved', requestId: own }),
  nothing: () => undefined,
  null: () => null,
};

const TAKEN = { of: 'zoe', name: 'zoe', role: 'coder', prompt: 'Go.', require_plan: false };

function decide(requestId: string) {
  return { type: 'decide', requestId, approve: true, feedback: '' };
}

/** A panel over a real team, of which the page is anybody. */
async function panelOf(kind: RequestKind) {
  const scene = await pendingScene(kind);
  const { team, request } = scene;
  const other = await openRequest(team, kind === 'shutdown' ? 'tool_permission' : 'shutdown');
  const gone = await openRequest(team, 'team_proposal');
  await team.decisions.decide({ ...genuine(gone), approve: false });
  const stopped: string[] = [];
  const core: Core = Object.assign(new ScriptedCore(), {
    members: () => team.state.members(),
    member: (name: string) => team.state.member(name),
    activity: () => ({}),
    isOverdue: () => false,
    request: (id: string) => team.decisions.registry.get(id),
    decide: (answer: Parameters<Core['decide']>[0]) => team.decisions.decide(answer),
    forceStop: async (name: string) => void stopped.push(name),
  });
  const posted: ToRequestPanel[] = [];
  const said: string[] = [];
  const panel = new RequestPanelController(request.requestId, {
    core: () => core,
    texts,
    drafts: { read: async () => '', write: () => undefined },
    post: async (message) => void posted.push(message),
    setTitle: () => undefined,
    openLink: async (href) => void said.push(`opened ${href}`),
    warn: (text) => void said.push(text),
    logError: (what, error) => void said.push(`${what}: ${String(error)}`),
  });
  const ids = { own: request.requestId, other: other.requestId, decided: gone.requestId };
  return { ...scene, panel, posted, said, stopped, ids };
}

describe('forging: what a page posts', () => {
  for (const kind of REQUEST_KINDS) {
    it(`to the panel of a ${kind}: it decides nothing, stops nobody, and each is logged`, async () => {
      const { team, panel, said, stopped, ids } = await panelOf(kind);
      const told = facts(team);
      for (const [way, make] of Object.entries(POSTED)) {
        const before = said.length;
        await panel.receive(make(ids));
        assert.equal(said.length, before + 1, way);
        assert.match(said.at(-1) ?? '', new RegExp(`^The panel of request ${ids.own} `), way);
        assert.deepEqual(facts(team), told, way);
      }
      assert.deepEqual(stopped, []);
      panel.dispose();
    });

    it(`to the panel of a ${kind}, after it was decided: the core refuses it, and the page is told`, async () => {
      const { team, panel, posted, said, ids } = await panelOf(kind);
      await panel.receive({ ...decide(ids.own), approve: false });
      assert.equal(team.decisions.registry.get(ids.own)?.status, 'rejected');
      const told = facts(team);
      posted.length = 0;
      await panel.receive(decide(ids.own));
      assert.deepEqual(facts(team), told);
      assert.match(said.join('\n'), /was already rejected by human/);
      const [failed, shown] = posted;
      assert.ok(failed?.type === 'failed' && /already rejected/.test(failed.text));
      assert.ok(shown?.type === 'show' && shown.view.status === 'rejected');
      panel.dispose();
    });
  }

  it('what is taken of a proposal is no more than was proposed, and nothing of any other request', async () => {
    const takes = {
      'somebody who was not proposed': { members: [{ ...TAKEN, of: 'mallory' }], tasks: [] },
      'somebody twice': { members: [{ ...TAKEN }, { ...TAKEN, name: 'adam' }], tasks: [] },
      'a name that is reserved': { members: [{ ...TAKEN, name: 'lead' }], tasks: [] },
      'a task that was not proposed': {
        members: [],
        tasks: [{ of: 't1', subject: 'S', description: '', priority: 0, blocked_by: [] }],
      },
      nothing: { members: [], tasks: [] },
    };
    for (const kind of REQUEST_KINDS) {
      const { team, panel, posted, ids } = await panelOf(kind);
      const told = facts(team);
      for (const [way, accepted] of Object.entries(takes)) {
        posted.length = 0;
        await panel.receive({ ...decide(ids.own), accepted });
        assert.deepEqual(facts(team), told, `${kind}: ${way}`);
        const [failed] = posted;
        assert.ok(failed?.type === 'failed' && /cannot be approved|Only the human/.test(failed.text), way);
      }
      panel.dispose();
    }
  });

  it('a click of the Conversation is none on a request', () => {
    const ids = { own: 'd08982e3', other: 'd08982e4', decided: 'd08982e5' };
    for (const [way, make] of Object.entries(POSTED)) {
      assert.equal(fromConversation.safeParse(make(ids)).success, false, way);
    }
    assertNamedOnce(Object.keys(POSTED));
  });

  it('what is posted in the table would count if it were right', async () => {
    for (const kind of REQUEST_KINDS) {
      const { team, panel, ids } = await panelOf(kind);
      await panel.receive(decide(ids.own));
      assert.equal(team.decisions.registry.get(ids.own)?.status, 'approved', kind);
      panel.dispose();
    }
  });
});
