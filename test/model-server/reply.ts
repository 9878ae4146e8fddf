/**
 * What a brain may answer: content blocks, or a way in which an endpoint fails. The builders read like the
 * behaviour they bring about.
 */

import { signThinking } from './validate';
import { isJson, type Json, type MessagesBody } from './wire';

export type ReplyBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id?: string; name: string; input: Json; rawInput?: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  /** A call of a tool that the endpoint runs itself, or a block of a type to come; sent whole. */
  | { type: 'server_tool_use'; id: string; name: string; input: Json }
  | { type: 'block_to_come'; [key: string]: unknown };

export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
}

/** Where in an answer something happens. `afterEvents` counts SSE events from `message_start`. */
export type Point =
  | 'before_headers'
  | 'before_events'
  | 'mid_event'
  | 'mid_tool_input'
  | 'before_message_stop'
  | { afterEvents: number };

export interface Answer {
  content: ReplyBlock[];
  /** Default: `tool_use` when the content holds a call, else `end_turn`. */
  stopReason?: string;
  usage?: Usage;
  /** The connection is cut here: destroyed, or with `cutCleanly` ended as if all were said. */
  cutAt?: Point;
  cutCleanly?: boolean;
  /** An SSE `error` event takes the place of the rest. */
  errorAt?: { at: Point; type: string; message: string };
  /** The answer goes on from here only when the promise settles. */
  stall?: { at: Point; until: Promise<unknown> };
  /** Sizes in bytes of the writes, used in turn; without them an answer is one write. */
  chunkBytes?: number[];
  /** Milliseconds between SSE events. */
  delayMs?: number;
  /** Changes the events just before they are sent, one string each; may leave out, repeat, damage. */
  mutate?: (events: string[]) => string[];
  /** Events of types no client knows are mixed in. */
  unknownEvents?: boolean;
}

export interface HttpAnswer {
  status: number;
  body: string;
  contentType?: string;
  headers?: Record<string, string>;
}

/** Bytes in the place of an HTTP answer; then the connection is cut. */
export interface RawAnswer {
  raw: string;
}

export type Reply = ReplyBlock[] | Answer | HttpAnswer | RawAnswer;

export interface BrainRequest {
  /** The `x-handshake-member` header, or `unknown`. */
  member: string;
  body: MessagesBody;
}

export type Brain = (request: BrainRequest) => Reply | Promise<Reply>;

export const text = (words: string): ReplyBlock => ({ type: 'text', text: words });

export const toolUse = (name: string, input: Json = {}, id?: string): ReplyBlock => ({
  type: 'tool_use',
  name,
  input,
  ...(id ? { id } : {}),
});

/** A call whose streamed input is exactly this text, valid JSON or not. */
export const rawToolUse = (name: string, rawInput: string): ReplyBlock => ({
  type: 'tool_use',
  name,
  input: {},
  rawInput,
});

export const thinking = (words: string): ReplyBlock => ({
  type: 'thinking',
  thinking: words,
  signature: signThinking(words),
});

export const redactedThinking = (data: string): ReplyBlock => ({ type: 'redacted_thinking', data });

/** An error as the API sends it. */
export function apiError(
  status: number,
  type: string,
  message: string,
  headers?: Record<string, string>,
): HttpAnswer {
  const body = JSON.stringify({ type: 'error', error: { type, message }, request_id: null });
  return { status, body, contentType: 'application/json', ...(headers ? { headers } : {}) };
}

/** An answer of any kind, such as a web page or another API's JSON. */
export function http(status: number, body: string, contentType = 'text/html'): HttpAnswer {
  return { status, body, contentType };
}

export const cut = (content: ReplyBlock[], at: Point, cleanly = false): Answer => ({
  content,
  cutAt: at,
  cutCleanly: cleanly,
});

export const errorEvent = (content: ReplyBlock[], at: Point, type: string, message: string): Answer => ({
  content,
  errorAt: { at, type, message },
});

export const stall = (content: ReplyBlock[], at: Point, until: Promise<unknown>): Answer => ({
  content,
  stall: { at, until },
});

/** The model ran out of tokens in the middle of its last block. */
export const cutByMaxTokens = (content: ReplyBlock[]): Answer => ({ content, stopReason: 'max_tokens' });

export type ScriptStep = Reply | ((request: BrainRequest) => Reply | Promise<Reply>);

export interface Script extends Brain {
  /** The replies not asked for so far, by member; empty when the script was played to its end. */
  remaining(): Record<string, number>;
}

/** Plays the replies of each member in order; a call beyond them is an error that names the call. */
export function script(steps: Record<string, ScriptStep[]>): Script {
  const next = new Map<string, number>();
  const brain = (request: BrainRequest): Reply | Promise<Reply> => {
    const index = next.get(request.member) ?? 0;
    next.set(request.member, index + 1);
    const step = steps[request.member]?.[index];
    if (step === undefined)
      throw new Error(
        `Unscripted model call: number ${index + 1} of '${request.member}' (scripted: ${steps[request.member]?.length ?? 0}). It ended with: ${lastWords(request.body)}`,
      );
    return typeof step === 'function' ? step(request) : step;
  };
  const remaining = (): Record<string, number> => {
    const left: Record<string, number> = {};
    for (const [member, list] of Object.entries(steps)) {
      const count = list.length - (next.get(member) ?? 0);
      if (count > 0) left[member] = count;
    }
    return left;
  };
  return Object.assign(brain, { remaining });
}

function lastWords(body: MessagesBody): string {
  return JSON.stringify(body.messages.at(-1)?.content ?? []).slice(0, 300);
}

export function isRawAnswer(reply: Reply): reply is RawAnswer {
  return isJson(reply) && 'raw' in reply;
}

export function isHttpAnswer(reply: Reply): reply is HttpAnswer {
  return isJson(reply) && 'status' in reply;
}
