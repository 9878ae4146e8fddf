/**
 * The language model behind any endpoint that speaks the Anthropic Messages API, through the official SDK.
 * Only this folder imports the SDK, so that it can be bundled apart and loaded at the first call.
 */

import Anthropic from '@anthropic-ai/sdk';
import { DEFAULT_BASE_URL, displayUrl, type Env } from '../endpoint';
import type { LanguageModel, ModelReply, ModelRequest, ModelStreamEvent } from '../port';
import type { ThinkingChoice } from '../thinkingChoice';
import { AnswerLimits } from './answerLimits';
import { Collector } from './collect';
import { describeFailure, type FailureContext, NotTheMessagesApi, StreamEnded, shorten } from './failure';
import { thinkingTokens } from './thinking';
import { nodeFetch } from './transport';
import { type BodyOptions, toBody } from './wire';

export { describeFailure, type FailureContext } from './failure';

export interface AnthropicModelOptions {
  /** Exactly one of `apiKey` and `authToken`. */
  apiKey?: string;
  authToken?: string;
  /** Default: Anthropic's own. The key is sent here and nowhere else. */
  baseUrl?: string;
  model: string;
  /** The longest answer beside its thinking, in tokens; default {@link DEFAULT_ANSWER_TOKENS}. */
  maxTokens?: number;
  /** Default `auto`. */
  thinking?: ThinkingChoice;
  /** Read for the names of proxies only, never for keys. */
  env?: Env;
  /** VS Code's setting `http.proxy`, for hints. */
  httpProxy?: string;
  /** Where the key came from, for messages. */
  keyName?: string;
  /** Default: {@link nodeFetch}. */
  fetch?: typeof fetch;
}

/** Models of today take more; one that takes less says so, and is then asked for that. */
export const DEFAULT_ANSWER_TOKENS = 16_384;

/** As much of an answer as tells what it is, in bytes. */
const HEAD = 2000;
const ALIVE: ModelStreamEvent = { type: 'alive' };

/** @throws {TypeError} when not exactly one credential is given */
export function createAnthropicModel(options: AnthropicModelOptions): LanguageModel {
  const { apiKey, authToken, model, env = {}, httpProxy, keyName, thinking = 'auto' } = options;
  const baseUrl = options.baseUrl ?? DEFAULT_BASE_URL;
  if (!apiKey === !authToken) throw new TypeError('Give either apiKey or authToken');
  const client = createClient(options, baseUrl);
  const failure = { baseUrl, env, httpProxy, keyName, secrets: [apiKey, authToken] };
  const limits = new AnswerLimits((options.maxTokens ?? DEFAULT_ANSWER_TOKENS) + thinkingTokens(thinking));

  return {
    label: model,
    isDemo: false,
    endpoint: displayUrl(baseUrl),
    async call(request, onEvent, signal) {
      signal.throwIfAborted();
      // A fault of ours, which must not pass for one of the endpoint, however deep the SDK wraps it.
      let fault: { error: unknown } | undefined;
      const tell = (event: ModelStreamEvent): void => {
        try {
          onEvent(event);
        } catch (error) {
          fault ??= { error };
          throw error;
        }
      };
      const context: FailureContext = { ...failure, model: request.model ?? model, phase: 'request' };
      try {
        return await limits.within(context.model, (maxTokens) =>
          run(client, request, { model, maxTokens, thinking }, context, tell, signal),
        );
      } catch (error) {
        signal.throwIfAborted();
        if (fault) throw fault.error;
        throw describeFailure(error, context);
      }
    },
  };
}

async function run(
  client: Anthropic,
  request: ModelRequest,
  options: BodyOptions,
  context: FailureContext,
  onEvent: (event: ModelStreamEvent) => void,
  signal: AbortSignal,
): Promise<ModelReply> {
  const collector = new Collector(onEvent, context.model);
  /** How the answer begins, to know another API by it. */
  let head = '';
  const fetchOptions = {
    redirect: 'manual' as const,
    onBytes: (piece: Uint8Array) => {
      onEvent(ALIVE);
      if (head.length < HEAD && !collector.begun) head += Buffer.from(piece).toString('latin1');
    },
  };
  const headers = { 'x-handshake-member': request.member };
  const { data: stream, response } = await client.messages
    .create(toBody(request, options), { signal, headers, fetchOptions })
    .withResponse();
  const contentType = response.headers.get('content-type') ?? 'no content type';
  if (!contentType.includes('text/event-stream')) {
    const text = await response.text();
    throw new NotTheMessagesApi(`200 with ${contentType}, ${shorten(text.slice(0, 400)) || 'empty'}`, text);
  }
  context.phase = 'stream';
  for await (const event of stream) collector.take(event);
  // The SDK ends its iteration quietly when the signal aborts it.
  signal.throwIfAborted();
  if (!collector.begun) throw new NotTheMessagesApi('an event stream without one of its events', head);
  const { fault } = collector;
  if (fault !== undefined) throw new StreamEnded(fault);
  return collector.reply();
}

/** Everything the SDK would read from the environment on its own is given, so that sources are never mixed. */
function createClient(options: AnthropicModelOptions, baseUrl: string): Anthropic {
  const { apiKey, authToken } = options;
  const headers: Record<string, string | undefined> = {};
  // ANTHROPIC_CUSTOM_HEADERS belongs to the environment's endpoint and may hold keys of its own: an undefined
  // value takes the variable's header out again and leaves the SDK's own of that name.
  for (const line of (process.env.ANTHROPIC_CUSTOM_HEADERS ?? '').split('\n')) {
    const name = line.split(':', 1)[0]?.trim();
    if (name && line.includes(':')) headers[name] = undefined;
  }
  // The SDK sends an API key as a bearer token; other endpoints than Anthropic's often read only this header.
  if (apiKey && displayUrl(baseUrl) !== DEFAULT_BASE_URL) headers['x-api-key'] = apiKey;
  return new Anthropic({
    apiKey: apiKey ?? null,
    authToken: authToken ?? null,
    webhookKey: null,
    baseURL: baseUrl,
    // The team's limiter decides when a call is made again, for all members together.
    maxRetries: 0,
    defaultHeaders: headers,
    logLevel: 'off',
    openTelemetry: false,
    // A redirect would carry the key to an address that nobody chose.
    fetchOptions: { redirect: 'manual' },
    fetch: options.fetch ?? nodeFetch,
  });
}
