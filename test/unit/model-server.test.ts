import assert from 'node:assert/strict';
import * as z from 'zod';
import {
  apiError,
  type Brain,
  cut,
  type ModelServer,
  type ModelServerOptions,
  script,
  startModelServer,
  text,
  thinking,
  toolUse,
} from '../model-server';

const tools = [{ name: 'bash', description: 'Runs', input_schema: { type: 'object' } }];
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const call = (id: string) => ({ type: 'tool_use', id, name: 'bash', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });

const errorShape = z.object({
  type: z.literal('error'),
  error: z.object({ type: z.string(), message: z.string() }),
});
const errorOf = async (response: Response) => errorShape.parse(await response.json()).error;
const messageShape = z.object({
  stop_reason: z.string(),
  content: z.array(z.looseObject({ id: z.string().optional() })),
});

describe('model server', () => {
  let server: ModelServer;
  const start = async (brain: Brain, options: Partial<ModelServerOptions> = {}) => {
    server = await startModelServer({ brain, ...options });
  };
  afterEach(() => server.close());

  const post = (body: object, headers: Record<string, string> = {}, path = '/v1/messages') =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
      body: JSON.stringify(body),
    });
  const ask = (messages: unknown, more: object = {}) =>
    post({ model: 'm', max_tokens: 10, tools, messages, ...more });

  it('streams text and tool input in several pieces, in the order of the API', async () => {
    await start(() => [
      text('I will look at the whole folder first.'),
      toolUse('bash', { command: 'ls -la' }),
    ]);
    const response = await ask([user('hi')], { stream: true });
    assert.match(response.headers.get('content-type') ?? '', /text\/event-stream/);
    const names = [...(await response.text()).matchAll(/^event: (\w+)$/gm)].map((m) => m[1]);
    assert.deepEqual(names.slice(0, 3), ['message_start', 'content_block_start', 'ping']);
    assert.deepEqual(names.slice(-3), ['content_block_stop', 'message_delta', 'message_stop']);
    assert.ok(names.filter((n) => n === 'content_block_delta').length >= 4);
  });

  it('answers without a stream when none is asked for', async () => {
    await start(() => [text('Hello'), toolUse('bash', { command: 'ls' })]);
    const message = messageShape.parse(await (await ask([user('hi')])).json());
    assert.equal(message.stop_reason, 'tool_use');
    assert.match(message.content[1]?.id ?? '', /^toolu_/);
  });

  it('lets in the right key only, from either header', async () => {
    await start(() => [text('ok')], { key: 'k1' });
    assert.equal((await ask([user('hi')])).status, 401);
    const body = { model: 'm', max_tokens: 1, messages: [user('hi')] };
    assert.equal((await post(body, { 'x-api-key': 'k2' })).status, 401);
    assert.equal((await post(body, { 'x-api-key': 'k1' })).status, 200);
    assert.equal((await post(body, { authorization: 'Bearer k1' })).status, 200);
  });

  it('knows its models and counts tokens', async () => {
    await start(() => [text('ok')], { models: ['m'] });
    const unknown = await ask([user('hi')], { model: 'x' });
    assert.equal(unknown.status, 404);
    assert.deepEqual(await errorOf(unknown), { type: 'not_found_error', message: 'model: x' });
    const list = await fetch(`${server.url}/v1/models`, { headers: { 'anthropic-version': '2023-06-01' } });
    assert.deepEqual(
      z
        .object({ data: z.array(z.looseObject({ id: z.string() })) })
        .parse(await list.json())
        .data.map((m) => m.id),
      ['m'],
    );
    const count = await post({ model: 'm', messages: [user('hi')] }, {}, '/v1/messages/count_tokens');
    assert.ok(z.object({ input_tokens: z.number() }).parse(await count.json()).input_tokens > 0);
    assert.equal((await post({}, {}, '/v1/nowhere')).status, 404);
  });

  const invalid: [string, unknown, object, RegExp][] = [
    ['a call without a result', [user('a'), assistant([call('t1')]), user('b')], {}, /without `tool_result`/],
    [
      'one of two calls unanswered',
      [user('a'), assistant([call('t1'), call('t2')]), user([result('t1')])],
      {},
      /t2/,
    ],
    ['a result without a call', [user([result('t9')])], {}, /unexpected `tool_use_id`/],
    [
      'a result after text',
      [user('a'), assistant([call('t1')]), user([{ type: 'text', text: 'x' }, result('t1')])],
      {},
      /must come before/,
    ],
    [
      'a result given twice',
      [user('a'), assistant([call('t1')]), user([result('t1'), result('t1')])],
      {},
      /single result/,
    ],
    [
      'one id for two calls',
      [
        user('a'),
        assistant([call('t1')]),
        user([result('t1')]),
        assistant([call('t1')]),
        user([result('t1')]),
      ],
      {},
      /unique/,
    ],
    ['an assistant that begins', [assistant('a'), user('b')], {}, /first message/],
    ['an assistant that ends', [user('a'), assistant('b')], {}, /prefill/],
    ['no messages', [], {}, /at least one message/],
    ['empty content', [user([])], {}, /non-empty content/],
    ['an empty text block', [user([{ type: 'text', text: '' }])], {}, /non-empty/],
    ['a tool named twice', [user('a')], { tools: [...tools, ...tools] }, /unique/],
    [
      'a forced tool that is not there',
      [user('a')],
      { tool_choice: { type: 'tool', name: 'x' } },
      /not found/,
    ],
    ['no max_tokens', [user('a')], { max_tokens: undefined }, /max_tokens/],
    [
      'a call with an input that is no object',
      [user('a'), assistant([{ ...call('t1'), input: 'x' }]), user([result('t1')])],
      {},
      /valid dictionary/,
    ],
    [
      'a call with a field of our own',
      [user('a'), assistant([{ ...call('t1'), inputError: 'x' }]), user([result('t1')])],
      {},
      /Extra inputs/,
    ],
    [
      'an altered thinking block',
      [user('a'), assistant([{ ...thinking('deep'), thinking: 'other' }]), user('b')],
      {},
      /Invalid `signature`/,
    ],
  ];
  for (const [name, messages, more, message] of invalid) {
    it(`refuses ${name} as the API does`, async () => {
      await start(() => [text('never')]);
      const response = await ask(messages, more);
      assert.equal(response.status, 400);
      const error = await errorOf(response);
      assert.equal(error.type, 'invalid_request_error');
      assert.match(error.message, message);
      assert.equal(server.problems.length, 1);
    });
  }

  it('takes a whole tool round, with neighbours of one role merged', async () => {
    await start(() => [text('done')]);
    const messages = [
      user('a'),
      assistant([thinking('deep')]),
      assistant([call('t1'), call('t2')]),
      user([result('t2'), result('t1')]),
      user('and now?'),
    ];
    assert.equal((await ask(messages)).status, 200);
    assert.equal(server.requests[0]?.body?.messages.length, 3);
  });

  it('plays a script, and fails loudly when it is called beyond it', async () => {
    const play = script({ alice: [[text('one')], () => apiError(529, 'overloaded_error', 'Overloaded')] });
    await start(play);
    const body = { model: 'm', max_tokens: 1, messages: [user('hi')] };
    const alice = { 'x-handshake-member': 'alice' };
    assert.equal((await post(body, alice)).status, 200);
    assert.deepEqual(play.remaining(), { alice: 1 });
    assert.equal((await post(body, alice)).status, 529);
    assert.deepEqual(play.remaining(), {});
    const beyond = await post(body, alice);
    assert.equal(beyond.status, 400);
    assert.match((await errorOf(beyond)).message, /number 3 of 'alice'/);
    assert.equal(server.problems.length, 1);
  });

  it('cuts the connection in the middle of an event', async () => {
    await start(() => cut([text('x'.repeat(200))], 'mid_event'));
    const response = await ask([user('hi')], { stream: true });
    await assert.rejects(response.text(), /terminated/);
  });

  it('tells of a request as soon as it is there', async () => {
    await start(() => [text('ok')]);
    const seen = server.waitForRequest((r) => r.member === 'bob');
    await post({ model: 'm', max_tokens: 1, messages: [user('hi')] }, { 'x-handshake-member': 'bob' });
    assert.equal((await seen).body?.max_tokens, 1);
  });
});
