/** Brains that need no script: the demo over HTTP, and one for measuring. */

import { demoReply } from '../../src/model/demo';
import type { ConversationTurn, UserBlock } from '../../src/model/port';
import { type Brain, type ReplyBlock, text, toolUse } from './reply';
import { isJson, type Json, type WireBlock, type WireMessage } from './wire';

/** The demo's words, served as an endpoint would: the same decisions, over the real SDK. */
export const demoBrain: Brain = ({ body }) => {
  const blocks = demoReply({
    system: body.system,
    messages: body.messages.map(toTurn),
    tools: body.tools.map((tool) => ({ ...tool, inputSchema: tool.input_schema })),
    ...(body.tool_choice?.name ? { forceTool: body.tool_choice.name } : {}),
  });
  return blocks.flatMap((block): ReplyBlock[] => {
    if (block.type === 'text') return [block];
    return block.type === 'tool_use'
      ? [toolUse(block.name, isJson(block.input) ? block.input : {}, block.id)]
      : [];
  });
};

export interface BenchOptions {
  /** Tool rounds before the member's turn ends. */
  rounds: number;
  /** The tool that is called; by default the first that is offered. */
  tool?: string;
  input?: Json;
}

/** Every member calls a tool `rounds` times, then ends; counted in the conversation since the last plain end. */
export function benchBrain({ rounds, tool, input = {} }: BenchOptions): Brain {
  return ({ body }) => {
    let made = 0;
    for (let i = body.messages.length - 1; i >= 0; i--) {
      const message = body.messages[i];
      if (message?.role !== 'assistant') continue;
      if (!message.content.some((block) => block.type === 'tool_use')) break;
      made += 1;
    }
    const name = tool ?? body.tools[0]?.name;
    return made < rounds && name ? [toolUse(name, input)] : [text('Done.')];
  };
}

/** Says so many words, each a piece of the stream of its own. */
export function wordsBrain(count: number): Brain {
  // As long as the pieces in which the server sends text.
  const said = text('a word of twenty-four c '.repeat(count));
  return () => [said];
}

/** A message as it came over the wire, as the product's own turn. */
export function toTurn({ role, content }: WireMessage): ConversationTurn {
  if (role === 'user') return { role, content: content.flatMap(toUserBlock) };
  return {
    role,
    content: content.map((block) => {
      if (block.type === 'text') return { type: 'text', text: String(block.text) };
      if (block.type === 'tool_use')
        return { type: 'tool_use', id: String(block.id), name: String(block.name), input: block.input };
      return { type: 'opaque', raw: block };
    }),
  };
}

function toUserBlock(block: WireBlock): UserBlock[] {
  if (block.type === 'text') return [{ type: 'text', text: String(block.text) }];
  if (block.type !== 'tool_result') return [];
  const result: UserBlock = {
    type: 'tool_result',
    tool_use_id: String(block.tool_use_id),
    content: plain(block.content),
  };
  if (block.is_error === true) result.is_error = true;
  return [result];
}

function plain(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isJson(part) && typeof part.text === 'string' ? part.text : ''))
    .join('\n');
}
