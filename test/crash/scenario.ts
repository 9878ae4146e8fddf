import type { Core } from '../../src/agent/coreApi';
import type { PermissionMode } from '../../src/team/settings';
import { initRepo } from '../unit/support/gitRepo';
import type { Mind } from './brain';
import { check } from './check';
import { Human } from './human';
import type { Home, Life } from './life';
import { minds } from './minds';
import { checkWorktrees } from './worktreeCheck';
import { WorktreeHuman } from './worktreeHuman';
import { leaveOwnChanges, worktreeMinds } from './worktreeMinds';

/** Who takes part in a team that is killed, what they do, and what must be so afterwards. */
export interface Scenario {
  readonly minds: Readonly<Record<string, Mind>>;
  readonly permissionMode: PermissionMode;
  /** Before the first life. */
  prepare(home: Home): Promise<void>;
  /** The human's part, to the end. */
  play(core: Core, root: string, said: string[]): Promise<void>;
  /** @returns what is wrong with a team at rest; `ended`: one that has come to its end */
  check(home: Home, life: Life, ended: boolean): Promise<string[]>;
}

export const SCENARIOS = {
  team: {
    minds,
    permissionMode: 'ask',
    prepare: async () => undefined,
    play: (core, root, said) => Human.play(core, root, said),
    check,
  },
  worktrees: {
    minds: worktreeMinds,
    permissionMode: 'acceptEdits',
    prepare: async ({ root }) => leaveOwnChanges(await initRepo(root)),
    play: (core) => new WorktreeHuman(core).play(),
    check: async (home, life, ended) => [
      ...(await check(home, life, ended)),
      ...(await checkWorktrees(home, life, ended)),
    ],
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;
