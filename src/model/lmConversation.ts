/** From the port's conversation to one of VS Code's language model API, in plain objects. */

import { isObject } from './endpoint';
import type { AssistantBlock, ConversationTurn, JsonObject, ModelRequest, UserBlock } from './port';

export type LmPart =
  | { type: 'text'; text: string }
  | { type: 'call'; id: string; name: string; input: JsonObject }
  | { type: 'result'; id: string; text: string };

export interface LmMessage {
  role: 'user' | 'assistant';
  parts: LmPart[];
}

/**
 * There is no role for the system prompt: it stands first, in a message of the user, and never changes its place,
 * so that each request begins with the one before.
 */
export function toLmMessages({ system, messages }: ModelRequest): LmMessage[] {
  const converted = messages
    .filter((turn) => turn.content.length > 0)
    .map((turn): LmMessage => ({ role: turn.role, parts: partsOf(turn) }))
    .filter((message) => message.parts.length > 0);
  if (system === '') return converted;
  return [{ role: 'user', parts: [{ type: 'text', text: system }] }, ...converted];
}

function partsOf(turn: ConversationTurn): LmPart[] {
  return turn.role === 'user' ? turn.content.map(userPart) : turn.content.flatMap(assistantPart);
}

function userPart(block: UserBlock): LmPart {
  if (block.type === 'text') return { type: 'text', text: block.text };
  // There is no mark for a failed call either.
  const text = block.is_error && !/^error/i.test(block.content) ? `Error: ${block.content}` : block.content;
  return { type: 'result', id: block.tool_use_id, text };
}

function assistantPart(block: AssistantBlock): LmPart[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'tool_use':
      return [
        { type: 'call', id: block.id, name: block.name, input: isObject(block.input) ? block.input : {} },
      ];
    case 'opaque':
      // Thinking of another source means nothing here.
      return [];
  }
}

/** Four bytes a token: the usual rule of thumb, and never taken for a count. */
const BYTES_PER_TOKEN = 4;

export function estimateTokens(...texts: readonly string[]): number {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Everything that is sent, as one source of words reads it. */
export function estimateInput(messages: readonly LmMessage[], tools: ModelRequest['tools']): number {
  return estimateTokens(JSON.stringify(messages), JSON.stringify(tools));
}
