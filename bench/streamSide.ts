/**
 * So many streams at once, each a slow answer in many pieces. Arguments: URL, workspace, storage, and `team` (through
 * the whole core) or `bare` (the SDK alone).
 */
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropicModel } from '../src/model/anthropic';
import { argument, report } from './support/child';
import { API_KEY, MEMBERS, MODEL, memberName, promptOf } from './support/load';
import { metered } from './support/meter';
import { nodding } from './support/models';
import type { StreamReport } from './support/reports';
import { IDLE_TIMEOUT_MS, openTeam } from './support/team';

const [url, variant] = [argument(0, 'URL'), argument(3, 'variant')];
const names = Array.from({ length: MEMBERS }, (_, index) => memberName(index));

async function team(): Promise<StreamReport> {
  const folder = { workspace: argument(1, 'workspace'), storage: argument(2, 'storage') };
  const model = createAnthropicModel({ apiKey: API_KEY, baseUrl: url, model: MODEL });
  const core = await openTeam(folder, (member) => (member === 'lead' ? nodding : model));
  let pieces = 0;
  core.on((event) => {
    if (event.type === 'text' && event.member !== 'lead') pieces++;
  });
  const usage = await metered(async () => {
    await Promise.all(
      names.map((name) => core.spawn({ name, role: 'reader', prompt: promptOf(name) }, 'human')),
    );
    await core.whenIdle(IDLE_TIMEOUT_MS);
  });
  await core.dispose();
  return { ...usage, pieces };
}

async function bare(): Promise<StreamReport> {
  const client = new Anthropic({ apiKey: API_KEY, baseURL: url });
  let pieces = 0;
  const stream = async (name: string): Promise<void> => {
    const events = await client.messages.create({
      model: MODEL,
      max_tokens: 16_384,
      stream: true,
      messages: [{ role: 'user', content: promptOf(name) }],
    });
    for await (const event of events) if (event.type === 'content_block_delta') pieces++;
  };
  const usage = await metered(async () => {
    await Promise.all(names.map(stream));
  });
  return { ...usage, pieces };
}

report(variant === 'team' ? team : bare);
