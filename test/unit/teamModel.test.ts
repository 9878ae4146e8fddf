import * as assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { histories, type TeamStep } from './support/teamHistory';
import { TeamPlay } from './support/teamPlay';

const RUNS = Number(process.env.HANDSHAKE_RUNS ?? 20_000);
const seed = Number(process.env.HANDSHAKE_SEED ?? Date.now() & 0x7fffffff);

/** What a crash left of a worktree cannot be cleared away: found once, in 5,392 histories of one seed. */
const cutOffAndNotCleared: TeamStep[] = [
  { op: 'makeWorktree', task: 0, by: 'lead', how: 'slow' },
  { op: 'wait' },
  { op: 'wait' },
  { op: 'crash', snapshot: false },
  { op: 'makeWorktree', task: 0, by: 'lead', how: 'fails' },
  { op: 'recoverWorktrees' },
];

describe('the team core, model-based', function () {
  this.timeout(600_000);

  it(`keeps its promises in ${RUNS} random histories with failing writes and crashes (seed ${seed})`, async () => {
    const reached = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        const play = new TeamPlay();
        await play.play(steps);
        for (const end of play.reached()) reached.set(end, (reached.get(end) ?? 0) + 1);
      }),
      { numRuns: RUNS, seed, examples: [[cutOffAndNotCleared]] },
    );
    // A test of machines that never moved would show nothing; in a short run the rarest moves may be missing.
    const least = Math.floor(RUNS / 1000);
    for (const kind of ['shutdown', 'plan_approval', 'tool_permission', 'team_proposal']) {
      for (const end of ['approved', 'rejected', 'cancelled']) {
        const times = [...reached].filter(([key]) => key.startsWith(`${kind} ${end}`));
        const sum = times.reduce((total, [, count]) => total + count, 0);
        assert.ok(sum >= least, `${kind} ${end}: ${sum}`);
      }
    }
    for (const change of ['created', 'updated', 'claimed', 'released', 'completed', 'worktree', 'review']) {
      const sum = reached.get(`task ${change}`) ?? 0;
      assert.ok(sum >= least, `task ${change}: ${sum}`);
    }
  });
});
