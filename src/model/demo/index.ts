/**
 * The demo: a source of words that needs no key and no network. It speaks through the same port as every
 * model, streamed, so that all above it is the real thing.
 */

import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import type { AssistantBlock, LanguageModel, ModelReply, ModelRequest, ModelStreamEvent } from '../port';
import { demoReply } from './reply';

export { type DemoRequest, demoReply } from './reply';

export interface DemoModelOptions {
  /** Milliseconds between two pieces of the stream; default 20, and 0 for none. */
  chunkDelayMs?: number;
}

const PIECE = 16;

export function createDemoModel({ chunkDelayMs = 20 }: DemoModelOptions = {}): LanguageModel {
  const pause = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    try {
      if (chunkDelayMs > 0) await sleep(chunkDelayMs, undefined, { signal });
      else await nextTick(undefined, { signal });
    } catch (error) {
      // The timer throws an error of its own; the caller waits for the reason it gave.
      signal.throwIfAborted();
      throw error;
    }
  };
  return {
    label: 'Demo',
    isDemo: true,
    async call(request, onEvent, signal) {
      await pause(signal);
      const content = demoReply(request);
      for (const event of pieces(content)) {
        onEvent(event);
        await pause(signal);
      }
      return reply(request, content);
    },
  };
}

function* pieces(content: readonly AssistantBlock[]): Generator<ModelStreamEvent> {
  for (const block of content) {
    if (block.type === 'text') {
      for (const text of cut(block.text)) yield { type: 'text', text };
    } else if (block.type === 'tool_use') {
      yield { type: 'tool_start', id: block.id, name: block.name };
      for (const json of cut(JSON.stringify(block.input))) yield { type: 'tool_input', id: block.id, json };
    }
  }
}

/** Pieces of at most 16 characters, never inside one. */
function* cut(text: string): Generator<string> {
  const characters = [...text];
  for (let i = 0; i < characters.length; i += PIECE) yield characters.slice(i, i + PIECE).join('');
}

function reply(request: ModelRequest, content: AssistantBlock[]): ModelReply {
  const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);
  return {
    content,
    stopReason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
    usage: { input: tokens(request.messages), output: tokens(content), cacheRead: 0, cacheWrite: 0 },
    model: 'demo',
  };
}
