import { describeKills } from './kills';

describeKills('a team', 'team', Number(process.env.HANDSHAKE_CRASH_POINTS ?? 300));
// git takes most of their time: fewer points, over a smaller scenario.
describeKills('worktrees', 'worktrees', Number(process.env.HANDSHAKE_CRASH_WORKTREE_POINTS ?? 20));
