import type { LanguageModel, ModelReply, ModelRequest } from '../../../src/model/port';
import { text } from './scriptedModel';

/** A model that answers by a function, with all that a reply can say. */
export function answering(
  answer: (request: ModelRequest, signal: AbortSignal) => Partial<ModelReply> | Promise<Partial<ModelReply>>,
): LanguageModel & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    label: 'm-1',
    isDemo: false,
    requests,
    async call(request, onEvent, signal) {
      requests.push(structuredClone(request));
      const reply = await answer(request, signal);
      for (const block of reply.content ?? [])
        if (block.type === 'text') onEvent({ type: 'text', text: block.text });
      return {
        content: [],
        stopReason: 'end_turn',
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
        model: 'm-1',
        ...reply,
      };
    },
  };
}

export const said = (words: string): Partial<ModelReply> => ({ content: [text(words)] });
