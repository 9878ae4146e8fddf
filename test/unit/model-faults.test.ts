import assert from 'node:assert/strict';
import { createAnthropicModel } from '../../src/model/anthropic';
import { ModelError, type ModelReply, type ModelRequest } from '../../src/model/port';
import {
  type ModelServer,
  type Reply,
  type ReplyBlock,
  redactedThinking,
  startModelServer,
  text,
  thinking,
  toolUse,
} from '../model-server';
import { deferred } from './support/turns';

const request: ModelRequest = {
  member: 'alice',
  system: 'You are alice.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [{ name: 'bash', description: 'Runs a command', inputSchema: { type: 'object', properties: {} } }],
};

/** Every kind of block, characters of two to four bytes, and inputs in several pieces. */
const ANSWER: ReplyBlock[] = [
  thinking('Which file is it — the röuter, or 漢字? 🙂'),
  redactedThinking('abc=='),
  text('I look at „both“ of them: 🙂🙃.'),
  toolUse('bash', { command: 'cat src/router.js | head -20' }, 't1'),
  toolUse('bash', { command: 'echo "übermäßig" && rm -rf build' }, 't2'),
];

const errorEvent =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n';

/** One way to damage the list of events at a place. */
type Fault = (events: string[], at: number) => string[];

const FAULTS: Record<string, { damage: Fault /** Nothing of the answer is lost by it. */; harmless?: true }> =
  {
    'an error event before it': { damage: (list, at) => [...list.slice(0, at), errorEvent] },
    'wrong JSON in its place': {
      damage: (list, at) => list.with(at, (list[at] ?? '').replace(/data: .*/, 'data: {"type":"conte')),
    },
    'itself missing': { damage: (list, at) => list.toSpliced(at, 1) },
    'itself twice': { damage: (list, at) => list.toSpliced(at, 0, list[at] ?? '') },
    'the end in its place': { damage: (list, at) => list.slice(0, at) },
    'the end in the middle of it': {
      damage: (list, at) => [...list.slice(0, at), (list[at] ?? '').slice(0, 40)],
    },
    'an unknown event before it': {
      damage: (list, at) => list.toSpliced(at, 0, 'event: news\ndata: {"type":"news","x":[1]}\n\n'),
      harmless: true,
    },
    'an event without data before it': {
      damage: (list, at) => list.toSpliced(at, 0, 'event: message_delta\n\n'),
      harmless: true,
    },
    'a comment and a ping before it': {
      damage: (list, at) => list.toSpliced(at, 0, ': keep-alive\n\nevent: ping\ndata: {"type":"ping"}\n\n'),
      harmless: true,
    },
    'a block of an unknown type before it': {
      damage: (list, at) =>
        list.toSpliced(
          at,
          0,
          'event: content_block_start\ndata: {"type":"content_block_start","index":99,"content_block":{"type":"to_come"}}\n\n',
          'event: content_block_delta\ndata: {"type":"content_block_delta","index":99,"delta":{"type":"to_come_delta","x":"y"}}\n\n',
          'event: content_block_stop\ndata: {"type":"content_block_stop","index":99}\n\n',
        ),
      harmless: true,
    },
  };

/** What passes, so that the limiter makes the call again. */
const PASSING = ['interrupted_stream', 'overloaded', 'unreachable'];

