/**
 * The conversation as the demo reads it: a list of what happened, in order. It is read from the same turns
 * that go to any model, and from nothing else.
 */

import { isObject } from '../endpoint';
import type { ConversationTurn, JsonObject } from '../port';

/** The human's own words to the lead. */
export interface Words {
  kind: 'words';
  text: string;
}

/** A message of a member, or of the human to a teammate. */
export interface Mail {
  kind: 'mail';
  from: string;
  type: string;
  requestId: string;
  approve: boolean;
  external: boolean;
  body: string;
}

/** A tool call this model made, and what came of it. */
export interface Call {
  kind: 'call';
  id: string;
  name: string;
  input: JsonObject;
  /** Undefined only for a call that was never answered. */
  result?: string;
  failed: boolean;
}

export type Happening = Words | Mail | Call;

export interface Story {
  happenings: Happening[];
  /** Where the present turn begins: what happened after this model last ended one. */
  turnStart: number;
  /** The first number free for a call's id. */
  nextCall: number;
}

const WRAPPER = /^\s*<message\s([^>]*)>\r?\n?([\s\S]*?)\r?\n?<\/message>\s*$/;

export function readStory(messages: readonly ConversationTurn[]): Story {
  const happenings: Happening[] = [];
  const calls = new Map<string, Call>();
  let turnStart = 0;
  let nextCall = 1;
  for (const turn of messages) {
    let ended = turn.role === 'assistant';
    for (const block of turn.content) {
      if (block.type === 'tool_result') {
        const call = calls.get(block.tool_use_id);
        if (!call) continue;
        call.result = block.content;
        call.failed = block.is_error === true || /^(Error|Blocked|Refused|Not run)\b/.test(block.content);
      } else if (block.type === 'tool_use') {
        ended = false;
        const input = isObject(block.input) ? block.input : {};
        const call: Call = { kind: 'call', id: block.id, name: block.name, input, failed: false };
        calls.set(block.id, call);
        happenings.push(call);
        nextCall = Math.max(nextCall, Number(/^demo_(\d+)$/.exec(block.id)?.[1] ?? 0) + 1);
      } else if (block.type === 'text' && turn.role === 'user') {
        happenings.push(readText(block.text));
      }
    }
    if (ended) turnStart = happenings.length;
  }
  return { happenings, turnStart, nextCall };
}

function readText(text: string): Words | Mail {
  const match = WRAPPER.exec(text);
  if (!match) return { kind: 'words', text };
  const attributes = new Map<string, string>();
  for (const [, name, value] of (match[1] ?? '').matchAll(/([a-z_]+)="([^"]*)"/g))
    if (name && value !== undefined) attributes.set(name, value);
  return {
    kind: 'mail',
    from: attributes.get('from') ?? 'somebody',
    type: attributes.get('type') ?? 'message',
    requestId: attributes.get('request_id') ?? '',
    approve: attributes.get('approve') === 'true',
    external: attributes.get('external') === 'true',
    body: (match[2] ?? '').replace(/&lt;(?=\s*\/?\s*message)/gi, '<'),
  };
}

/** What the model does next: words, then calls; a turn without calls is the end of it. */
export interface Move {
  say: string;
  calls: { name: string; input: JsonObject }[];
}

export const say = (text: string): Move => ({ say: text, calls: [] });

export const act = (text: string, name: string, input: JsonObject): Move => ({
  say: text,
  calls: [{ name, input }],
});

/** A string argument of a call, or ''. */
export function argument(call: Call, name: string): string {
  const value = call.input[name];
  return typeof value === 'string' ? value : '';
}

/** Text of others in one line, cut to `max` characters. */
export function oneLine(text: string, max = 200): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}
