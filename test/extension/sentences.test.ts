// The sentences of the tutorial, in a real VS Code: with a model over HTTP (twice) and with the demo.
import assert from 'node:assert/strict';
import type { Brain, ModelServer } from '../model-server';
import { demoBrain } from '../model-server/brains';
import { memberInConfig, npmTest, readLog, restoreSample, snapshot } from './support/files';
import { callsOf, freshTeam, startModel, tellLead } from './support/model';
import { scriptedTeam } from './support/scriptedTeam';
import {
  activate,
  type HandshakeApi,
  type Moves,
  pending,
  type RequestSnapshot,
  rejection,
  request,
  run,
  runForText,
  transcript,
  watchRequests,
} from './support/window';

interface Source {
  words: string;
  brain?: Brain;
}

const sources: Source[] = [
  { words: 'a scripted model over HTTP', brain: scriptedTeam },
  { words: 'the demo served over HTTP', brain: demoBrain },
  { words: 'the demo' },
];

it('activates and returns the API', async () => {
  assert.equal((await activate()).apiVersion, 1);
});

for (const { words, brain } of sources) {
  describe(`the five sentences with ${words}`, () => {
    let api: HandshakeApi;
    let server: ModelServer | undefined;
    let moves: Moves;
    let earlier: number;

    const newRequests = (): RequestSnapshot[] => api.requests().slice(earlier);
    const theOnly = (kind: string, member: string): RequestSnapshot => {
      const found = newRequests().filter((r) => r.kind === kind && [r.from, r.to].includes(member));
      assert.equal(found.length, 1, `${kind} requests of ${member}`);
      return found[0] ?? assert.fail();
    };

    before(async () => {
      api = await activate();
      await freshTeam();
      await restoreSample();
      earlier = api.requests().length;
      moves = await watchRequests();
      if (brain) server = await startModel({ brain });
      else await run('runDemo');
    });

    after(async () => {
      moves.dispose();
      await server?.close();
    });

    afterEach(() => assert.deepEqual(server?.problems ?? [], []));

    it('1: spawns alice, who then agrees to shut down and ends by herself', async () => {
      await tellLead('Spawn alice as a coder. Then request her shutdown.');
      const shutdown = theOnly('shutdown', 'alice');
      assert.match(shutdown.requestId, /^[0-9a-f]{8}$/);
      assert.deepEqual([shutdown.from, shutdown.to], ['lead', 'alice']);
      assert.deepEqual(moves.of(shutdown.requestId), ['pending', 'approved']);
      assert.deepEqual([shutdown.decidedBy, shutdown.via], ['alice', 'tool']);
      assert.deepEqual(api.team().members, [{ name: 'alice', role: 'coder', status: 'shutdown' }]);
      const { name, role, status } = await memberInConfig('alice');
      assert.deepEqual({ name, role, status }, { name: 'alice', role: 'coder', status: 'shutdown' });
      assert.match(
        (await rejection(run('sendMessage', 'alice', 'Are you there?'))).message,
        /'alice' has shut down/,
      );
      // The result of her own tool call is the last there is: no model call of hers comes after it.
      const [, end, ...more] = (await transcript('alice')).split('Shutdown approved');
      assert.deepEqual(more, []);
      assert.doesNotMatch(end ?? assert.fail('she did not agree by the tool'), /^## alice/m);
      if (server) assert.doesNotMatch(JSON.stringify(callsOf(server, 'alice')), /Shutdown approved/);
    });

    it('2: tells the status of alice', async () => {
      const before = (await transcript('lead')).length;
      await tellLead("List teammates to see alice's status after shutdown approval");
      const answer =
        (await transcript('lead'))
          .slice(before)
          .split(/^## lead/m)
          .at(-1) ?? '';
      assert.match(answer, /alice/);
      assert.match(answer, /shutdown/);
    });

    it("3: rejects bob's plan; the feedback reaches bob, who may not write", async () => {
      const before = await snapshot();
      await tellLead('Spawn bob with a risky refactoring task. Review and reject his plan.');
      const plan = theOnly('plan_approval', 'bob');
      assert.match(plan.requestId, /^[0-9a-f]{8}$/);
      assert.deepEqual([plan.from, plan.to], ['bob', 'lead']);
      assert.deepEqual(moves.of(plan.requestId), ['pending', 'rejected']);
      assert.deepEqual([plan.decidedBy, plan.via], ['lead', 'tool']);
      assert.ok(plan.feedback, 'the rejection says why');
      const bob = await transcript('bob');
      assert.ok(bob.includes(plan.feedback), 'bob was shown the feedback');
      assert.match(bob, /Blocked: plan status is rejected\./);
      assert.deepEqual(await snapshot(), before);
      assert.equal((await memberInConfig('bob')).status, 'idle');
      assert.equal(
        newRequests().some((r) => r.kind === 'tool_permission'),
        false,
      );
    });

    it("4: approves charlie's plan, and charlie changes real files whose tests pass", async () => {
      const before = await snapshot();
      await tellLead('Spawn charlie, have him submit a plan, then approve it.');
      const plan = theOnly('plan_approval', 'charlie');
      assert.deepEqual(moves.of(plan.requestId), ['pending', 'approved']);
      assert.deepEqual([plan.decidedBy, plan.via], ['lead', 'tool']);
      const after = await snapshot();
      assert.notEqual(after['src/router.js'], before['src/router.js']);
      assert.equal('test/health.test.js' in after, true);
      // The plan covers the file changes of its task, so nobody was asked about each.
      assert.equal(
        newRequests().some((r) => r.kind === 'tool_permission'),
        false,
      );
      const { code, output } = await npmTest();
      assert.equal(code, 0, output);
      assert.match(output, /\bpass [1-9]/);
    });

    it('5: shows the roster and what waits', async () => {
      const roster = await runForText('showTeam');
      assert.match(roster, /^ {2}alice \(coder\): shutdown$/m);
      assert.match(roster, /^ {2}bob \(.+\): idle, plan rejected$/m);
      assert.match(roster, /^ {2}charlie \(.+\): idle, plan approved$/m);
      assert.match(await runForText('showInbox'), /^No request is waiting\.$/m);
      await run('requestPlan', 'bob', 'the smallest step');
      const { requestId } = await pending('plan_approval', 'bob');
      await api.whenIdle();
      assert.match(await runForText('showInbox'), new RegExp(`^ {2}${requestId} Plan of bob`, 'm'));
      assert.equal((await request(requestId)).status, 'pending');
    });

    it('leaves a record of all of it, and every call named its member', async () => {
      const log = await readLog();
      for (const { requestId, status } of newRequests().filter((r) => r.status !== 'pending')) {
        const changes = log.filter((entry) => entry.event === 'request' && entry.request_id === requestId);
        assert.deepEqual(
          changes.map((entry) => entry.change),
          ['opened', status],
        );
      }
      if (!server) return;
      const members = new Set(server.requests.map((each) => each.headers['x-handshake-member']));
      assert.deepEqual([...members].sort(), ['alice', 'bob', 'charlie', 'lead']);
    });
  });
}
