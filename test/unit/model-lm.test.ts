import * as assert from 'node:assert/strict';
import { Attention } from '../../src/model/attention';
import type { LmMessage } from '../../src/model/lmConversation';
import { createLmModel, type LmChat, type LmReplyPart, type LmSendOptions } from '../../src/model/lmModel';
import { isVscodeModel, parseVscodeModel, vscodeModelId } from '../../src/model/modelId';
import { ModelError, type ModelRequest, type ModelStreamEvent } from '../../src/model/port';

const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });

const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  member: 'alice',
  system: 'You are alice.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }],
  tools: [tool('bash'), tool('shutdown_response')],
  ...change,
});

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

describe('a language model of VS Code', () => {
  let parts: (LmReplyPart | Error)[];
  let access: boolean | undefined;
  let sent: { messages: readonly LmMessage[]; options: LmSendOptions; signal: AbortSignal }[];
  let attention: Attention;
  let events: ModelStreamEvent[];

  beforeEach(() => {
    parts = [{ type: 'text', text: 'Hello.' }];
    access = true;
    sent = [];
    attention = new Attention();
    events = [];
  });

  const chat: LmChat = {
    vendor: 'test',
    id: 'family/small',
    name: 'Small',
    family: 'family',
    canSend: () => access,
    async *send(messages, options, signal) {
      sent.push({ messages, options, signal });
      for (const part of parts) {
        if (part instanceof Error) throw part;
        yield part;
      }
    },
  };
  const call = (change: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
    createLmModel(chat, attention).call(request(change), (event) => void events.push(event), signal);
  const failure = (kind: string, message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof ModelError);
    assert.equal(error.kind, kind);
    assert.match(error.message, message);
    return true;
  };

  it('hears the system prompt first, in a message of the user, and the conversation after it unchanged', async () => {
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'opaque', raw: { type: 'thinking', thinking: 'hm', signature: 's' } },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'ls' } },
          { type: 'tool_use', id: 'c2', name: 'bash', input: { command: 'no' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'a.txt' },
          { type: 'tool_result', tool_use_id: 'c2', content: 'not found', is_error: true },
          { type: 'text', text: 'And?' },
        ],
      },
    ];
    await call({ messages });
    assert.deepEqual(sent[0]?.messages, [
      { role: 'user', parts: [{ type: 'text', text: 'You are alice.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Look.' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'I look.' },
          { type: 'call', id: 'c1', name: 'bash', input: { command: 'ls' } },
          { type: 'call', id: 'c2', name: 'bash', input: { command: 'no' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'result', id: 'c1', text: 'a.txt' },
          { type: 'result', id: 'c2', text: 'Error: not found' },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  it('streams text and calls, and gives a whole turn with estimated tokens', async () => {
    parts = [
      { type: 'text', text: 'Let ' },
      { type: 'text', text: 'me see.' },
      { type: 'call', id: 'c1', name: 'bash', input: { command: 'ls' } },
    ];
    const reply = await call();
    assert.deepEqual(reply.content, [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'ls' } },
    ]);
    assert.equal(reply.stopReason, 'tool_use');
    assert.equal(reply.estimated, true);
    assert.ok(reply.usage.input > 20 && reply.usage.output > 5);
    assert.equal(reply.countedAs, 'vscode:test/family/small');
    assert.deepEqual(
      events.map(({ type }) => type),
      ['counting', 'text', 'text', 'tool_start', 'tool_input'],
    );
  });

  it('is offered one tool alone where that one is forced', async () => {
    await call({ forceTool: 'shutdown_response' });
    assert.deepEqual(
      sent[0]?.options.tools.map(({ name }) => name),
      ['shutdown_response'],
    );
    assert.equal(sent[0]?.options.mustCall, true);
    await call();
    assert.equal(sent[1]?.options.tools.length, 2);
    assert.equal(sent[1]?.options.mustCall, false);
  });

  it('gives each call an id of its own, and runs none whose input is no object', async () => {
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'bash', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '' }] },
    ];
    parts = [
      { type: 'call', id: 'c1', name: 'bash', input: {} },
      { type: 'call', id: '', name: 'bash', input: {} },
      { type: 'call', id: 'c 2', name: 'bash', input: 'ls' },
    ];
    const { content } = await call({ messages });
    const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
    assert.equal(new Set([...calls.map(({ id }) => id), 'c1']).size, 4);
    for (const { id } of calls) assert.match(id, /^[a-zA-Z0-9_-]{1,64}$/);
    assert.deepEqual(
      calls.map(({ inputError }) => inputError === undefined),
      [true, true, false],
    );
  });

  it('is not called unasked without access; the human acting on the member may open the question, once', async () => {
    for (const unknown of [undefined, false]) {
      access = unknown;
      await assert.rejects(call(), failure('no_access', /may not use Small.*Allow Access/));
    }
    assert.equal(sent.length, 0);
    attention.mark('bob');
    await assert.rejects(call(), failure('no_access', /Small/));
    attention.mark('alice');
    await call();
    assert.equal(sent.length, 1);
    await assert.rejects(call(), failure('no_access', /Small/));
  });

  it('says in plain words what failed', async () => {
    const said: [Error, string, RegExp][] = [
      [coded('NoPermissions', 'Denied'), 'no_access', /may not be used by Handshake: Denied/],
      [coded('NotFound', 'Gone'), 'unknown_model', /no longer offers.*Select Model/],
      [coded('Blocked', 'Filtered'), 'quota', /refused the call: Filtered/],
      [new Error('Rate limit exceeded'), 'rate_limit', /limits the rate/],
      [new Error('Monthly quota reached'), 'quota', /limit of your plan/],
      [new Error('Message exceeds token limit.'), 'too_long', /too long for Small/],
      [new Error('', { cause: new Error('socket hang up') }), 'other', /Small .* failed: socket hang up\./],
      [new Error('bad sk-ant-0123456789'), 'other', /bad \[key\]/],
    ];
    for (const [error, kind, message] of said) {
      parts = [{ type: 'text', text: 'Half' }, error];
      await assert.rejects(call(), failure(kind, message));
    }
  });

  it('may think aloud or say nothing: the one shows that it is alive, the other is for the loop to ask about', async () => {
    parts = [{ type: 'other' }];
    assert.deepEqual((await call()).content, []);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['counting', 'alive'],
    );
  });

  it('ends with the reason of the signal, and tells the provider', async () => {
    const abort = new AbortController();
    const reason = new Error('interrupted');
    parts = [{ type: 'text', text: 'Half' }, new Error('Canceled')];
    abort.abort(reason);
    await assert.rejects(call({}, abort.signal), (error) => error === reason);
    assert.equal(sent.length, 0);
    const later = new AbortController();
    const running = createLmModel(chat, attention).call(request(), () => later.abort(reason), later.signal);
    await assert.rejects(running, (error) => error === reason);
    assert.equal(sent[0]?.signal.aborted, true);
  });
});

describe('the names of models', () => {
  it('carry the provider, and hold whatever a vendor calls its models', () => {
    const id = vscodeModelId({ vendor: 'copilot', id: 'org/gpt-4o:latest' });
    assert.equal(id, 'vscode:copilot/org/gpt-4o:latest');
    assert.deepEqual(parseVscodeModel(id), { vendor: 'copilot', id: 'org/gpt-4o:latest' });
    for (const other of ['claude-sonnet-5-5', 'vscode:', 'vscode:copilot', 'vscode:copilot/', 'vscode:/x'])
      assert.equal(parseVscodeModel(other), undefined);
    assert.equal(isVscodeModel('vscode:copilot/gpt-4o'), true);
    assert.equal(isVscodeModel('gpt-4o'), false);
  });
});
