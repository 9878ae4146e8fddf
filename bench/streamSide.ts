/**
 * So many streams at once, each a slow answer in many pieces. Arguments: URL, workspace, storage, and `team` (through
 * the whole core) or `bare` (the SDK alone). Measured is what the streams cost, from when all of them have begun: the
 * start of so many teammates, or of so many connections, is another thing.
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

/** Counts pieces, and resolves when each stream has brought one. */
class Pieces {
  count = 0;
  readonly #begun = new Set<string>();
  #tell: () => void = () => undefined;
  readonly allBegun = new Promise<void>((resolve) => {
    this.#tell = resolve;
  });

  add(name: string): void {
    this.count++;
    if (this.#begun.size === MEMBERS) return;
    this.#begun.add(name);
    if (this.#begun.size === MEMBERS) this.#tell();
  }
}

async function team(): Promise<StreamReport> {
  const folder = { workspace: argument(1, 'workspace'), storage: argument(2, 'storage') };
  const model = createAnthropicModel({ apiKey: API_KEY, baseUrl: url, model: MODEL });
  const core = await openTeam(folder, (member) => (member === 'lead' ? nodding : model));
  const pieces = new Pieces();
  core.on((event) => {
    if (event.type === 'text' && event.member !== 'lead') pieces.add(event.member);
  });
  await Promise.all(
    names.map((name) => core.spawn({ name, role: 'reader', prompt: promptOf(name) }, 'human')),
  );
  const idle = core.whenIdle(IDLE_TIMEOUT_MS);
  await Promise.race([pieces.allBegun, idle]);
  const usage = await metered(() => idle);
  await core.dispose();
  return { ...usage, pieces: pieces.count };
}

async function bare(): Promise<StreamReport> {
  const client = new Anthropic({ apiKey: API_KEY, baseURL: url });
  const pieces = new Pieces();
  const stream = async (name: string): Promise<void> => {
    const events = await client.messages.create({
      model: MODEL,
      max_tokens: 16_384,
      stream: true,
      messages: [{ role: 'user', content: promptOf(name) }],
    });
    for await (const event of events) if (event.type === 'content_block_delta') pieces.add(name);
  };
  const streams = Promise.all(names.map(stream));
  await Promise.race([pieces.allBegun, streams]);
  const usage = await metered(async () => void (await streams));
  return { ...usage, pieces: pieces.count };
}

report(variant === 'team' ? team : bare);
