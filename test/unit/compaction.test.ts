import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { tokensOf } from '../../src/agent/contextState';
import { summarizable, withoutOutputs } from '../../src/agent/shortenTurns';
import {
  type ConversationTurn,
  type LanguageModel,
  ModelError,
  type ModelReply,
  type ModelRequest,
} from '../../src/model/port';
import { answering, said } from './support/answeringModel';
import { call, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';

const isSummary = (request: ModelRequest): boolean => request.system.startsWith('You keep the memory');
const firstText = ({ messages }: ModelRequest): string => {
  const block = messages[0]?.content[0];
  return block?.type === 'text' ? block.text : '';
};

/** As the API: every call is answered at once, and roles alternate. */
function checkPairs({ messages }: ModelRequest): void {
  messages.forEach((turn, at) => {
    assert.equal(turn.role, at % 2 === 0 ? 'user' : 'assistant');
    if (turn.role !== 'assistant') return;
    const called = turn.content.flatMap((b) => (b.type === 'tool_use' ? [b.id] : []));
    const answered = messages[at + 1]?.content.flatMap((b) =>
      b.type === 'tool_result' ? [b.tool_use_id] : [],
    );
    assert.deepEqual(answered ?? [], called);
  });
}

interface Limits {
  window: number;
  /** Says its window itself, and counts; else the endpoint only refuses. */
  tells: boolean;
  summary?: (request: ModelRequest) => string;
}

/** Reads a file so many times, writes one, and ends; it takes no more than its window. */
function reader(rounds: number, { window, tells, summary = () => 'You read a.txt.' }: Limits) {
  let left = rounds;
  const model = answering((request): Partial<ModelReply> => {
    checkPairs(request);
    const tokens = tokensOf(request.messages);
    if (tokens > window) {
      const sentence = `prompt is too long: ${tokens} tokens > ${window} maximum`;
      throw new ModelError('too_long', sentence, { contextWindow: window });
    }
    const usage = { input: tells ? tokens : 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    if (isSummary(request)) return { ...said(summary(request)), usage };
    left--;
    if (left < 0) return { ...said('Done.'), usage };
    const tool =
      left === rounds - 1
        ? call('write_file', { path: 'b.txt', content: 'new' })
        : call('read_file', { path: 'a.txt' });
    return { content: [text(`Round ${rounds - left}.`), tool], stopReason: 'tool_use', usage };
  });
  return Object.assign(model, tells ? { contextWindow: window } : {});
}

const withFile = async (model: LanguageModel, size: number): Promise<TestTeam> => {
  const team = await openTeam(model, { permissionMode: 'allow', maxTurns: 1000 });
  await writeFile(path.join(team.root, 'a.txt'), `${'word '.repeat(15)}\n`.repeat(size));
  return team;
};

describe('a conversation that becomes too long', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  for (const tells of [true, false])
    it(`goes on in its window: old output first, then a summary with the facts (${tells ? 'by its counts' : 'when it is refused'})`, async () => {
      const model = reader(60, { window: 4000, tells });
      const team = await withFile(model, 50);
      await team.core.sendToLead('Read it.');
      const calls = model.requests.filter((request) => !isSummary(request));
      assert.ok(calls.length >= 61);
      const cleared = calls.findIndex((r) =>
        JSON.stringify(r.messages).includes('was taken out to save room'),
      );
      const summarized = calls.findIndex((r) => firstText(r).includes('your own summary'));
      assert.ok(cleared > 0 && cleared < summarized, `${cleared} ${summarized}`);
      const whole = firstText(calls[summarized] ?? assert.fail());
      assert.match(whole, /You read a\.txt\./);
      assert.match(whole, /You are the lead of the team workspace\./);
      assert.match(whole, /Files you have changed: b\.txt/);
      assert.equal(team.core.leadStatus().status, 'idle');
      // The transcript keeps everything.
      const lines = await team.core.transcript('lead');
      const results = lines.flatMap(({ turn }) =>
        turn.role === 'user' ? turn.content.filter((block) => block.type === 'tool_result') : [],
      );
      assert.equal(results.length, 60);
      assert.ok(results.every(({ content }) => !/taken out/.test(content)));
    });

  it('is the same after a restart', async () => {
    const model = reader(60, { window: 4000, tells: true });
    const team = await withFile(model, 50);
    await team.core.sendToLead('Read it.');
    const last = model.requests.at(-1) ?? assert.fail();
    assert.match(firstText(last), /your own summary/);
    const after = answering(() => said('Still here.'));
    const again = await team.reopen(after);
    await again.core.sendToLead('And now?');
    const [request] = after.requests;
    assert.deepEqual(request?.messages.slice(0, last.messages.length), last.messages);
  });

  it('keeps the facts of a teammate: role, plan and scope, tasks, pending requests', async () => {
    let asked = false;
    const model = answering((request): Partial<ModelReply> => {
      if (request.member === 'lead') return said('Seen.');
      if (isSummary(request)) return said('You planned.');
      if (!asked) {
        asked = true;
        const plan = call('plan_approval', {
          plan: 'Rename it all.',
          files: ['src/**'],
          commands: ['npm test'],
        });
        return { content: [plan], stopReason: 'tool_use' };
      }
      if (tokensOf(request.messages) > 500)
        throw new ModelError('too_long', 'Too long.', { contextWindow: 1000 });
      return said('Done.');
    });
    const team = await openTeam(model);
    await team.core.spawn(
      { name: 'alice', role: 'coder', prompt: 'Plan. '.repeat(400), requirePlan: true },
      'human',
    );
    const { requestId } = await team.pending('plan_approval');
    await team.core.whenIdle();
    const shortened = model.requests
      .filter((r) => r.member === 'alice')
      .map(firstText)
      .find((t) => /own summary/.test(t));
    assert.match(shortened ?? '', /You are alice \(role: coder\) of the team workspace/);
    assert.match(shortened ?? '', /Plan status: pending/);
    assert.match(shortened ?? '', new RegExp(`Your plan ${requestId} \\(pending\\):\\nRename it all\\.`));
    assert.match(shortened ?? '', /It may write: src\/\*\*/);
    assert.match(shortened ?? '', /It may run: npm test/);
    assert.match(shortened ?? '', new RegExp(`Pending: plan_approval ${requestId}, from alice to lead`));
  });

  it('that cannot fit says what is too large, and is not sent again and again', async () => {
    const model = reader(1, { window: 5000, tells: true });
    const team = await withFile(model, 1);
    await assert.rejects(
      team.core.sendToLead('much '.repeat(10_000)),
      /12500 tokens > 5000.*largest part of what lead sends is a message to it, about 12500 tokens.*smaller parts/,
    );
    assert.equal(model.requests.length, 1);
  });

  it('with one result that is too large goes on without it', async () => {
    const model = reader(2, { window: 1000, tells: false });
    const team = await withFile(model, 100);
    await team.core.sendToLead('Read it.');
    const last = JSON.stringify(model.requests.at(-1)?.messages);
    assert.match(last, /This result \(about \d+ tokens\) was taken out.*for a smaller part/);
  });

  it('whose summary is no shorter is not summarised again and again', async () => {
    const model = reader(60, { window: 3000, tells: true, summary: () => 'long '.repeat(4000) });
    const team = await withFile(model, 10);
    await team.core.sendToLead('Read it.');
    const summaries = model.requests.filter(isSummary).length;
    assert.ok(summaries > 0 && summaries <= 5, `${summaries} summaries`);
  });
});

describe('shortening turns', () => {
  const ask = (words: string): ConversationTurn => ({
    role: 'user',
    content: [{ type: 'text', text: words }],
  });
  const use = (id: string): ConversationTurn => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name: 'bash', input: {} }],
  });
  const result = (id: string, length: number): ConversationTurn => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(length) }],
  });
  const turns = [
    ask('Go.'),
    use('a'),
    result('a', 4000),
    use('b'),
    result('b', 40),
    use('c'),
    result('c', 4000),
  ];

  it('takes long results out of the first turns, and changes nothing that was there', () => {
    const before = structuredClone(turns);
    const left = withoutOutputs(turns, 5);
    assert.deepEqual(turns, before);
    assert.match(JSON.stringify(left[2]), /about 1000 tokens/);
    assert.deepEqual([left[4], left[6]], [turns[4], turns[6]]);
    assert.deepEqual(withoutOutputs(left, 5), left, 'once is enough');
  });

  it('summarises up to a turn of the model, so that calls keep their results', () => {
    assert.equal(summarizable(turns, 1100), 3);
    assert.equal(summarizable(turns, 10), 5);
    assert.equal(summarizable([ask('Go.'), use('a'), result('a', 9)], 10), 1);
    assert.equal(summarizable([ask('Go.')], 10), 0);
  });
});
