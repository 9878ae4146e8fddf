/**
 * What the Messages API asks of a conversation beyond its shape, answered with its own 400s, so that a
 * transcript that the real API would refuse fails our tests as well.
 */

import { createHash } from 'node:crypto';
import { InvalidRequest, isJson, type MessagesBody, type WireBlock, type WireMessage } from './wire';

/** The signature this server puts on a thinking block; an altered block no longer fits it. */
export function signThinking(thinking: string): string {
  return createHash('sha256').update(`thinking:${thinking}`).digest('base64');
}

/** @throws {InvalidRequest} for a conversation the API refuses */
export function checkConversation(body: MessagesBody): void {
  const { messages, tools, tool_choice: choice } = body;
  if (messages[0]?.role !== 'user')
    throw new InvalidRequest('messages: first message must use the "user" role');
  // A turn that was paused in the endpoint's own tools goes on; nothing else may be begun for the model.
  const last = messages.at(-1);
  if (last?.role !== 'user' && last?.content.at(-1)?.type !== 'server_tool_use')
    throw new InvalidRequest(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  if (choice && choice.type !== 'auto' && choice.type !== 'none' && tools.length === 0)
    throw new InvalidRequest('tool_choice: may only be specified while providing tools');
  if (choice?.type === 'tool' && !tools.some((tool) => tool.name === choice.name))
    throw new InvalidRequest(`tool_choice: Tool '${choice.name}' not found in provided tools`);
  checkToolPairs(messages);
}

function checkToolPairs(messages: WireMessage[]): void {
  const everUsed = new Set<string>();
  let open = new Set<string>();
  messages.forEach((message, i) => {
    if (message.role === 'user') {
      checkResults(message, i, open);
      open = new Set();
      return;
    }
    for (const [j, block] of message.content.entries()) {
      const at = `messages.${i}.content.${j}`;
      if (block.type === 'tool_use') {
        const id = checkToolUse(block, at);
        if (everUsed.has(id)) throw new InvalidRequest(`${at}: \`tool_use\` ids must be unique`);
        everUsed.add(id);
        open.add(id);
      } else if (block.type === 'tool_result') {
        throw new InvalidRequest(`${at}: \`tool_result\` blocks can only be in \`user\` messages`);
      } else if (block.type === 'thinking') {
        checkThinking(block, at);
      }
    }
  });
}

function checkToolUse(block: WireBlock, at: string): string {
  if (typeof block.id !== 'string' || !/^[a-zA-Z0-9_-]+$/.test(block.id))
    throw new InvalidRequest(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (typeof block.name !== 'string' || block.name === '')
    throw new InvalidRequest(`${at}.tool_use.name: Field required`);
  if (!isJson(block.input))
    throw new InvalidRequest(`${at}.tool_use.input: Input should be a valid dictionary`);
  const extra = Object.keys(block).find(
    (key) => !['type', 'id', 'name', 'input', 'cache_control', 'caller', 'toolset_name'].includes(key),
  );
  if (extra) throw new InvalidRequest(`${at}.tool_use.${extra}: Extra inputs are not permitted`);
  return block.id;
}

function checkThinking(block: WireBlock, at: string): void {
  const { thinking, signature } = block;
  if (typeof thinking !== 'string' || typeof signature !== 'string')
    throw new InvalidRequest(`${at}.thinking.signature: Field required`);
  if (signature !== signThinking(thinking))
    throw new InvalidRequest(`${at}: Invalid \`signature\` in \`thinking\` block`);
}

function checkResults(message: WireMessage, i: number, open: Set<string>): void {
  const answered = new Set<string>();
  let sawOther = false;
  for (const [j, block] of message.content.entries()) {
    const at = `messages.${i}.content.${j}`;
    if (block.type === 'tool_use')
      throw new InvalidRequest(`${at}: \`tool_use\` blocks can only be in \`assistant\` messages`);
    if (block.type !== 'tool_result') {
      sawOther = true;
      continue;
    }
    const id = block.tool_use_id;
    if (typeof id !== 'string') throw new InvalidRequest(`${at}.tool_result.tool_use_id: Field required`);
    if (!open.has(id))
      throw new InvalidRequest(
        `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    if (answered.has(id))
      throw new InvalidRequest(
        `${at}: each tool_use must have a single result. Found multiple results: ${id}`,
      );
    if (sawOther) throw new InvalidRequest(`${at}: \`tool_result\` blocks must come before other content`);
    answered.add(id);
  }
  const missing = [...open].filter((id) => !answered.has(id));
  if (missing.length > 0)
    throw new InvalidRequest(
      `messages.${i - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    );
}
