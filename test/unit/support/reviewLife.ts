import { TaskReviews } from '../../../src/agent/taskReviews';
import { Ledger } from '../../../src/team/ledger';
import type { TeamRecord } from '../../../src/team/records';
import { Team } from '../../../src/team/team';
import type { WorktreeGit } from '../../../src/team/worktree';
import { GitReview } from '../../../src/workspace/git/review';
import { GitWorktrees } from '../../../src/workspace/git/worktrees';
import { createNodeWorkspace } from '../../../src/workspace/node';
import type { GitRepo } from './gitRepo';
import { coreSettings, countingClock, HeldJournal } from './heldJournal';

/** One life of a team over a repository: it is dead when nothing of its journal goes on. */
export function begin(
  repo: GitRepo,
  records: readonly TeamRecord[],
  git: WorktreeGit = new GitWorktrees(repo.root),
  review = new GitReview(repo.root),
  isHeld = () => true,
) {
  const journal = new HeldJournal();
  journal.written.push(...records);
  const clock = countingClock();
  const ledger = new Ledger(
    journal,
    () => ({ t: 'team', team_id: 'team-1', team_name: 'work', at: 0 }),
    (error) => {
      throw error;
    },
  );
  ledger.replay(
    records.map((record) => ({ record })),
    0,
  );
  const team = new Team(ledger, clock, () => coreSettings(), git);
  const reviews = new TaskReviews({
    team,
    clock,
    settings: () => ({ merge: 'commit', checkCommand: '' }),
    workspace: createNodeWorkspace(repo.root),
    worktrees: new GitWorktrees(repo.root),
    review,
    run: (work) => work(),
    isHeld,
  });
  return { journal, team, reviews };
}
