import * as assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitReview } from '../../src/workspace/git/review';
import { type GitRepo, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

/** Does something at the moment before anything of the user's is changed. */
class Watched extends GitReview {
  during: () => Promise<unknown> = async () => undefined;
  override async keep(...args: Parameters<GitReview['keep']>): ReturnType<GitReview['keep']> {
    const kept = await super.keep(...args);
    await this.during();
    return kept;
  }
}

describe('an acceptance whose worktree goes meanwhile', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  let review: Watched;
  beforeEach(async () => {
    repo = await makeRepo();
    review = new Watched(repo.root);
  });
  afterEach(() => repo.remove());

  const withWork = async () => {
    const life = begin(repo, [], undefined, review);
    await life.team.board.create({ subject: 'One', description: '' }, 'lead');
    await life.team.worktrees.create('t1', 'lead');
    await repo.at('.team/worktrees/t1').put('src/b.ts', 'work\n');
    return { ...life, revision: (await life.reviews.reviewWork('t1')).revision };
  };

  it('comes to its end before the worktree is removed', async () => {
    const { reviews, team, revision } = await withWork();
    let removal: Promise<void> | undefined;
    review.during = async () => {
      removal = reviews.removeWorktree('t1', { force: true });
    };
    const { outcome, remaining } = await reviews.acceptWork('t1', { everything: revision });
    assert.deepEqual([outcome, remaining], ['merged', 0]);
    await removal;
    assert.equal(team.board.get('t1').worktree, undefined);
    assert.deepEqual([repo.branches(), repo.status()], [['main'], []]);
    assert.equal(repo.git('log', '-1', '--format=%s'), 'One');
  });

  it('is no failure where the worktree cannot be read any more', async () => {
    const { reviews, team, revision } = await withWork();
    review.during = () => rm(join(repo.root, '.team/worktrees/t1/.git'));
    const { outcome, remaining } = await reviews.acceptWork('t1', { everything: revision });
    assert.deepEqual([outcome, remaining], ['merged', 0]);
    assert.equal(team.board.get('t1').worktree?.accepted[0]?.outcome, 'merged');
    await assert.rejects(
      reviews.reviewWork('t1'),
      /The worktree of t1 cannot be used: .*\.git file is missing/,
    );
  });
});
