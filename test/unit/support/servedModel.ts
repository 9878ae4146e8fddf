import { createAnthropicModel } from '../../../src/model/anthropic';
import type { ModelRequest, ModelStreamEvent } from '../../../src/model/port';
import {
  type Brain,
  type ModelServer,
  type ModelServerOptions,
  type Reply,
  startModelServer,
} from '../../model-server';

export const KEY = 'sk-ant-test-0123456789abcdef';

const bash = { name: 'bash', description: 'Runs a command', inputSchema: { type: 'object', properties: {} } };

export const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  member: 'alice',
  system: 'You are alice.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [bash],
  ...more,
});

/** The adapter and a server of the test's own for it, which is closed after each test. */
export function servedModel() {
  let server: ModelServer;
  const model = (more: Partial<Parameters<typeof createAnthropicModel>[0]> = {}) =>
    createAnthropicModel({ apiKey: KEY, baseUrl: server.url, model: 'm-1', ...more });
  afterEach(() => server.close());
  return {
    get server(): ModelServer {
      return server;
    },
    model,
    /** Starts a server that always answers so. */
    async serve(reply: Reply | Brain, options: Partial<ModelServerOptions> = {}): Promise<void> {
      server = await startModelServer({
        brain: typeof reply === 'function' ? reply : () => reply,
        key: KEY,
        ...options,
      });
    },
    async ask(more: Partial<ModelRequest> = {}) {
      const events: ModelStreamEvent[] = [];
      const reply = await model().call(request(more), (e) => events.push(e), new AbortController().signal);
      return { reply, events };
    },
  };
}
