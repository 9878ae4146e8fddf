/**
 * The shapes that the Messages API receives, and the check that a request holds them. Hand-written guards
 * rather than a schema: the bench sends a thousand growing conversations through here.
 */

export type Json = { [key: string]: unknown };

export type WireBlock = Json & { type: string };

export interface WireMessage {
  role: 'user' | 'assistant';
  content: WireBlock[];
}

export interface WireTool {
  name: string;
  description: string;
  input_schema: Json;
}

/** The body of `POST /v1/messages`, checked; neighbours of one role are merged, as the API does. */
export interface MessagesBody {
  model: string;
  max_tokens: number;
  stream: boolean;
  system: string;
  messages: WireMessage[];
  tools: WireTool[];
  tool_choice?: { type: string; name?: string };
}

/** A request the API would refuse with 400 `invalid_request_error`. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(message: string): never {
  throw new InvalidRequest(message);
}

/** @throws {InvalidRequest} in the API's manner, naming the place */
export function parseBody(raw: unknown, needsMaxTokens = true): MessagesBody {
  if (!isJson(raw)) refuse('The request body is not valid JSON: an object is required');
  const { model, max_tokens: maxTokens, messages, stream } = raw;
  if (typeof model !== 'string' || model === '') refuse('model: Field required');
  if (needsMaxTokens) {
    if (maxTokens === undefined) refuse('max_tokens: Field required');
    if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 1)
      refuse('max_tokens: must be an integer greater than or equal to 1');
  }
  if (stream !== undefined && typeof stream !== 'boolean') refuse('stream: Input should be a valid boolean');
  if (!Array.isArray(messages)) refuse('messages: Field required');
  if (messages.length === 0) refuse('messages: at least one message is required');
  if (countMarks(raw) > 4)
    refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${countMarks(raw)}.`);
  const choice = parseToolChoice(raw.tool_choice);
  return {
    model,
    max_tokens: typeof maxTokens === 'number' ? maxTokens : 1,
    stream: stream === true,
    system: parseSystem(raw.system),
    messages: mergeRoles(messages.map(parseMessage)),
    tools: parseTools(raw.tools),
    ...(choice ? { tool_choice: choice } : {}),
  };
}

/** Blocks that the endpoint is to keep what it has read up to. */
function countMarks({ system, tools, messages }: Json): number {
  const marked = (list: unknown): number =>
    Array.isArray(list)
      ? list.filter((block: unknown) => isJson(block) && 'cache_control' in block).length
      : 0;
  const inMessages = Array.isArray(messages)
    ? messages.map((message: unknown) => (isJson(message) ? marked(message.content) : 0))
    : [];
  return [marked(system), marked(tools), ...inMessages].reduce((sum, count) => sum + count, 0);
}

function parseSystem(system: unknown): string {
  if (system === undefined) return '';
  if (typeof system === 'string') return system;
  if (!Array.isArray(system)) refuse('system: Input should be a string or a list of text blocks');
  return system
    .map((block: unknown, i) => {
      if (!isJson(block) || block.type !== 'text' || typeof block.text !== 'string')
        refuse(`system.${i}: Input should be a text block`);
      if (block.text === '') refuse(`system.${i}: text content blocks must be non-empty`);
      return block.text;
    })
    .join('\n');
}

function parseMessage(message: unknown, i: number): WireMessage {
  if (!isJson(message)) refuse(`messages.${i}: Input should be an object`);
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant')
    refuse(`messages.${i}.role: Input should be 'user' or 'assistant'`);
  if (typeof content === 'string') {
    if (content.trim() === '') refuse(`messages.${i}: ${role} messages must have non-empty content`);
    return { role, content: [{ type: 'text', text: content }] };
  }
  if (!Array.isArray(content)) refuse(`messages.${i}.content: Field required`);
  if (content.length === 0) refuse(`messages.${i}: all messages must have non-empty content`);
  return { role, content: content.map((block, j) => parseBlock(block, `messages.${i}.content.${j}`)) };
}

function parseBlock(block: unknown, at: string): WireBlock {
  if (!hasType(block)) refuse(`${at}.type: Field required`);
  if (block.type === 'text') {
    if (typeof block.text !== 'string') refuse(`${at}.text: Field required`);
    if (block.text === '') refuse(`${at}: text content blocks must be non-empty`);
    if (block.text.trim() === '') refuse(`${at}: text content blocks must contain non-whitespace text`);
  } else if (block.type === 'image') {
    checkImage(block, at);
  } else if (block.type === 'tool_result' && Array.isArray(block.content)) {
    block.content.forEach((part: unknown, i) => {
      parseBlock(part, `${at}.content.${i}`);
    });
  } else if (block.type === 'opaque') {
    refuse(`${at}: Input tag 'opaque' does not match any of the expected tags`);
  }
  return block;
}

function checkImage(block: WireBlock, at: string): void {
  const { source } = block;
  if (!isJson(source) || source.type !== 'base64') refuse(`${at}.source: Field required`);
  if (!['image/png', 'image/jpeg', 'image/gif', 'image/webp'].includes(String(source.media_type)))
    refuse(`${at}.source.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`);
  if (typeof source.data !== 'string' || !/^[A-Za-z0-9+/]+=*$/.test(source.data))
    refuse(`${at}.source.data: Invalid base64`);
  if (source.data.length > 5 * 1024 * 1024) refuse(`${at}.source.data: image exceeds 5 MB maximum`);
}

function hasType(value: unknown): value is WireBlock {
  return isJson(value) && typeof value.type === 'string';
}

function mergeRoles(messages: WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role) last.content.push(...message.content);
    else merged.push(message);
  }
  return merged;
}

function parseTools(tools: unknown): WireTool[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) refuse('tools: Input should be a valid list');
  const seen = new Set<string>();
  return tools.map((tool: unknown, i) => {
    if (!isJson(tool) || typeof tool.name !== 'string') refuse(`tools.${i}.name: Field required`);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name))
      refuse(`tools.${i}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (seen.has(tool.name)) refuse('tools: Tool names must be unique.');
    seen.add(tool.name);
    if (!isJson(tool.input_schema) || tool.input_schema.type !== 'object')
      refuse(`tools.${i}.input_schema.type: Input should be 'object'`);
    const description = typeof tool.description === 'string' ? tool.description : '';
    return { name: tool.name, description, input_schema: tool.input_schema };
  });
}

function parseToolChoice(choice: unknown): { type: string; name?: string } | undefined {
  if (choice === undefined) return undefined;
  if (!isJson(choice) || typeof choice.type !== 'string') refuse('tool_choice.type: Field required');
  if (!['auto', 'any', 'tool', 'none'].includes(choice.type))
    refuse(`tool_choice: Input tag '${choice.type}' does not match any of the expected tags`);
  if (choice.type !== 'tool') return { type: choice.type };
  if (typeof choice.name !== 'string') refuse('tool_choice.name: Field required');
  return { type: 'tool', name: choice.name };
}
