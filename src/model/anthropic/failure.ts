/**
 * From whatever a call threw to a sentence for the user: which endpoint and model, what it said, what to do.
 * The whole answer of a server is untrusted: quoted short, with keys taken out.
 */

import { APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { displayUrl, type Env, isObject, proxyHint } from '../endpoint';
import { ModelError, type ModelErrorKind, type ModelErrorOptions, needsKey } from '../port';
import { redact } from '../redact';
import { describeConnection } from './connection';
import { nameForeignApi } from './foreignApi';
import { retryAfterMs } from './retryAfter';

export interface FailureContext {
  baseUrl: string;
  model: string;
  env: Env;
  /** VS Code's setting `http.proxy`. */
  httpProxy?: string;
  /** Where the key came from, such as `ANTHROPIC_API_KEY`. */
  keyName?: string;
  /** Whatever must not appear in the message. */
  secrets: readonly (string | undefined)[];
  /** How far the call had come. */
  phase: 'request' | 'stream';
}

/** An answer that is not the Messages API's; thrown by the adapter itself. */
export class NotTheMessagesApi extends Error {
  override readonly name = 'NotTheMessagesApi';
  constructor(
    message: string,
    /** What was answered, as far as it was read. */
    readonly body = '',
  ) {
    super(message);
  }
}

/** A stream that ended before its answer did. */
export class StreamEnded extends Error {
  override readonly name = 'StreamEnded';
}

/** Maps every failure of a call; never holds a key, in the message or in the cause. */
export function describeFailure(error: unknown, context: FailureContext): ModelError {
  if (error instanceof ModelError) return error;
  const [kind, sentence, retry] = classify(error, context);
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // The original may hold headers and bodies that echo the key, and causes are printed in logs.
  const options: ModelErrorOptions = { cause: redact(cause, context.secrets) };
  const headers = error instanceof APIError ? error.headers : undefined;
  const advised = headers?.get('x-should-retry');
  if (advised === 'false' || (advised === 'true' && !needsKey(kind))) options.retry = advised === 'true';
  else if (retry !== undefined) options.retry = retry;
  const after = retryAfterMs(headers, Date.now());
  if (after !== undefined) options.retryAfterMs = after;
  const window = kind === 'too_long' && error instanceof Error ? windowIn(error.message) : undefined;
  if (window !== undefined) options.contextWindow = window;
  return new ModelError(kind, redact(sentence, context.secrets), options);
}

/** The third says whether to try again, where the kind alone does not. */
type Verdict = [ModelErrorKind, string, boolean?];

function classify(error: unknown, context: FailureContext): Verdict {
  const endpoint = displayUrl(context.baseUrl);
  if (error instanceof NotTheMessagesApi)
    return wrongProtocol(endpoint, error.message, nameForeignApi(error.body));
  if (error instanceof StreamEnded) return interrupted(endpoint, error.message);
  if (error instanceof APIError && error.status !== undefined) return byStatus(error, error.status, context);
  if (error instanceof APIError && error.type) return byStreamedType(error, context);
  if (error instanceof APIConnectionTimeoutError)
    return ['timeout', `${endpoint} did not answer in time. Try again. ${hint(context)}`.trim()];
  if (context.phase === 'stream') {
    if (error instanceof SyntaxError) return interrupted(endpoint, 'it sent an event that is not JSON');
    return interrupted(endpoint, describeConnection(error, context.baseUrl).what);
  }
  const { what, advice, lasts } = describeConnection(error, context.baseUrl);
  return [
    'unreachable',
    [`${endpoint} could not be reached: ${what}.`, advice, hint(context)].filter(Boolean).join(' '),
    !lasts,
  ];
}

function byStatus(error: APIError, status: number, context: FailureContext): Verdict {
  const endpoint = displayUrl(context.baseUrl);
  const said = quote(error);
  const shaped = isApiShaped(error.error);
  const wording = `${status} ${said}`.toLowerCase();
  if (isQuota(error, status, wording))
    return [
      'quota',
      `${endpoint} refused the call because of credit or a spend limit: ${said}. Add credit or raise the limit there, or run "Handshake: Set API Key" with another key.`,
    ];
  if (status === 401 || (status === 403 && !isPage(error) && !UNKNOWN_MODEL.test(said))) {
    const from = context.keyName ? ` (from ${context.keyName})` : '';
    if (status === 401 && /expired/.test(wording))
      return [
        'expired_key',
        `The key or token for ${endpoint}${from} has expired: ${status} ${said}. Get a new one where you got it, and run "Handshake: Set API Key" (or start VS Code again with the new one in its environment).`,
      ];
    return [
      'bad_key',
      `${endpoint} refused the key${from}: ${status} ${said}. Run "Handshake: Set API Key" to set one that this endpoint accepts.`,
    ];
  }
  if (status === 429) {
    const after = retryAfterMs(error.headers, Date.now());
    const when = after === undefined ? '' : ` It asks to wait ${duration(after)}.`;
    return ['rate_limit', `${endpoint} limits the rate of calls: ${said}.${when} Try again a little later.`];
  }
  if (status === 529 || status === 503 || error.type === 'overloaded_error')
    return ['overloaded', `${endpoint} is overloaded: ${status} ${said}. Try again a little later.`];
  if (status >= 500) {
    const proxy = shaped ? '' : ` ${hint(context)}`;
    return [
      'other',
      `${endpoint} failed on its side: ${status} ${said}. Try again a little later.${proxy}`.trim(),
      true,
    ];
  }
  if (status === 408)
    return ['timeout', `${endpoint} gave up waiting for the request (408 ${said}). Try again.`];
  if (status === 413 || TOO_LONG.test(said))
    return [
      'too_long',
      `The conversation is too long for model "${context.model}" at ${endpoint}: ${status} ${said}.`,
    ];
  if (NO_IMAGES.test(said))
    return ['no_images', `The model "${context.model}" at ${endpoint} cannot be shown pictures: ${said}.`];
  if (NO_TOOLS.test(said))
    return [
      'no_tools',
      `The model "${context.model}" at ${endpoint} cannot use tools, which every member needs: ${said}. Choose another with "Handshake: Select Model" (setting handshake.model).`,
    ];
  if (REFUSED.test(`${error.type ?? ''} ${said}`))
    return [
      'refused',
      `${endpoint} refused the content of the conversation: ${said}. Say it in another way, or start a new conversation.`,
    ];
  if ((status === 404 && namesModel(error, context.model)) || UNKNOWN_MODEL.test(said))
    return [
      'unknown_model',
      `${endpoint} does not know the model "${context.model}": ${said}. Choose another with "Handshake: Select Model" (setting handshake.model).`,
    ];
  if (status === 407)
    return [
      'unreachable',
      `A proxy wants its own sign-in before ${endpoint} is reached (407). ${hint(context)}`.trim(),
    ];
  if (status >= 300 && status < 400) {
    const target = error.headers?.get('location') ?? 'elsewhere';
    return wrongProtocol(
      endpoint,
      `${status}, a redirect to ${target}, and a key is not sent on to another address`,
    );
  }
  const foreign = nameForeignApi(error.error);
  if (status === 404) return wrongProtocol(endpoint, `${status} ${said} at ${endpoint}/v1/messages`, foreign);
  if (shaped)
    return [
      'bad_request',
      `${endpoint} refused the request for model "${context.model}": ${status} ${said}.`,
    ];
  return wrongProtocol(endpoint, `${status} ${said}`, foreign);
}

/** An `error` event in the middle of a stream that began with status 200. */
function byStreamedType(error: APIError, context: FailureContext): Verdict {
  const endpoint = displayUrl(context.baseUrl);
  const said = quote(error);
  switch (error.type) {
    case 'overloaded_error':
      return [
        'overloaded',
        `${endpoint} became overloaded in the middle of the answer: ${said}. Nothing of the answer was used. Try again a little later.`,
      ];
    case 'rate_limit_error':
      return [
        'rate_limit',
        `${endpoint} limits the rate of calls and broke off the answer: ${said}. Try again a little later.`,
      ];
    default:
      return interrupted(endpoint, `it sent an error, ${said}`);
  }
}

function interrupted(endpoint: string, what: string): Verdict {
  return [
    'interrupted_stream',
    `The answer of ${endpoint} broke off: ${what}. Nothing of it was used. Try again.`,
  ];
}

function wrongProtocol(endpoint: string, what: string, foreign?: string): Verdict {
  return [
    'wrong_protocol',
    `${endpoint} answered, but not as the Anthropic Messages API does: ${what}.${foreign ? ` ${foreign}` : ''} Check the base URL: run "Handshake: Set API Key", or look at ANTHROPIC_BASE_URL if the key comes from the environment.`,
  ];
}

function hint(context: FailureContext): string {
  return proxyHint(context.baseUrl, context.env, context.httpProxy);
}

/** Other endpoints than Anthropic's say it with other statuses. */
const UNKNOWN_MODEL =
  /\b(?:unknown|invalid|unsupported|no such) model\b|\bmodel\b.{0,80}\b(?:not found|does not exist|not supported|not available|unknown)\b/i;

const TOO_LONG =
  /prompt is too long|input is too long|context (?:length|window)|maximum context|too many (?:input )?tokens|exceeds? the maximum (?:allowed )?(?:number of )?(?:input )?(?:tokens|size)/i;
/** Tokens that the model takes, as endpoints say it. */
function windowIn(said: string): number | undefined {
  const found = /tokens > (\d+)|maximum context length (?:is|of) (\d+)/i.exec(said);
  const tokens = Number(found?.[1] ?? found?.[2]);
  return tokens > 0 ? tokens : undefined;
}

const NO_TOOLS =
  /(?:does not|doesn't|do not|cannot|not) support (?:tool|function)|support (?:for )?tool use|tool (?:use|calling) is not supported|tools? (?:is|are) not supported/i;
const NO_IMAGES =
  /(?:does not|doesn't|do not|cannot|not) support (?:image|vision|multimodal)|image (?:input|content)s? (?:is|are) not supported|no endpoints found that support image/i;
const REFUSED =
  /content[ _](?:policy|filter|management|moderation)|safety (?:system|policy)|flagged (?:as|by|for)/i;

/** `{type: 'error', error: {type, message}}`, as the Messages API sends every error. */
function isApiShaped(body: unknown): boolean {
  return (
    isObject(body) && body.type === 'error' && isObject(body.error) && typeof body.error.type === 'string'
  );
}

function isPage(error: APIError): boolean {
  return /text\/html/i.test(error.headers?.get('content-type') ?? '');
}

function isQuota(error: APIError, status: number, wording: string): boolean {
  return (
    status === 402 ||
    error.type === 'billing_error' ||
    /spend_limit/.test(error.errorCode ?? '') ||
    /credit balance|insufficient[_ ](quota|credit|funds)|spend limit|usage limit/.test(wording)
  );
}

function namesModel(error: APIError, model: string): boolean {
  const body = JSON.stringify(error.error ?? '').toLowerCase();
  return body.includes(model.toLowerCase()) || /\bmodel(_|\b)/.test(body);
}

/** What the server said, in one short line. */
function quote(error: APIError): string {
  const body = error.error;
  const inner = isObject(body) ? body.error : undefined;
  const message = [inner, body]
    .map((part) => (isObject(part) ? part.message : part))
    .find((part): part is string => typeof part === 'string' && part.trim() !== '');
  return shorten(message ?? (isPage(error) ? 'a web page' : error.message.replace(/^\d{3} /, '')));
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

/** One line of at most 300 characters, without the final period. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length > 300 ? `${line.slice(0, 297)}…` : line;
}
