/** A language model of VS Code's own behind the port. What is VS Code's in it stands in `vscodeModels.ts`. */

import { randomUUID } from 'node:crypto';
import type { Attention } from './attention';
import { isObject } from './endpoint';
import { estimateInput, estimateTokens, type LmMessage, toLmMessages } from './lmConversation';
import { describeLmFailure, noAccess } from './lmFailure';
import { vscodeModelId } from './modelId';
import type {
  AssistantBlock,
  CallCounts,
  LanguageModel,
  ModelReply,
  ModelRequest,
  ModelStreamEvent,
} from './port';

export interface LmSendOptions {
  tools: ModelRequest['tools'];
  /** The model has to call one of the tools. */
  mustCall: boolean;
}

/** A piece of an answer; of what is no text and no call (a thought) only that it came. */
export type LmReplyPart = { type: 'text'; text: string } | LmCall | { type: 'other' };

export interface LmCall {
  type: 'call';
  id: string;
  name: string;
  input: unknown;
}

/** One chat model, as VS Code's language model API offers it. */
export interface LmChat {
  readonly vendor: string;
  readonly id: string;
  readonly name: string;
  readonly family: string;
  /** True where a call opens no question; undefined where that is not known before it is asked. */
  canSend(): boolean | undefined;
  /** The answer as it comes. */
  send(
    messages: readonly LmMessage[],
    options: LmSendOptions,
    signal: AbortSignal,
  ): AsyncIterable<LmReplyPart>;
}

/** What the Messages API takes as the id of a call, should the member ever speak through it. */
const ID = /^[a-zA-Z0-9_-]{1,64}$/;

export function createLmModel(chat: LmChat, attention: Attention): LanguageModel {
  const label = `${chat.name} (${vscodeModelId(chat)})`;
  return {
    label,
    isDemo: false,
    endpoint: `vscode:${chat.vendor}`,
    async call(request, onEvent, signal) {
      signal.throwIfAborted();
      const isAttended = attention.take(request.member);
      if (chat.canSend() !== true && !isAttended) throw noAccess(label);
      try {
        return await run(chat, request, onEvent, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw describeLmFailure(error, label);
      }
    },
  };
}

async function run(
  chat: LmChat,
  request: ModelRequest,
  onEvent: (event: ModelStreamEvent) => void,
  signal: AbortSignal,
): Promise<ModelReply> {
  const { forceTool } = request;
  // There is no forcing one tool of several: the one is all that is offered.
  const tools = forceTool ? request.tools.filter(({ name }) => name === forceTool) : request.tools;
  const messages = toLmMessages(request);
  const content: AssistantBlock[] = [];
  const ids = new Set(idsIn(request));
  const counts = (): CallCounts => ({
    usage: {
      input: estimateInput(messages, tools),
      output: estimateTokens(JSON.stringify(content)),
      cacheRead: 0,
      cacheWrite: 0,
    },
    estimated: true,
    model: chat.id,
    countedAs: vscodeModelId(chat),
  });
  let hasBegun = false;
  for await (const part of chat.send(messages, { tools, mustCall: forceTool !== undefined }, signal)) {
    if (!hasBegun) onEvent({ type: 'counting', soFar: counts });
    hasBegun = true;
    if (part.type === 'text') addText(content, part.text, onEvent);
    else if (part.type === 'other') onEvent({ type: 'alive' });
    else addCall(content, part, ids, onEvent);
  }
  signal.throwIfAborted();
  return {
    content,
    stopReason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
    ...counts(),
  };
}

function addText(content: AssistantBlock[], text: string, onEvent: (event: ModelStreamEvent) => void): void {
  if (text === '') return;
  const last = content.at(-1);
  if (last?.type === 'text') last.text += text;
  else content.push({ type: 'text', text });
  onEvent({ type: 'text', text });
}

/** A provider may name no call, or two by one name; each gets an id of its own in this conversation. */
function addCall(
  content: AssistantBlock[],
  part: LmCall,
  ids: Set<string>,
  onEvent: (event: ModelStreamEvent) => void,
): void {
  const id = ID.test(part.id) && !ids.has(part.id) ? part.id : `call_${randomUUID()}`;
  ids.add(id);
  onEvent({ type: 'tool_start', id, name: part.name });
  if (!isObject(part.input)) {
    const inputError = 'The input of this call is not a JSON object. Call the tool again with one.';
    content.push({ type: 'tool_use', id, name: part.name, input: {}, inputError });
    return;
  }
  onEvent({ type: 'tool_input', id, json: JSON.stringify(part.input) });
  content.push({ type: 'tool_use', id, name: part.name, input: part.input });
}

function idsIn({ messages }: ModelRequest): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
  );
}
