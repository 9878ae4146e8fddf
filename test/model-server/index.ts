/**
 * A local HTTP server that speaks the Anthropic Messages API: what the tests, the bench and anybody without
 * a key talk to. What a model would say comes from a brain; everything else is the protocol, its checks and
 * its failures.
 */

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Answer,
  apiError,
  type Brain,
  type HttpAnswer,
  isHttpAnswer,
  isRawAnswer,
  type Reply,
} from './reply';
import { sendAnswer, sendHttp } from './send';
import { checkConversation } from './validate';
import { InvalidRequest, type MessagesBody, parseBody } from './wire';

export * from './reply';
export { signThinking } from './validate';
export type { MessagesBody, WireBlock, WireMessage } from './wire';

export const DEFAULT_MODEL = 'claude-test-1';

export interface ModelServerOptions {
  brain: Brain;
  /** The only key that is let in; without it every request is. */
  key?: string;
  /** Which header the key may come in; by default either. */
  keyHeader?: 'x-api-key' | 'authorization';
  /** Names that are known; without it every name is. */
  models?: string[];
  /** Milliseconds between SSE events, where a reply names none. */
  delayMs?: number;
  /** 0 takes any free one. */
  port?: number;
  /** False keeps no requests, for long runs. */
  record?: boolean;
}

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** `x-handshake-member`, or `unknown`. */
  member: string;
  /** The request's JSON as it was sent, or undefined. */
  raw: unknown;
  /** The checked body of a call to the model. */
  body?: MessagesBody;
  /** The status that was answered; undefined while it is not. */
  status?: number;
}

