import type { CoreSettings } from '../../../src/team/settings';

/** Settings as users have them by default, but for what a test says. */
export function testSettings(own: Partial<CoreSettings> = {}): CoreSettings {
  return {
    approvals: { plan: 'either', permission: 'human', team: 'human' },
    permissionMode: 'ask',
    maxTurns: 50,
    requestDeadlineMs: 600_000,
    resume: 'ask',
    ...own,
  };
}
