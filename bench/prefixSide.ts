/**
 * How much of what one member's calls send was sent by the call before, in a conversation of so many calls, through
 * the whole core. Arguments: URL, workspace, storage.
 */
import * as z from 'zod';
import { createAnthropicModel } from '../src/model/anthropic';
import { nodeFetch } from '../src/model/anthropic/transport';
import { argument, report } from './support/child';
import { API_KEY, MODEL, promptOf } from './support/load';
import { nodding } from './support/models';
import type { PrefixReport } from './support/reports';
import { IDLE_TIMEOUT_MS, openTeam } from './support/team';

const marked = z.looseObject({ cache_control: z.unknown().optional() });
const sent = z.looseObject({
  tools: z.array(marked),
  system: z.array(marked),
  messages: z.array(z.object({ role: z.string(), content: z.array(marked) })),
});

/** What the endpoint reads, in the order in which it caches it: tools, system, messages; without the marks. */
function readable(body: string): string {
  const { tools, system, messages } = sent.parse(JSON.parse(body));
  const plain = (list: z.infer<typeof marked>[]) => list.map(({ cache_control: _, ...rest }) => rest);
  const turns = messages.map(({ role, content }) => ({ role, content: plain(content) }));
  return JSON.stringify([plain(tools), plain(system), turns]);
}

function commonPrefix(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

report(async (): Promise<PrefixReport> => {
  const bodies: string[] = [];
  const model = createAnthropicModel({
    apiKey: API_KEY,
    baseUrl: argument(0, 'URL'),
    model: MODEL,
    fetch: (input, init) => {
      if (typeof init?.body === 'string') bodies.push(readable(init.body));
      return nodeFetch(input, init);
    },
  });
  const folder = { workspace: argument(1, 'workspace'), storage: argument(2, 'storage') };
  const core = await openTeam(folder, (member) => (member === 'lead' ? nodding : model));
  await core.spawn({ name: 'reader', role: 'reader', prompt: promptOf('reader') }, 'human');
  await core.whenIdle(IDLE_TIMEOUT_MS);
  await core.dispose();
  let total = 0;
  let repeated = 0;
  let repeatable = 0;
  bodies.forEach((body, index) => {
    const before = bodies[index - 1];
    if (before === undefined) return;
    total += body.length;
    repeated += commonPrefix(before, body);
    // But for the brackets that close it.
    repeatable += before.length - ']}]]'.length;
  });
  return { calls: bodies.length, share: repeated / total, ofRepeatable: repeated / repeatable };
});