export interface ModelServer {
  /** The base URL, without a path. */
  readonly url: string;
  readonly port: number;
  /** Every request so far, oldest first. */
  readonly requests: RecordedRequest[];
  /** What brains threw and what was refused as invalid; a test that expects none asserts that it is empty. */
  readonly problems: string[];
  /** From the next request on, this brain answers. */
  setBrain(brain: Brain): void;
  /** From the next request on, only this key is let in (undefined: any). */
  setKey(key: string | undefined): void;
  /** The first request, past or to come, for which this holds. */
  waitForRequest(holds: (request: RecordedRequest) => boolean): Promise<RecordedRequest>;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** @throws when the port is taken */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const host = new Host(options);
  const server = createServer((req, res) => {
    host.answer(req, res).catch((error: unknown) => {
      host.problems.push(`The server itself failed: ${String(error)}`);
      res.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = addressOf(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: host.requests,
    problems: host.problems,
    setBrain: (brain) => {
      host.brain = brain;
    },
    setKey: (key) => {
      host.key = key;
    },
    waitForRequest: (holds) => host.waitForRequest(holds),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP address');
  return address;
}

class Host {
  readonly requests: RecordedRequest[] = [];
  readonly problems: string[] = [];
  brain: Brain;
  key: string | undefined;
  private waiting: { holds: (r: RecordedRequest) => boolean; resolve: (r: RecordedRequest) => void }[] = [];
  private counter = 0;
  private readonly salt = randomBytes(4).toString('hex');

  constructor(private readonly options: ModelServerOptions) {
    this.brain = options.brain;
    this.key = options.key;
  }

  waitForRequest(holds: (request: RecordedRequest) => boolean): Promise<RecordedRequest> {
    const found = this.requests.find(holds);
    if (found) return Promise.resolve(found);
    return new Promise((resolve) => this.waiting.push({ holds, resolve }));
  }

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const requestId = `req_${this.salt}${this.nextId()}`;
    const member = req.headers['x-handshake-member'];
    const path = new URL(req.url ?? '/', 'http://localhost').pathname;
    const record: RecordedRequest = {
      method: req.method ?? '',
      path,
      headers: req.headers,
      member: typeof member === 'string' ? member : 'unknown',
      raw: undefined,
    };
    const text = await readText(req);
    const refused = this.parse(record, text);
    if (this.options.record !== false) this.requests.push(record);
    this.waiting = this.waiting.filter(({ holds, resolve }) => {
      if (!holds(record)) return true;
      resolve(record);
      return false;
    });
    const reply = refused ?? (await this.route(record));
    if (isRawAnswer(reply)) {
      res.socket?.end(reply.raw);
      return;
    }
    if (isHttpAnswer(reply)) {
      record.status = reply.status;
      sendHttp(res, reply, requestId);
      return;
    }
    record.status = 200;
    const head = {
      id: `msg_${this.salt}${this.nextId()}`,
      model: record.body?.model ?? DEFAULT_MODEL,
      inputTokens: Math.ceil(text.length / 4),
    };
    await sendAnswer(res, this.complete(reply), head, record.body?.stream ?? false, requestId);
  }

  /** Everything the API refuses before a model is asked. */
  private parse(record: RecordedRequest, text: string): HttpAnswer | undefined {
    const { headers, method, path } = record;
    const denied = this.checkKey(headers);
    if (denied) return denied;
    if (!headers['anthropic-version']) return this.invalid(record, 'anthropic-version: header is required');
    if (method !== 'POST') return undefined;
    try {
      record.raw = JSON.parse(text);
    } catch {
      return this.invalid(record, 'The request body is not valid JSON');
    }
    if (path !== '/v1/messages' && path !== '/v1/messages/count_tokens') return undefined;
    try {
      record.body = parseBody(record.raw, path === '/v1/messages');
      checkConversation(record.body);
      return undefined;
    } catch (error) {
      if (error instanceof InvalidRequest) return this.invalid(record, error.message);
      throw error;
    }
  }

  private checkKey(headers: IncomingHttpHeaders): HttpAnswer | undefined {
    if (this.key === undefined) return undefined;
    const { keyHeader } = this.options;
    const bearer = headers.authorization?.replace(/^Bearer /, '');
    const given: unknown[] = [];
    if (keyHeader !== 'authorization') given.push(headers['x-api-key']);
    if (keyHeader !== 'x-api-key') given.push(bearer);
    if (given.includes(this.key)) return undefined;
    return apiError(401, 'authentication_error', 'invalid x-api-key');
  }

  private async route(record: RecordedRequest): Promise<Reply> {
    const { method, path, body } = record;
    const models = this.options.models ?? [DEFAULT_MODEL];
    if (method === 'GET' && path === '/v1/models') return modelList(models);
    if (method === 'POST' && body) {
      if (this.options.models && !models.includes(body.model))
        return apiError(404, 'not_found_error', `model: ${body.model}`);
      if (path === '/v1/messages/count_tokens')
        return json({ input_tokens: Math.ceil(JSON.stringify(record.raw).length / 4) });
      return this.think(record.member, body);
    }
    return apiError(404, 'not_found_error', 'Not Found');
  }

  private async think(member: string, body: MessagesBody): Promise<Reply> {
    try {
      return await this.brain({ member, body });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.problems.push(message);
      return apiError(400, 'invalid_request_error', message, { 'x-should-retry': 'false' });
    }
  }

  private invalid(record: RecordedRequest, message: string): HttpAnswer {
    this.problems.push(`${record.member}: ${message}`);
    return apiError(400, 'invalid_request_error', message);
  }

  private complete(reply: Answer | Answer['content']): Answer {
    const answer: Answer = Array.isArray(reply) ? { content: reply } : reply;
    for (const block of answer.content)
      if (block.type === 'tool_use' && !block.id) block.id = `toolu_${this.salt}${this.nextId()}`;
    return answer.delayMs === undefined && this.options.delayMs
      ? { ...answer, delayMs: this.options.delayMs }
      : answer;
  }

  private nextId(): string {
    this.counter += 1;
    return this.counter.toString(36).padStart(8, '0');
  }
}

function readText(req: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    req.on('error', reject);
  });
}

function json(value: object): HttpAnswer {
  return { status: 200, body: JSON.stringify(value), contentType: 'application/json' };
}

function modelList(models: string[]): HttpAnswer {
  const data = models.map((id) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: '2026-01-01T00:00:00Z',
  }));
  return json({ data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null });
}
