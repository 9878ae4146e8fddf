import { openCore } from '../../src/agent/core';
import type { Core } from '../../src/agent/coreApi';
import { CallLimiter } from '../../src/model/limiter';
import type { LanguageModel } from '../../src/model/port';
import { memoryVault } from '../../src/store';
import { createNodeWorkspace } from '../../src/workspace/node';
import { testSettings } from '../../test/unit/support/settings';

/** Long enough for a slow machine; the bench itself sets no limit. */
export const IDLE_TIMEOUT_MS = 600_000;

/**
 * A whole team over real files, as the extension opens it. What it reports as gone wrong fails the script:
 * figures of a broken run would mean nothing.
 */
export async function openTeam(
  folder: { workspace: string; storage: string },
  modelOf: (member: string) => LanguageModel,
): Promise<Core> {
  const fail = (text: string): void => {
    console.error(text);
    process.exitCode = 1;
  };
  const core = await openCore({
    workspace: createNodeWorkspace(folder.workspace),
    storageDir: folder.storage,
    vault: memoryVault(),
    settings: () => testSettings({ maxTurns: 1_000_000, requestDeadlineMs: 3_600_000 }),
    // All at once, as the bare loops beside it.
    limiter: new CallLimiter({ maxConcurrentCalls: () => 64 }),
    languageModel: async (member) => modelOf(member),
    log: (level, text) => {
      if (level === 'error') fail(text);
    },
  });
  core.on((event) => {
    if (event.type === 'notice') fail(event.text);
    if (event.type === 'turn_ended' && event.error) fail(event.error.text);
  });
  return core;
}
