import * as assert from 'node:assert/strict';
import { createAnthropicModel } from '../../src/model/anthropic';
import { Attention } from '../../src/model/attention';
import { CallLimiter, STALL_MS } from '../../src/model/limiter';
import { createLmModel, type LmReplyPart } from '../../src/model/lmModel';
import type { TeamEvent } from '../../src/team/events';
import { eventLine } from '../../src/ui/eventLine';
import { tokensShort } from '../../src/ui/usageText';
import { cut, type ModelServer, type Reply, stall, startModelServer, text, thinking } from '../model-server';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { deferred } from './support/turns';
import { hastyLimiter, VirtualTimers } from './support/virtualTimers';

const WORDS = 'Forty letters of an answer, thought over';
const usage = {
  input_tokens: 700,
  output_tokens: 30,
  cache_read_input_tokens: 200,
  cache_creation_input_tokens: 100,
};
const READ = { input: 700, cacheRead: 200, cacheWrite: 100 };
/** `message_start`, a ping, then the beginning of a block and one piece of it. */
const IN_TEXT = { afterEvents: 4 };

function lines(team: TestTeam): string[] {
  return team.events.flatMap((event) => eventLine(event)?.text ?? []);
}

describe('a call that breaks off', () => {
  let server: ModelServer;
  let replies: Reply[] = [];

  before(async () => {
    const brain = () => replies.shift() ?? assert.fail('One call too many.');
    server = await startModelServer({ brain });
  });
  after(() => server.close());
  afterEach(closeTeams);

  const open = (
    answers: Reply[],
    settings: Parameters<typeof openTeam>[1] = {},
    limiter = hastyLimiter(),
  ) => {
    replies = answers;
    const model = createAnthropicModel({ apiKey: 'k', baseUrl: server.url, model: 'm-1' });
    return openTeam(model, settings, undefined, { limiter });
  };
  const callsOf = (team: TestTeam) =>
    team.events.flatMap((event) => (event.type === 'usage' && event.call ? [event.call] : []));
  const streaming = (team: TestTeam) => team.next(({ type }) => type === 'text');

  it('counts what its endpoint had told, estimates what came of the answer, and says so', async () => {
    const team = await open([
      { ...cut([thinking(WORDS), text(WORDS)], 'before_message_stop'), usage },
      { ...cut([text(WORDS), text(WORDS)], IN_TEXT), usage },
      { content: [text('Done.')], usage },
    ]);
    await team.core.sendToLead('Hi.');
    const [whole, half, last] = callsOf(team);
    const broken = { ...READ, model: 'm-1', brokeOff: true };
    assert.deepEqual(whole, { ...broken, output: 30, estimated: false }, 'all of it had been told');
    const streamed = team.events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
    const came = streamed.join('').slice(WORDS.length, -'Done.'.length);
    assert.ok(came !== '' && came.length < WORDS.length);
    assert.deepEqual(half, { ...broken, output: 1 + Math.ceil(came.length / 4), estimated: true });
    assert.deepEqual(last, { ...READ, model: 'm-1', output: 30, estimated: false });
    const [sum] = team.core.usage('lead');
    assert.deepEqual([sum?.calls, sum?.input, sum?.estimated], [3, 2100, true]);
    assert.equal(tokensShort(team.core.usage('lead')), 'about 3.1k tokens');
    const told = lines(team).join('\n');
    assert.match(told, /lead used 700 input, .* output tokens of m-1 in a call that broke off \(estimated\)/);
    assert.match(told, /lead: try 1 of a model call failed, and it is made again: interrupted_stream: /);
    assert.match(told, /lead waiting 1 s: the answer broke off/);
    const again = await team.reopen();
    assert.deepEqual(again.core.usage('lead'), [sum]);
  });

  it('counts one that is interrupted', async () => {
    const held = deferred();
    const team = await open([{ ...stall([text(WORDS)], IN_TEXT, held.promise), usage }]);
    const begun = streaming(team);
    const turn = team.core.sendToLead('Hi.');
    await begun;
    await team.core.interrupt('lead');
    held.resolve();
    await turn;
    const [call, ...more] = callsOf(team);
    assert.deepEqual([call?.input, call?.estimated, call?.brokeOff], [700, true, true]);
    assert.deepEqual(more, []);
  });

  it('counts one that stalls, once for each try', async () => {
    const timers = new VirtualTimers();
    const held = deferred();
    const stalled = { ...stall([text(WORDS)], IN_TEXT, held.promise), usage };
    const limiter = new CallLimiter({ maxConcurrentCalls: () => 8, timers });
    const team = await open([stalled, stalled, { content: [text('Done.')], usage }], {}, limiter);
    let begun = streaming(team);
    const turn = team.core.sendToLead('Hi.');
    for (const pause of [1000, 2000]) {
      await begun;
      begun = streaming(team);
      await timers.advance(STALL_MS);
      await timers.advance(pause);
    }
    await turn;
    held.resolve();
    assert.deepEqual(
      callsOf(team).map(({ input, brokeOff = false }) => [input, brokeOff]),
      [
        [700, true],
        [700, true],
        [700, false],
      ],
    );
  });

  it('is seen by the budget before the next try of the same call', async () => {
    const broken = { ...cut([text(WORDS)], IN_TEXT), usage };
    const team = await open([broken, broken], { tokenBudget: { team: 0, member: 1500 } });
    await assert.rejects(
      team.core.sendToLead('Hi.'),
      /lead has used about 2,0\d\d tokens of the 1,500 tokens/,
    );
    await team.core.whenIdle();
    assert.equal(callsOf(team).length, 2, 'a third try would be beyond it');
    assert.equal(team.core.activity('lead').hold?.kind, 'budget');
    assert.deepEqual(replies, []);
  });

  it('is not counted by a guess where nothing was told; the log says that it is unknown', async () => {
    const held = deferred();
    const team = await open([stall([text(WORDS)], 'before_events', held.promise)]);
    const asked = server.requests.length;
    const turn = team.core.sendToLead('Hi.');
    await server.waitForRequest((request) => server.requests.indexOf(request) >= asked);
    await team.core.interrupt('lead');
    held.resolve();
    await turn;
    assert.deepEqual(team.core.usage('lead'), []);
    assert.match(
      lines(team).join('\n'),
      /lead: a call of m-1 broke off before its tokens were told; what it used/,
    );
  });

  it('of one that never reached a model nothing is said', async () => {
    const overloaded = { status: 529, body: '{}', contentType: 'application/json' };
    const team = await open([overloaded, { content: [text('Done.')], usage }]);
    await team.core.sendToLead('Hi.');
    assert.equal(team.core.usage('lead')[0]?.calls, 1);
    assert.deepEqual(
      team.events.filter(({ type }) => type === 'uncounted'),
      [],
    );
  });

  it("is estimated where the source counts nothing: VS Code's own models", async () => {
    const parts: LmReplyPart[] = [{ type: 'text', text: WORDS }];
    let tries = 0;
    const model = createLmModel(
      {
        vendor: 'v',
        id: 'm',
        name: 'M',
        family: 'f',
        canSend: () => true,
        async *send() {
          yield* parts;
          if (tries++ === 0) throw new Error('429 too many requests');
        },
      },
      new Attention(),
    );
    const team = await openTeam(model, {}, undefined, { limiter: hastyLimiter() });
    await team.core.sendToLead('Hi.');
    const [broken, whole] = callsOf(team);
    assert.ok(broken && whole);
    const { brokeOff, ...counted } = broken;
    assert.deepEqual([brokeOff, counted], [true, whole]);
    assert.equal(whole.estimated, true);
  });
});

