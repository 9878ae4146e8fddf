/**
 * The team under load: so many teammates at once, through the whole core with real files. The lead, who is
 * told of every result, thinks without a server, so that the calls are those of the other side.
 * Arguments: URL, workspace, storage.
 */
import { createAnthropicModel } from '../src/model/anthropic';
import { argument, report } from './support/child';
import { API_KEY, MEMBERS, MODEL, memberName, promptOf } from './support/load';
import { metered } from './support/meter';
import { nodding } from './support/models';
import type { LoadReport } from './support/reports';
import { IDLE_TIMEOUT_MS, openTeam } from './support/team';

report(async (): Promise<LoadReport> => {
  const folder = { workspace: argument(1, 'workspace'), storage: argument(2, 'storage') };
  const model = createAnthropicModel({ apiKey: API_KEY, baseUrl: argument(0, 'URL'), model: MODEL });
  const core = await openTeam(folder, (member) => (member === 'lead' ? nodding : model));
  let calls = 0;
  core.on((event) => {
    if (event.type === 'usage' && event.call !== undefined && event.member !== 'lead') calls++;
  });
  const usage = await metered(async () => {
    const names = Array.from({ length: MEMBERS }, (_, index) => memberName(index));
    await Promise.all(
      names.map((name) => core.spawn({ name, role: 'reader', prompt: promptOf(name) }, 'human')),
    );
    await core.whenIdle(IDLE_TIMEOUT_MS);
  });
  await core.dispose();
  return { ...usage, calls };
});