describe('anthropic model: a fault at every place', function () {
  this.timeout(60_000);
  let server: ModelServer;
  let reply: Reply = ANSWER;

  before(async () => {
    server = await startModelServer({ brain: () => reply });
  });
  after(() => server.close());

  const ask = (answer: Reply): Promise<ModelReply> => {
    reply = answer;
    const model = createAnthropicModel({ apiKey: 'k', baseUrl: server.url, model: 'm-1' });
    return model.call(request, () => {}, new AbortController().signal);
  };
  const outcome = async (answer: Reply): Promise<ModelReply | ModelError> => {
    try {
      return await ask(answer);
    } catch (error) {
      assert.ok(error instanceof ModelError, String(error));
      return error;
    }
  };
  const isOpaque = (block: ReplyBlock): boolean => /thinking/.test(block.type);
  const wanted = ANSWER.map((block) => (isOpaque(block) ? { type: 'opaque', raw: block } : block));

  /** A call runs with the very input that the model gave, or not at all. */
  const checkCalls = (got: ModelReply): void => {
    for (const block of got.content) {
      if (block.type !== 'tool_use' || block.inputError !== undefined) continue;
      const meant = ANSWER.find((b) => b.type === 'tool_use' && b.id === block.id);
      assert.ok(meant?.type === 'tool_use', `no call ${block.id} was made`);
      assert.deepEqual(block.input, meant.input);
    }
  };

  it('the answer itself, in one piece and with CRLF', async () => {
    assert.deepEqual((await ask(ANSWER)).content, wanted);
    const crlf = (list: string[]) => list.map((event) => event.replaceAll('\n', '\r\n'));
    assert.deepEqual((await ask({ content: ANSWER, mutate: crlf })).content, wanted);
  });

  for (const chunkBytes of [[1], [3, 5], [7], [1000, 1]])
    for (const ending of ['\n', '\r\n'])
      it(`the answer in writes of ${chunkBytes.join(' and ')} bytes, lines ended by ${JSON.stringify(ending)}`, async () => {
        const mutate = (list: string[]) => list.map((event) => event.replaceAll('\n', ending));
        assert.deepEqual((await ask({ content: ANSWER, mutate, chunkBytes })).content, wanted);
      });

  for (const [name, { damage, harmless }] of Object.entries(FAULTS))
    it(`${name}, at every event`, async () => {
      let count = 1;
      let failed = 0;
      for (let at = 0; at < count; at++) {
        let isPiece = false;
        const mutate = (list: string[]): string[] => {
          count = list.length;
          isPiece = list[at]?.includes('content_block_delta') ?? false;
          return damage(list, at);
        };
        const got = await outcome({ content: ANSWER, mutate });
        if (got instanceof ModelError) {
          failed++;
          assert.ok(!harmless, `event ${at}: ${got.message}`);
          assert.ok(PASSING.includes(got.kind) || at === 0, `event ${at}: ${got.kind}, ${got.message}`);
          continue;
        }
        // Pieces have no numbers: nobody can know of one that is lost or comes twice where JSON stays JSON.
        if (!isPiece || !name.startsWith('itself')) checkCalls(got);
        if (harmless) assert.deepEqual(got.content, wanted, `event ${at}`);
      }
      assert.ok(count > 20);
      if (!harmless) assert.ok(failed > 0);
    });

  it('a cut connection, at every event and inside it', async () => {
    let count = 1;
    for (let at = 0; at < count; at++) {
      const mutate = (list: string[]): string[] => {
        count = list.length;
        return list;
      };
      const got = await outcome({ content: ANSWER, mutate, cutAt: { afterEvents: at } });
      assert.ok(got instanceof ModelError, `event ${at}`);
      assert.ok(PASSING.includes(got.kind) || (at === 0 && got.kind === 'wrong_protocol'), got.kind);
    }
  });

  it('anything after the last event changes nothing', async () => {
    const more = (list: string[]) => [
      ...list,
      ...list,
      errorEvent.replace('event: error', 'event: news'),
      'data: {"x',
    ];
    assert.deepEqual((await ask({ content: ANSWER, mutate: more })).content, wanted);
  });

  const heads: [string, string, RegExp][] = [
    ['nothing', '', /closed|hang up/],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', /could not be reached/],
    ['half a status line', 'HTTP/1.1 20', /could not be reached/],
    ['half of the headers', 'HTTP/1.1 200 OK\r\ncontent-type: text/ev', /could not be reached/],
    ['a wrong length', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n', /could not be reached/],
    [
      'headers and no body',
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
      /broke off/,
    ],
    [
      'a chunk that is none',
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      /broke off/,
    ],
  ];
  for (const [name, raw, says] of heads)
    it(`${name} in the place of the answer's head`, async () => {
      const got = await outcome({ raw });
      assert.ok(got instanceof ModelError, 'It did not fail.');
      assert.ok(PASSING.includes(got.kind), `${got.kind}: ${got.message}`);
      assert.equal(got.retry, true);
      assert.match(got.message, says);
    });

  it('calls without an id, and with one id for two, get ids of their own', async () => {
    const calls = [
      toolUse('bash', { n: 1 }, 'x'),
      toolUse('bash', { n: 2 }, 'x'),
      toolUse('bash', { n: 3 }, 'a b'),
    ];
    const noId = (list: string[]) => list.map((event) => event.replace('"id":"a b"', '"id":""'));
    const got = await ask({ content: calls, mutate: noId });
    const ids = got.content.map((block) => (block.type === 'tool_use' ? block.id : ''));
    assert.equal(new Set(ids).size, 3);
    assert.ok(
      ids.every((id) => /^[\w-]+$/.test(id)),
      ids.join(),
    );
  });

  it('a call that was announced and did not come is a broken answer', async () => {
    const got = await outcome({ content: [text('I run it.')], stopReason: 'tool_use' });
    assert.ok(got instanceof ModelError && got.kind === 'interrupted_stream');
  });

  it('a block of an unknown type that came whole is given back as it came', async () => {
    const block: ReplyBlock = { type: 'block_to_come', data: [1, { x: 'y' }] };
    const got = await ask([block, text('So.')]);
    assert.deepEqual(got.content[0], { type: 'opaque', raw: block });
  });

  it('an abort at every event throws its reason', async () => {
    for (let at = 0; at < 20; at += 3) {
      const held = deferred();
      reply = { content: ANSWER, stall: { at: { afterEvents: at }, until: held.promise } };
      const controller = new AbortController();
      const model = createAnthropicModel({ apiKey: 'k', baseUrl: server.url, model: 'm-1' });
      const arrived = deferred();
      const running = model.call(request, () => arrived.resolve(), controller.signal);
      await arrived.promise;
      controller.abort(new Error(`stop at ${at}`));
      await assert.rejects(running, new RegExp(`stop at ${at}`));
      held.resolve();
    }
  });
});