describe('waits of model calls in the log', () => {
  it('are one line each, however often the time that is left is told', async () => {
    const timers = new VirtualTimers();
    const limiter = new CallLimiter({ maxConcurrentCalls: () => 8, timers });
    const server = await startModelServer({
      brain: () =>
        server.requests.length === 1
          ? { status: 429, body: '{}', contentType: 'application/json', headers: { 'retry-after': '12' } }
          : [text('Done.')],
    });
    try {
      const model = createAnthropicModel({ apiKey: 'k', baseUrl: server.url, model: 'm-1' });
      const team = await openTeam(model, {}, undefined, { limiter });
      const waits = team.next(({ type }) => type === 'call_waits');
      const turn = team.core.sendToLead('Hi.');
      await waits;
      await timers.advance(20_000);
      await turn;
      const told = lines(team).filter((line) => /wait|try/.test(line));
      assert.match(
        told.shift() ?? '',
        /^lead: try 1 of a model call failed, and it is made again: rate_limit: /,
      );
      assert.deepEqual(told, ['lead waiting 12 s: rate limit']);
      const ticks = team.events.filter((event: TeamEvent) => event.type === 'member');
      assert.ok(ticks.length > 12, 'the time that is left was told');
    } finally {
      await closeTeams();
      await server.close();
    }
  });
});
