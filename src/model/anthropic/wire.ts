/** From the port's conversation to the body of a Messages API request. */

import type Anthropic from '@anthropic-ai/sdk';
import type {
  AssistantBlock,
  ConversationTurn,
  JsonObject,
  ModelRequest,
  ToolResultBlock,
  UserBlock,
} from '../port';
import { type Thinking, thinkingParam } from './thinking';

type Body = Anthropic.MessageCreateParamsStreaming;
type Message = Anthropic.MessageParam;
type Block = Anthropic.ContentBlockParam;
type UserParam = Anthropic.TextBlockParam | Anthropic.ToolResultBlockParam;

/** A mark up to which the endpoint keeps what it has read; four in a request at most. */
const CACHE = { cache_control: { type: 'ephemeral' } } as const;

/** Assistant turns do not change, so each is converted once. */
const converted = new WeakMap<ConversationTurn, Message>();
const withImages = new WeakMap<ToolResultBlock, Anthropic.ToolResultBlockParam>();
const toolLists = new WeakMap<ModelRequest['tools'], Anthropic.Tool[]>();

export interface BodyOptions {
  model: string;
  /** The longest answer, thinking included, in tokens. */
  maxTokens: number;
  thinking: Thinking;
}

/**
 * The body of the call. Apart from the cache marks it begins with the bytes of the call before. The marks stand
 * behind the tools, which all teammates share, behind the system prompt, at the end, where the next call goes on
 * reading, and where the call before had its end: a turn may bring more blocks than the endpoint looks back over.
 */
export function toBody(request: ModelRequest, options: BodyOptions): Body {
  const { system, tools, forceTool } = request;
  const messages: Message[] = [];
  for (const turn of request.messages) if (turn.content.length > 0) messages.push(toMessage(turn));
  markEnds(messages);
  const body: Body = {
    model: request.model ?? options.model,
    max_tokens: options.maxTokens,
    stream: true,
    messages,
  };
  if (system) body.system = [{ type: 'text', text: system, ...CACHE }];
  if (tools.length > 0) body.tools = toTools(tools);
  const thinking = thinkingParam(options.thinking, request);
  if (thinking) body.thinking = thinking;
  if (forceTool) body.tool_choice = { type: 'tool', name: forceTool };
  return body;
}

function toMessage(turn: ConversationTurn): Message {
  // A user turn may still grow.
  if (turn.role === 'user') return { role: turn.role, content: turn.content.map(toUserParam) };
  const known = converted.get(turn);
  if (known) return known;
  const message: Message = { role: turn.role, content: turn.content.flatMap(toBlock) };
  converted.set(turn, message);
  return message;
}

function toUserParam(block: UserBlock): UserParam {
  if (block.type === 'text' || block.images === undefined) return block;
  const known = withImages.get(block);
  if (known) return known;
  const { images, content, ...rest } = block;
  const param: Anthropic.ToolResultBlockParam = {
    ...rest,
    content: [
      { type: 'text', text: content },
      ...images.map(
        ({ mediaType, data }): Anthropic.ImageBlockParam => ({
          type: 'image',
          source: { type: 'base64', media_type: mediaType, data },
        }),
      ),
    ],
  };
  withImages.set(block, param);
  return param;
}

function toBlock(block: AssistantBlock): Block[] {
  switch (block.type) {
    case 'opaque':
      return isBlock(block.raw) ? [block.raw] : [];
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'tool_use':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: block.input }];
  }
}

/** An opaque block came from the endpoint and goes back as it came, of whatever type it is. */
function isBlock(raw: JsonObject): raw is JsonObject & Block {
  return typeof raw.type === 'string';
}

function markEnds(messages: Message[]): void {
  let marks = 2;
  for (let i = messages.length - 1; i >= 0 && marks > 0; i--) {
    const message = messages[i];
    if (message?.role !== 'user' || typeof message.content === 'string') continue;
    const last = message.content.at(-1);
    if (last === undefined || (last.type !== 'text' && last.type !== 'tool_result')) continue;
    messages[i] = { role: 'user', content: [...message.content.slice(0, -1), { ...last, ...CACHE }] };
    marks--;
  }
}

function toTools(tools: ModelRequest['tools']): Anthropic.Tool[] {
  const known = toolLists.get(tools);
  if (known) return known;
  const list = tools.map(
    (tool, index): Anthropic.Tool => ({
      name: tool.name,
      description: tool.description,
      input_schema: { ...tool.inputSchema, type: 'object' },
      ...(index === tools.length - 1 ? CACHE : {}),
    }),
  );
  toolLists.set(tools, list);
  return list;
}
