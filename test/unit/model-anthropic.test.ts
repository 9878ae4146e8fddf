import assert from 'node:assert/strict';
import * as z from 'zod';
import { DEFAULT_ANSWER_TOKENS } from '../../src/model/anthropic';
import type { ModelRequest } from '../../src/model/port';
import {
  apiError,
  cutByMaxTokens,
  type ReplyBlock,
  rawToolUse,
  redactedThinking,
  stall,
  text,
  thinking,
  toolUse,
} from '../model-server';
import { KEY, request, servedModel } from './support/servedModel';

describe('anthropic model', () => {
  const side = servedModel();
  const { serve, model, ask } = side;

  it('streams text and a call, and returns the whole turn', async () => {
    await serve([
      text('I look at the folder first, then I decide.'),
      toolUse('bash', { command: 'ls -la /' }, 't1'),
    ]);
    const { reply, events } = await ask();
    assert.deepEqual(reply.content, [
      { type: 'text', text: 'I look at the folder first, then I decide.' },
      { type: 'tool_use', id: 't1', name: 'bash', input: { command: 'ls -la /' } },
    ]);
    assert.equal(reply.stopReason, 'tool_use');
    assert.equal(reply.model, 'm-1');
    assert.ok(reply.usage.input > 0 && reply.usage.output > 0);
    const said = events.map((e) => (e.type === 'text' ? e.text : '')).join('');
    assert.equal(said, 'I look at the folder first, then I decide.');
    assert.ok(events.filter((e) => e.type === 'text').length > 1);
    const json = events.map((e) => (e.type === 'tool_input' ? e.json : '')).join('');
    assert.deepEqual(JSON.parse(json), { command: 'ls -la /' });
  });

  it('says who calls, and sends the request whole', async () => {
    await serve([text('ok')]);
    await ask({ model: 'm-2', forceTool: 'bash' });
    const sent = side.server.requests[0];
    assert.equal(sent?.member, 'alice');
    assert.equal(sent?.body?.model, 'm-2');
    assert.equal(sent?.body?.system, 'You are alice.');
    assert.equal(sent?.body?.max_tokens, DEFAULT_ANSWER_TOKENS);
    assert.deepEqual(sent?.body?.tool_choice, { type: 'tool', name: 'bash' });
    assert.equal(sent?.body?.tools[0]?.name, 'bash');
  });

  describe('thinking', () => {
    const sent = (at = 0) =>
      z.looseObject({ thinking: z.unknown().optional() }).parse(side.server.requests[at]?.raw).thinking;
    const tooled = (first: ReplyBlock): ModelRequest['messages'] => [
      ...request().messages,
      {
        role: 'assistant',
        content: [
          ...(first.type === 'text' ? [first] : [{ type: 'opaque' as const, raw: { ...first } }]),
          { type: 'tool_use', id: 't1', name: 'bash', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
    ];

    for (const [choice, expected] of [
      ['auto', undefined],
      ['off', { type: 'disabled' }],
      ['adaptive', { type: 'adaptive' }],
      ['low', { type: 'enabled', budget_tokens: 2048 }],
      ['high', { type: 'enabled', budget_tokens: 24_576 }],
    ] as const)
      it(`${choice} is sent as it should be, with room for the answer`, async () => {
        await serve([text('ok')]);
        await model({ thinking: choice }).call(request(), () => {}, new AbortController().signal);
        assert.deepEqual(sent(), expected);
        const { max_tokens: most } = side.server.requests[0]?.body ?? assert.fail();
        assert.ok(
          most >=
            DEFAULT_ANSWER_TOKENS + (expected && 'budget_tokens' in expected ? expected.budget_tokens : 0),
        );
      });

    it('is off where a tool is forced, and to the end of a turn that began without', async () => {
      await serve([text('ok')]);
      const thinks = model({ thinking: 'low' });
      const call = (more: Partial<ModelRequest>) =>
        thinks.call(request(more), () => {}, new AbortController().signal);
      await call({ forceTool: 'bash' });
      await call({ messages: tooled(text('So.')) });
      await call({ messages: tooled(thinking('Hm.')) });
      assert.deepEqual([0, 1, 2].map(sent), [
        { type: 'disabled' },
        { type: 'disabled' },
        { type: 'enabled', budget_tokens: 2048 },
      ]);
    });
  });

  it('asks for a shorter answer where the model takes no longer one, and remembers it', async () => {
    const most = 8192;
    await serve(({ body }) =>
      body.max_tokens > most
        ? apiError(
            400,
            'invalid_request_error',
            `max_tokens: ${body.max_tokens} > ${most}, which is the maximum`,
          )
        : [text('ok')],
    );
    const once = model();
    for (let n = 0; n < 2; n++) await once.call(request(), () => {}, new AbortController().signal);
    assert.deepEqual(
      side.server.requests.map((r) => r.body?.max_tokens),
      [DEFAULT_ANSWER_TOKENS, most, most],
    );
  });

  it('tells of every sign of life, pings and thoughts too', async () => {
    await serve({ content: [thinking('Long thoughts.')], chunkBytes: [200] });
    const { events } = await ask();
    assert.ok(events.filter((e) => e.type === 'alive').length > 3);
    assert.equal(events[0]?.type, 'alive');
  });

  it('sends an auth token as a bearer token only', async () => {
    await serve([text('ok')], { keyHeader: 'authorization' });
    await model({ apiKey: undefined, authToken: KEY }).call(
      request(),
      () => {},
      new AbortController().signal,
    );
    assert.equal(side.server.requests[0]?.headers['x-api-key'], undefined);
  });

  it('sends an API key where gateways look for it', async () => {
    await serve([text('ok')], { keyHeader: 'x-api-key' });
    await ask();
  });

  it('takes nothing of its own accord from the environment', async () => {
    await serve([text('ok')]);
    const names = [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_BASE_URL',
      'ANTHROPIC_CUSTOM_HEADERS',
    ];
    const before = names.map((name) => process.env[name]);
    process.env.ANTHROPIC_API_KEY = 'env-key';
    process.env.ANTHROPIC_AUTH_TOKEN = 'env-token';
    process.env.ANTHROPIC_BASE_URL = 'http://127.0.0.1:9';
    process.env.ANTHROPIC_CUSTOM_HEADERS = 'X-Gateway-Key: env-secret\nAuthorization: Bearer env-secret';
    try {
      await ask();
    } finally {
      names.forEach((name, i) => {
        const value = before[i];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
    }
    const { headers } = side.server.requests[0] ?? assert.fail();
    assert.doesNotMatch(JSON.stringify(headers), /env-/);
    assert.equal(headers.authorization, `Bearer ${KEY}`);
  });

  for (const chunkBytes of [[3], [2, 5], [7], [64, 1]])
    it(`reads the same from writes of ${chunkBytes.join(', ')} bytes`, async () => {
      const said = 'Zażółć, 漢字, 🙂🙃.';
      await serve({ content: [text(said), toolUse('bash', { command: 'echo "🙂"' }, 't1')], chunkBytes });
      const { reply } = await ask();
      assert.deepEqual(reply.content, [
        { type: 'text', text: said },
        { type: 'tool_use', id: 't1', name: 'bash', input: { command: 'echo "🙂"' } },
      ]);
    }).timeout(20_000);

  it('skips events and pings that it does not know', async () => {
    await serve({ content: [text('one'), text('two')], unknownEvents: true });
    const { reply } = await ask();
    assert.deepEqual(
      reply.content.map((b) => b.type),
      ['text', 'text'],
    );
  });

  it('case 28: returns thinking unchanged, and sends it back in order', async () => {
    const answer = [
      thinking('Which file holds the routes? The name suggests the router.'),
      toolUse('bash', { command: 'ls' }, 't1'),
      thinking('And the tests?'),
      redactedThinking('abc=='),
      toolUse('bash', {}, 't2'),
    ];
    let calls = 0;
    await serve(() => (calls++ === 0 ? answer : [text('ok')]));
    const { reply } = await ask();
    assert.deepEqual(
      reply.content.map((b) => b.type),
      ['opaque', 'tool_use', 'opaque', 'opaque', 'tool_use'],
    );
    const results = ['t1', 't2'].map((id) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: 'cut off',
      is_error: true,
    }));
    await ask({
      messages: [
        ...request().messages,
        { role: 'assistant', content: reply.content },
        { role: 'user', content: results },
      ],
    });
    assert.deepEqual(side.server.requests[1]?.body?.messages[1]?.content, [
      answer[0],
      { type: 'tool_use', id: 't1', name: 'bash', input: { command: 'ls' } },
      answer[2],
      answer[3],
      { type: 'tool_use', id: 't2', name: 'bash', input: {} },
    ]);
    assert.deepEqual(side.server.problems, []);
  });

  describe('case 27: tool input cut off by max_tokens', () => {
    for (const raw of ['{"path":"a', '', '{'])
      it(`marks ${JSON.stringify(raw)} as not to be run, and stays replayable`, async () => {
        let calls = 0;
        await serve(() =>
          calls++ === 0 ? cutByMaxTokens([text('I write.'), rawToolUse('bash', raw)]) : [text('ok')],
        );
        const { reply } = await ask();
        const call = reply.content[1];
        assert.equal(reply.stopReason, 'max_tokens');
        assert.ok(call?.type === 'tool_use');
        assert.deepEqual(call.input, {});
        assert.match(call.inputError ?? '', /cut off/);
        await ask({
          messages: [
            ...request().messages,
            { role: 'assistant', content: reply.content },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: call.id, content: 'x', is_error: true }],
            },
          ],
        });
        assert.deepEqual(side.server.problems, []);
      });

    it('runs a call whose input is truly empty', async () => {
      await serve([rawToolUse('bash', '')]);
      const { reply } = await ask();
      const call = reply.content[0];
      assert.ok(call?.type === 'tool_use');
      assert.deepEqual(call.input, {});
      assert.equal(call.inputError, undefined);
    });

    it('runs a call that was whole before the limit came', async () => {
      await serve(cutByMaxTokens([toolUse('bash', { command: 'ls' }), text('and th')]));
      const call = (await ask()).reply.content[0];
      assert.ok(call?.type === 'tool_use' && call.inputError === undefined);
    });

    it('refuses input that is JSON but no object', async () => {
      await serve([rawToolUse('bash', '[1]')]);
      const call = (await ask()).reply.content[0];
      assert.ok(call?.type === 'tool_use');
      assert.match(call.inputError ?? '', /not a JSON object \(it is a list\)/);
    });
  });

  for (const at of ['before_headers', 'before_events', 'mid_tool_input'] as const)
    it(`throws the reason of an abort that comes ${at.replaceAll('_', ' ')}`, async () => {
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await serve(stall([text('hello'), toolUse('bash', { command: 'echo '.repeat(40) })], at, held));
      const controller = new AbortController();
      const reason = new Error('stopped by the human');
      const running = model().call(
        request(),
        (event) => {
          if (event.type === 'tool_input') controller.abort(reason);
        },
        controller.signal,
      );
      if (at !== 'mid_tool_input') {
        await side.server.waitForRequest((r) => r.member === 'alice');
        controller.abort(reason);
      }
      await assert.rejects(running, reason);
      release();
    });

  it('lets the error of a listener through as it is', async () => {
    await serve([text('hello')]);
    const fault = new Error('listener');
    await assert.rejects(
      model().call(
        request(),
        () => {
          throw fault;
        },
        new AbortController().signal,
      ),
      fault,
    );
  });
});
