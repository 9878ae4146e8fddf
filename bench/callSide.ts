/**
 * CPU of one call after the other with the same conversation. Arguments: URL, and `adapter` (through the team's
 * limiter and the adapter), `sdk` (bare), or `sdk-http` (bare, over the adapter's own HTTP client).
 */
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropicModel } from '../src/model/anthropic';
import { nodeFetch } from '../src/model/anthropic/transport';
import { CallLimiter } from '../src/model/limiter';
import type { ConversationTurn, ModelRequest } from '../src/model/port';
import { argument, report } from './support/child';
import { API_KEY, MODEL } from './support/load';
import type { CallReport } from './support/reports';

const WARM_UP = 100;
const CALLS = 500;
const [url, variant] = [argument(0, 'URL'), argument(1, 'variant')];

const messages = Array.from({ length: 21 }, (_, index): ConversationTurn => {
  const content = [{ type: 'text' as const, text: `Turn ${index}: ${'some words of it '.repeat(40)}` }];
  return index % 2 === 0 ? { role: 'user', content } : { role: 'assistant', content };
});
const request: ModelRequest = { member: 'reader', system: 'You read.', messages, tools: [] };

function adapterCall(): () => Promise<void> {
  const model = createAnthropicModel({ apiKey: API_KEY, baseUrl: url, model: MODEL });
  const limiter = new CallLimiter({ maxConcurrentCalls: () => 8 });
  const { signal } = new AbortController();
  return async () => {
    await limiter.run({
      signal,
      resolve: async () => model,
      attempt: (_, own, alive) => model.call(request, alive, own),
      onWait: () => undefined,
    });
  };
}

function bareCall(fetch: typeof nodeFetch | undefined): () => Promise<void> {
  const client = new Anthropic({ apiKey: API_KEY, baseURL: url, ...(fetch ? { fetch } : {}) });
  const body: Anthropic.MessageCreateParamsStreaming = {
    model: MODEL,
    max_tokens: 16_384,
    stream: true,
    system: request.system,
    messages: messages.map(
      ({ role, content }): Anthropic.MessageParam => ({
        role,
        content: content.flatMap((block) => (block.type === 'text' ? [block] : [])),
      }),
    ),
  };
  return async () => {
    let text = '';
    for await (const event of await client.messages.create(body)) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
    }
    if (text === '') throw new Error('The server said nothing.');
  };
}

report(async (): Promise<CallReport> => {
  const call =
    variant === 'adapter' ? adapterCall() : bareCall(variant === 'sdk-http' ? nodeFetch : undefined);
  for (let n = 0; n < WARM_UP; n++) await call();
  const before = process.cpuUsage();
  for (let n = 0; n < CALLS; n++) await call();
  const { user, system } = process.cpuUsage(before);
  return { cpuMsPerCall: (user + system) / 1000 / CALLS };
});
