import assert from 'node:assert/strict';
import { CallLimiter } from '../../src/model/limiter';
import { type AssistantBlock, type LanguageModel, ModelError, type ModelReply } from '../../src/model/port';
import { doingText } from '../../src/ui/doingText';
import { answering, said } from './support/answeringModel';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { deferred, resultTexts, shown } from './support/turns';
import { hastyLimiter, VirtualTimers } from './support/virtualTimers';

describe('model calls of a team', () => {
  afterEach(closeTeams);

  it('case 25: members that wait say for what, and an interrupt ends the wait', async () => {
    const timers = new VirtualTimers();
    const limiter = new CallLimiter({ maxConcurrentCalls: () => 8, timers });
    let limited = true;
    const model = answering(() => {
      if (limited) throw new ModelError('rate_limit', 'Slow down.', { retryAfterMs: 12_000 });
      return said('Done.');
    });
    const team = await openTeam(model, {}, undefined, { limiter });
    const waiting = (name: string) =>
      team.next(
        (e) =>
          e.type === 'member' && e.name === name && /rate limit/.test(doingText(team.core.activity(name))),
      );
    const both = Promise.all([waiting('alice'), waiting('bob')]);
    for (const name of ['alice', 'bob'])
      await team.core.spawn({ name, role: 'coder', prompt: 'Go.' }, 'human');
    await both;
    assert.equal(doingText(team.core.activity('alice')), 'waiting 12 s: rate limit');
    const ended = team.next((e) => e.type === 'turn_ended' && e.member === 'alice');
    await team.core.interrupt('alice');
    await ended;
    assert.equal(doingText(team.core.activity('alice')), '');
    limited = false;
    const report = team.next((e) => e.type === 'message' && e.message.type === 'result');
    await timers.advance(20_000);
    await report;
    await team.core.whenIdle();
    assert.equal(team.core.member('alice')?.status, 'idle');
    assert.equal(doingText(team.core.activity('bob')), '');
  });

  it('lets no more members call at a time than it may', async () => {
    let running = 0;
    let most = 0;
    const two = deferred();
    const release = deferred();
    const model = answering(async () => {
      most = Math.max(most, ++running);
      if (running === 2) two.resolve();
      await release.promise;
      running--;
      return said('Done.');
    });
    const team = await openTeam(model, {}, undefined, { limiter: hastyLimiter(2) });
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await team.core.spawn({ name, role: 'coder', prompt: 'Go.' }, 'human');
    await two.promise;
    release.resolve();
    await team.core.whenIdle();
    assert.equal(most, 2);
  });

  it('case 26: a call that broke off in its tool input runs nothing, and is made again', async () => {
    let calls = 0;
    const ran: string[] = [];
    const model = answering((request) => {
      if (request.member === 'lead') return said('Seen.');
      calls++;
      if (calls === 1) throw new ModelError('interrupted_stream', 'It broke off in the middle of bash.');
      if (calls === 2) return { content: [call('bash', { command: 'echo once' })], stopReason: 'tool_use' };
      ran.push(...resultTexts(request));
      return said('Done.');
    });
    const team = await openTeam(model, { permissionMode: 'allow' }, undefined, { limiter: hastyLimiter() });
    await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'human');
    await team.core.whenIdle();
    assert.equal(ran.length, 1);
    assert.match(ran[0] ?? '', /once/);
    assert.deepEqual(
      model.requests.filter((r) => r.member === 'alice')[1],
      model.requests.filter((r) => r.member === 'alice')[0],
    );
  });

  describe('case 29: a key that is refused', () => {
    const withKey = (key: () => string) => {
      const models = new Map<string, ReturnType<typeof answering>>();
      return {
        models,
        current: (): ReturnType<typeof answering> => {
          const present = models.get(key());
          if (present) return present;
          const fresh = answering(() => {
            if (key() === 'A') throw new ModelError('bad_key', 'The key is refused. Set another.');
            return said('Done.');
          });
          models.set(key(), fresh);
          return fresh;
        },
      };
    };
    /** Asks for its model anew at each call, as the provider does. */
    const router = (current: () => LanguageModel) => async () => current();

    it('is tried once; its members wait, and all go on with another', async () => {
      let key = 'A';
      const { current, models } = withKey(() => key);
      const names = ['a', 'b', 'c', 'd'];
      const team = await openTeam(router(current), {}, undefined, { limiter: hastyLimiter(1) });
      await Promise.all(
        names.map((name) => team.core.spawn({ name, role: 'coder', prompt: 'Go.' }, 'human')),
      );
      await team.core.whenIdle();
      assert.equal(models.get('A')?.requests.length, 1);
      for (const name of names) {
        assert.equal(team.core.member(name)?.status, 'waiting');
        assert.equal(doingText(team.core.activity(name)), 'waiting for an API key');
      }
      assert.ok(
        !team.events.some((e) => e.type === 'message' && e.message.to === 'lead'),
        'the lead can give no key either',
      );
      key = 'B';
      team.core.modelChanged();
      await team.core.whenIdle();
      const done = team.events.flatMap((e) =>
        e.type === 'message' && e.message.type === 'result' ? [e.message.from] : [],
      );
      assert.deepEqual(done.sort(), names);
      for (const name of names) assert.equal(team.core.member(name)?.status, 'idle');
      assert.equal(models.get('A')?.requests.length, 1);
    });

    it("fails the lead's turn at once, and the human's next word tries it again", async () => {
      const { current, models } = withKey(() => 'A');
      const team = await openTeam(router(current));
      await assert.rejects(team.core.sendToLead('Hi.'), /key is refused/);
      await assert.rejects(team.core.sendToLead('Hi again.'), /key is refused/);
      assert.equal(models.get('A')?.requests.length, 2);
      assert.equal(team.core.leadStatus().status, 'failed');
    });

    it('does not hold up a teammate that is to be force stopped, nor a restart', async () => {
      let key = 'A';
      const { current } = withKey(() => key);
      const team = await openTeam(router(current));
      for (const name of ['a', 'b']) await team.core.spawn({ name, role: 'coder', prompt: 'Go.' }, 'human');
      await team.core.whenIdle();
      await team.core.forceStop('a');
      assert.equal(team.core.member('a')?.status, 'shutdown');
      key = 'B';
      const again = await team.reopen(answering(() => said('Done.')));
      assert.deepEqual(again.core.resumable(), ['b']);
      again.core.resume();
      await again.core.whenIdle();
      assert.equal(again.core.member('b')?.status, 'idle');
    });
  });

  describe('what ends an answer', () => {
    const lead = async (...replies: Partial<ModelReply>[]) => {
      let next = 0;
      const model = answering(() => replies[next++] ?? assert.fail('One call too many.'));
      const team = await openTeam(model, { permissionMode: 'allow' });
      return { model, team };
    };

    it('the token limit: the answer is gone on with, and the whole of it is the report', async () => {
      const model = answering(({ member, messages }) => {
        if (member === 'lead') return said('Seen.');
        return messages.length === 1
          ? { content: [text('The first half, ')], stopReason: 'max_tokens' }
          : said('and the second.');
      });
      const team = await openTeam(model);
      await team.core.spawn({ name: 'alice', role: 'coder', prompt: 'Report.' }, 'human');
      await team.core.whenIdle();
      assert.match(shown(model.requests.find((r) => r.messages.length === 3)), /cut off at its token limit/);
      const report = team.events.find((e) => e.type === 'message' && e.message.type === 'result');
      assert.ok(report?.type === 'message');
      assert.equal(report.message.content, 'The first half, and the second.');
    });

    it('the token limit again and again: it is said, and ends', async () => {
      const cutOff: Partial<ModelReply> = { content: [text('More. ')], stopReason: 'max_tokens' };
      const { team, model } = await lead(cutOff, cutOff, cutOff, cutOff);
      await team.core.sendToLead('Hi.');
      assert.equal(model.requests.length, 4);
      assert.match(
        team.notices().join(),
        /lead reached the token limit of an answer \(m-1\) 4 times in a row/,
      );
    });

    it('a refusal: it fails in plain words, and nothing of the answer is kept', async () => {
      const { team, model } = await lead(
        { content: [text('I will')], stopReason: 'refusal', stopDetails: 'cyber' },
        said('Hello.'),
      );
      await assert.rejects(
        team.core.sendToLead('Hi.'),
        /m-1 declined to go on.*\(cyber\).*Say it in another way/,
      );
      assert.ok(team.events.some((e) => e.type === 'text_void'));
      await team.core.sendToLead('Hello?');
      assert.deepEqual(
        model.requests[1]?.messages.map((turn) => turn.role),
        ['user'],
      );
    });

    it('a pause: the model is called again with its own turn at the end, and mail waits', async () => {
      const raw = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} };
      const paused: Partial<ModelReply> = { content: [{ type: 'opaque', raw }], stopReason: 'pause_turn' };
      let tell: (text: string) => Promise<void> = async () => undefined;
      let calls = 0;
      const model = answering(async () => {
        calls++;
        if (calls > 1) return said(calls === 2 ? 'Found.' : 'And that.');
        await tell('Wait.');
        return paused;
      });
      const team = await openTeam(model);
      tell = (words) => team.core.sendMessage('lead', words);
      await team.core.sendToLead('Search.');
      await team.core.whenIdle();
      assert.deepEqual(
        model.requests.map((r) => r.messages.map((turn) => turn.role)),
        [['user'], ['user', 'assistant'], ['user', 'assistant', 'user']],
      );
      assert.deepEqual(model.requests[1]?.messages[1]?.content, paused.content);
      assert.deepEqual(model.requests[2]?.messages[1]?.content, [...(paused.content ?? []), text('Found.')]);
      const [first, second] = await team.core
        .transcript('lead')
        .then((lines) => lines.filter((l) => l.turn.role === 'assistant'));
      assert.equal(first?.paused, true);
      assert.equal(second?.paused, undefined);
    });

    it('a pause before a crash: it goes on as it was', async () => {
      const content: AssistantBlock[] = [{ type: 'opaque', raw: { type: 'server_tool_use', id: 's1' } }];
      let calls = 0;
      const model = answering(() => {
        if (++calls > 1) throw new ModelError('other', 'Gone.');
        return { content, stopReason: 'pause_turn' };
      });
      const team = await openTeam(model);
      await assert.rejects(team.core.sendToLead('Search.'), /Gone/);
      const after = answering(() => said('Found.'));
      const again = await team.reopen(after);
      assert.deepEqual(again.core.resumable(), ['lead']);
      again.core.resume();
      await again.core.whenIdle();
      assert.deepEqual(
        after.requests[0]?.messages.map((turn) => turn.role),
        ['user', 'assistant'],
      );
    });

    for (const words of [
      '{"name": "bash", "arguments": {"command": "ls"}}',
      '```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```',
      '<tool_call>{"name": "bash", "arguments": {}}</tool_call>',
      'I will look.\n<function=bash>{"command": "ls"}</function>',
    ])
      it(`a tool call as text (${JSON.stringify(words.slice(0, 24))}…): asked once for the call, then said`, async () => {
        const { team, model } = await lead(said(words), said(words));
        await team.core.sendToLead('Hi.');
        assert.match(shown(model.requests[1]), /wrote a tool call as text/);
        assert.match(team.notices().join(), /model m-1 of lead.*unable to use tools.*Select Model/);
      });

    for (const words of [
      'The file holds {"name": "bash", "arguments": {}} as an example.',
      '{"name": "handshake", "version": "1"}',
      'Use <b>bash</b>.',
    ])
      it(`prose and data are no tool calls: ${JSON.stringify(words.slice(0, 24))}…`, async () => {
        const { team, model } = await lead(said(words));
        await team.core.sendToLead('Hi.');
        assert.equal(model.requests.length, 1);
        assert.deepEqual(team.notices(), []);
      });
  });

  it('gives up a failed call with how often it was tried', async () => {
    const model = new ScriptedModel({}).always('lead', () => {
      throw new ModelError('unreachable', 'It cannot be reached.');
    });
    const team = await openTeam(model, {}, undefined, { limiter: hastyLimiter() });
    await assert.rejects(team.core.sendToLead('Hi.'), /It cannot be reached\. It was tried 4 times\./);
    assert.equal(model.requests.length, 4);
  });
});
