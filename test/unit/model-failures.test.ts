import assert from 'node:assert/strict';
import { ModelError, type ModelErrorKind } from '../../src/model/port';
import {
  type Answer,
  apiError,
  cut,
  errorEvent,
  http,
  type ModelServerOptions,
  type Reply,
  text,
  toolUse,
} from '../model-server';
import { KEY, request, servedModel } from './support/servedModel';

describe('anthropic model: failures', () => {
  const side = servedModel();
  const { serve, model, ask } = side;

  const fails = async (
    reply: Reply,
    kind: ModelErrorKind,
    message: RegExp,
    options: Partial<ModelServerOptions> = {},
  ): Promise<ModelError> => {
    await serve(reply, options);
    return failure(() => ask(), kind, message);
  };
  const failure = async (
    run: () => Promise<unknown>,
    kind: ModelErrorKind,
    message: RegExp,
  ): Promise<ModelError> => {
    const error = await run().then(
      () => assert.fail('The call did not fail'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ModelError, String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, message);
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, new RegExp(KEY));
    return error;
  };

  describe('case 26: an answer that does not come to its end is a failure, and no part of it counts', () => {
    const half = [text('I run it.'), toolUse('bash', { command: 'rm -rf some/folder/that/is/long' })];
    const cases: [string, Answer, ModelErrorKind, RegExp][] = [
      [
        'an overload in the middle of tool input',
        errorEvent(half, 'mid_tool_input', 'overloaded_error', 'Overloaded'),
        'overloaded',
        /Overloaded/,
      ],
      [
        'an api_error',
        errorEvent(half, { afterEvents: 3 }, 'api_error', 'Internal'),
        'interrupted_stream',
        /Internal/,
      ],
      [
        'a rate limit',
        errorEvent(half, { afterEvents: 3 }, 'rate_limit_error', 'Slow down'),
        'rate_limit',
        /Slow down/,
      ],
      ['a cut in an event', cut(half, 'mid_event'), 'interrupted_stream', /broke off/],
      ['a cut in tool input', cut(half, 'mid_tool_input'), 'interrupted_stream', /broke off/],
      [
        'a clean end without message_stop',
        cut(half, 'before_message_stop', true),
        'interrupted_stream',
        /before the message did/,
      ],
      ['a clean end in an event', cut(half, 'mid_event', true), 'interrupted_stream', /broke off/],
    ];
    for (const [name, reply, kind, message] of cases)
      it(name, async () => {
        await fails(reply, kind, message);
      });
  });

  describe('says in plain words what failed', () => {
    it('a key that is refused', async () => {
      const error = await fails([text('never')], 'bad_key', /refused the key.*Run "Handshake: Set API Key"/, {
        key: 'other',
      });
      assert.ok(error.message.includes(side.server.url));
    });
    it('a model that is not known', async () => {
      await fails([text('never')], 'unknown_model', /does not know the model "m-1".*handshake\.model/, {
        models: ['m-9'],
      });
    });
    it('a path where no Messages API is', async () => {
      await serve([text('never')]);
      const lost = model({ baseUrl: `${side.server.url}/elsewhere` });
      await failure(
        () => lost.call(request(), () => {}, new AbortController().signal),
        'wrong_protocol',
        /404.*\/elsewhere\/v1\/messages/,
      );
    });

    const answers: [string, Reply, ModelErrorKind, RegExp][] = [
      [
        'a web page with 200',
        http(200, '<html><body>Welcome to the portal</body></html>'),
        'wrong_protocol',
        /not as the Anthropic Messages API does: 200 with text\/html.*Welcome/,
      ],
      ['a web page with 404', http(404, '<html>nope</html>'), 'wrong_protocol', /404 a web page/],
      [
        'another API with 200',
        http(200, '{"id":"chatcmpl-1","choices":[]}', 'application/json'),
        'wrong_protocol',
        /chatcmpl.*OpenAI API \(chat completions\).*Anthropic Messages API/,
      ],
      [
        'another API, streamed',
        http(200, 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n', 'text/event-stream'),
        'wrong_protocol',
        /event stream without.*OpenAI API \(chat completions\)/,
      ],
      [
        'an event stream of nobody knows what',
        http(200, 'event: tick\ndata: {"n":1}\n\n', 'text/event-stream'),
        'wrong_protocol',
        /event stream without one of its events\. Check/,
      ],
      [
        'another API that refuses a key parameter',
        http(
          400,
          '{"error":{"message":"Unknown parameter: system","param":"system","code":null}}',
          'application/json',
        ),
        'wrong_protocol',
        /Unknown parameter.*OpenAI API/,
      ],
      [
        'a prompt that is too long',
        apiError(400, 'invalid_request_error', 'prompt is too long: 213462 tokens > 200000 maximum'),
        'too_long',
        /too long for model "m-1".*213462 tokens/,
      ],
      [
        'a model that cannot see',
        http(400, '{"error":{"message":"tiny does not support image input"}}', 'application/json'),
        'no_images',
        /"m-1".*cannot be shown pictures/,
      ],
      [
        'a model without tool use',
        http(400, '{"error":{"message":"registry/tiny does not support tools"}}', 'application/json'),
        'no_tools',
        /"m-1".*cannot use tools.*Select Model/,
      ],
      [
        'a model without tool use, as a 404',
        http(
          404,
          '{"error":{"message":"No endpoints found that support tool use.","code":404}}',
          'application/json',
        ),
        'no_tools',
        /cannot use tools/,
      ],
      [
        'a token that has expired',
        apiError(401, 'authentication_error', 'OAuth token has expired. Please obtain a new token.'),
        'expired_key',
        /has expired.*Set API Key/,
      ],
      [
        'content that is refused',
        apiError(400, 'invalid_request_error', 'Output blocked by content filtering policy'),
        'refused',
        /refused the content.*Say it in another way/,
      ],
      [
        'no credit, as a 403',
        http(403, '{"error":{"message":"insufficient_quota"}}', 'application/json'),
        'quota',
        /Add credit/,
      ],
      [
        'a model that the key may not use',
        apiError(403, 'permission_error', 'The model m-1 is not available for your plan'),
        'unknown_model',
        /Select Model/,
      ],
      ['a time-out of the endpoint', apiError(408, 'timeout_error', 'Timed out'), 'timeout', /408/],
      [
        'another API with 404',
        http(
          404,
          '{"error":{"message":"Invalid URL (POST /v1/messages)","type":"invalid_request_error"}}',
          'application/json',
        ),
        'wrong_protocol',
        /Invalid URL/,
      ],
      [
        'another API with 400',
        http(400, '{"detail":"unsupported"}', 'application/json'),
        'wrong_protocol',
        /400.*unsupported/,
      ],
      ['nothing with 200', http(200, '', 'text/plain'), 'wrong_protocol', /text\/plain/],
      [
        'a redirect',
        { status: 307, body: '', headers: { location: 'http://127.0.0.1:9/v1/messages' } },
        'wrong_protocol',
        /redirect to http:\/\/127\.0\.0\.1:9/,
      ],
      [
        'a model that another kind of endpoint does not know',
        http(400, '{"error":{"message":"The model `m-1` does not exist"}}', 'application/json'),
        'unknown_model',
        /does not know the model "m-1"/,
      ],
      [
        'a refused request',
        apiError(400, 'invalid_request_error', 'messages: roles must alternate'),
        'bad_request',
        /roles must alternate/,
      ],
      [
        'a request too large',
        apiError(413, 'request_too_large', 'Request exceeds the maximum size'),
        'too_long',
        /too long for model "m-1".*maximum size/,
      ],
      [
        'a forbidden call',
        apiError(403, 'permission_error', 'Not allowed in your region'),
        'bad_key',
        /403 Not allowed/,
      ],
      [
        'no credit, as a 400',
        apiError(400, 'invalid_request_error', 'Your credit balance is too low to access the API'),
        'quota',
        /credit balance/,
      ],
      [
        'no credit, as a 402',
        apiError(402, 'billing_error', 'Payment required'),
        'quota',
        /Payment required/,
      ],
      [
        'a rate limit',
        apiError(429, 'rate_limit_error', 'Too many requests', { 'retry-after': '5' }),
        'rate_limit',
        /asks to wait 5 s/,
      ],
      ['an overload', apiError(529, 'overloaded_error', 'Overloaded'), 'overloaded', /529 Overloaded/],
      [
        'a failure inside',
        apiError(500, 'api_error', 'Internal server error'),
        'other',
        /failed on its side: 500/,
      ],
      ['a gateway that fails', http(502, '<html>Bad gateway</html>'), 'other', /502 a web page/],
      [
        'a key that is echoed',
        http(400, `{"detail":"bad key ${KEY}"}`, 'application/json'),
        'wrong_protocol',
        /bad key \[key\]/,
      ],
      ['no answer at all', cut([text('x')], 'before_headers'), 'unreachable', /was closed/],
    ];
    for (const [name, reply, kind, message] of answers)
      it(name, async () => {
        await fails(reply, kind, message);
      });

    it('an endpoint where nothing listens, and the proxy that could be why', async () => {
      await serve([text('never')]);
      const { port } = side.server;
      await side.server.close();
      const proxied = model({
        baseUrl: `http://127.0.0.1:${port}`,
        env: { HTTP_PROXY: 'http://me:secret@proxy.corp:3128' },
      });
      const error = await failure(
        () => proxied.call(request(), () => {}, new AbortController().signal),
        'unreachable',
        /HTTP_PROXY \(proxy\.corp:3128\)/,
      );
      assert.match(
        error.message,
        new RegExp(`nothing is listening at 127\\.0\\.0\\.1:${port} \\(ECONNREFUSED\\)`),
      );
      assert.doesNotMatch(error.message, /secret/);
      await serve([text('ok')]);
    });

    it('a host that does not exist', async () => {
      await serve([text('never')]);
      await failure(
        () =>
          model({ baseUrl: 'http://no-such-host.invalid' }).call(
            request(),
            () => {},
            new AbortController().signal,
          ),
        'unreachable',
        /host name of no-such-host\.invalid:80 was not found/,
      );
    });
  });

  it('makes a call once: what passes is marked as such, with how long to wait', async () => {
    const headers = { 'retry-after': '7', 'x-should-retry': 'true' };
    const error = await fails(apiError(529, 'overloaded_error', 'Overloaded', headers), 'overloaded', /529/);
    assert.equal(side.server.requests.length, 1);
    assert.equal(error.retry, true);
    assert.equal(error.retryAfterMs, 7000);
  });

  it('marks a refused key as one that no other try will help', async () => {
    const headers = { 'x-should-retry': 'true' };
    const error = await fails(apiError(401, 'authentication_error', 'No.', headers), 'bad_key', /401/);
    assert.equal(error.retry, false);
  });
});
