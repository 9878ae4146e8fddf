import * as z from 'zod';
import type { ConversationTurn } from '../../src/model/port';

/** A message as the model is shown it. */
export interface Mail {
  from: string;
  type: string;
  requestId: string;
  approve: boolean | undefined;
  content: string;
  /** The turn that showed it. */
  turn: number;
}

/** A tool call of the model, and what came of it. */
export interface Call {
  id: string;
  name: string;
  input: Readonly<Record<string, unknown>>;
  /** The turn that made it. */
  turn: number;
  /** Undefined while it is not answered. */
  result: string | undefined;
  failed: boolean;
}

/** All that a model can know: what it was told, and what it has done. */
export interface Heard {
  mail: Mail[];
  /** What the human said to the lead; it carries no wrapper. */
  words: string[];
  calls: Call[];
}

const MAIL = /<message ([^>]*)>\n([\s\S]*?)\n<\/message>/g;
const object = z.record(z.string(), z.unknown());

export function hear(turns: readonly ConversationTurn[]): Heard {
  const heard: Heard = { mail: [], words: [], calls: [] };
  const byId = new Map<string, Call>();
  for (const [index, turn] of turns.entries()) {
    for (const block of turn.content) {
      if (block.type === 'text' && turn.role === 'user') hearText(block.text, index, heard);
      else if (block.type === 'tool_use') {
        const input = object.safeParse(block.input).data ?? {};
        const { id, name } = block;
        const call: Call = { id, name, input, turn: index, result: undefined, failed: false };
        byId.set(block.id, call);
        heard.calls.push(call);
      } else if (block.type === 'tool_result') {
        const call = byId.get(block.tool_use_id);
        if (!call) throw new Error(`A result without a call: ${block.tool_use_id}`);
        call.result = block.content;
        call.failed = block.is_error === true;
      }
    }
  }
  return heard;
}

function hearText(text: string, turn: number, heard: Heard): void {
  const mail = [...text.matchAll(MAIL)];
  if (mail.length === 0) heard.words.push(text);
  for (const [, attributes = '', content = ''] of mail) {
    const approve = attribute(attributes, 'approve');
    heard.mail.push({
      from: attribute(attributes, 'from'),
      type: attribute(attributes, 'type'),
      requestId: attribute(attributes, 'request_id'),
      approve: approve === '' ? undefined : approve === 'true',
      content,
      turn,
    });
  }
}

function attribute(attributes: string, name: string): string {
  return new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
}

/** The result of a call that a crash cut off: it may have run. */
export function isCutOff(call: Call): boolean {
  return call.result?.startsWith('Cut off') ?? false;
}

/**
 * What the Messages API asks of a conversation: it begins with the user, roles alternate, no turn is empty,
 * and each call is answered once and at the head of the very next turn.
 * @param options.mayEndInCalls the last calls may not all have been answered yet
 * @returns what is wrong
 */
export function invalid(turns: readonly ConversationTurn[], options: { mayEndInCalls: boolean }): string[] {
  const wrong: string[] = [];
  const ids = new Set<string>();
  if (turns[0]?.role === 'assistant') wrong.push('it begins with the assistant');
  turns.forEach((turn, index) => {
    const next = turns[index + 1];
    if (turn.content.length === 0) wrong.push(`turn ${index} is empty`);
    if (next?.role === turn.role) wrong.push(`turns ${index} and ${index + 1} have the same role`);
    if (turn.role === 'user') {
      const before = turns[index - 1];
      if (before?.role !== 'assistant' && turn.content.some((block) => block.type === 'tool_result')) {
        wrong.push(`turn ${index} answers calls that nobody made`);
      }
      return;
    }
    const calls = turn.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    for (const id of calls) {
      if (ids.has(id)) wrong.push(`the call ${id} was made twice`);
      ids.add(id);
    }
    const isOpen =
      index >= turns.length - 2 &&
      (next?.content ?? []).every(
        (block) => block.type === 'tool_result' && calls.includes(block.tool_use_id),
      );
    if (options.mayEndInCalls && isOpen) return;
    const head = next?.content.slice(0, calls.length) ?? [];
    const answered = head.map((block) => (block.type === 'tool_result' ? block.tool_use_id : ''));
    if ([...calls].sort().join() !== answered.sort().join()) {
      wrong.push(`turn ${index + 1} does not answer the calls ${calls.join(', ')}`);
    }
    if (next?.content.slice(calls.length).some((block) => block.type === 'tool_result')) {
      wrong.push(`turn ${index + 1} answers more than it was asked`);
    }
  });
  return wrong;
}
