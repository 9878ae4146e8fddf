import * as assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MergeMode } from '../../src/agent/reviewApi';
import { ReviewRefusal } from '../../src/workspace/git/refusal';
import { GitReview } from '../../src/workspace/git/review';
import { type GitRepo, lines, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

describe('an acceptance that fails on its way', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  let tree: GitRepo;
  beforeEach(async () => {
    repo = await makeRepo();
    await repo.put('größe.txt', 'old\n');
    await repo.put('d/one', 'one\n');
    repo.commit('more');
    tree = repo.at('.team/worktrees/t1');
  });
  afterEach(() => repo.remove());

  const withWork = async () => {
    const life = begin(repo, []);
    await life.team.board.create({ subject: 'One', description: '' }, 'lead');
    await life.team.worktrees.create('t1', 'lead');
    await tree.put('src/a.ts', lines(2, 30));
    await tree.put('größe.txt', 'new\n');
    await tree.put('new.txt', 'new\n');
    await rm(join(tree.root, 'd'), { recursive: true });
    await tree.put('d', 'a file\n');
    return life;
  };
  type Life = Awaited<ReturnType<typeof withWork>>;

  const fails = async ({ reviews }: Life, mode: MergeMode = 'commit'): Promise<ReviewRefusal> => {
    const { revision } = await reviews.reviewWork('t1');
    try {
      await reviews.acceptWork('t1', { everything: revision }, { mode });
    } catch (error) {
      assert.ok(error instanceof ReviewRefusal, String(error));
      assert.equal(error.code, 'git');
      return error;
    }
    return assert.fail('It was accepted.');
  };
  const outcomes = ({ team }: Life) => team.board.get('t1').worktree?.accepted.map(({ outcome }) => outcome);
  const subjects = (): string[] => repo.git('log', '--format=%s').split('\n');
  const unlock = (name: string): Promise<void> => rm(join(repo.root, '.git', name));

  it('at the lock of another git is over: no later start carries out what was sent back', async () => {
    const life = await withWork();
    await life.team.board.complete('t1', 'human', 'done');
    await repo.put('.git/index.lock', '');
    const { message, files } = await fails(life);
    assert.match(message, /was not merged, and nothing was changed: Another git command is at work/);
    assert.deepEqual(files, []);
    assert.deepEqual(outcomes(life), ['given_up']);
    await unlock('index.lock');
    assert.deepEqual(repo.status(), []);
    await life.reviews.sendBack('t1', 'No, this is wrong.');
    const again = begin(repo, life.journal.written);
    assert.deepEqual(await again.reviews.recover(), []);
    assert.deepEqual(subjects(), ['more', 'first']);
    assert.equal((await again.reviews.reviewWork('t1')).files.length, 5);
  });

  it('when the index is written and the branch does not move has left both as they were', async () => {
    const life = await withWork();
    await repo.put('mine.txt', 'mine\n');
    repo.git('add', 'mine.txt');
    await repo.put('.git/refs/heads/main.lock', '');
    assert.match((await fails(life)).message, /nothing was changed: Another git command is at work/);
    await unlock('refs/heads/main.lock');
    assert.deepEqual(repo.status(), ['A  mine.txt']);
    assert.deepEqual(outcomes(life), ['given_up']);
    const { revision } = await life.reviews.reviewWork('t1');
    await life.reviews.acceptWork('t1', { everything: revision });
    assert.deepEqual(subjects(), ['One', 'more', 'first']);
    assert.deepEqual(repo.status(), ['A  mine.txt']);
  });

  it('with files that cannot be put back is over as well, and they are named', async () => {
    await repo.put('.gitattributes', '*.ts filter=once\n');
    repo.commit('attributes');
    repo.git('config', 'filter.once.required', 'true');
    for (const way of ['clean', 'smudge']) repo.git('config', `filter.once.${way}`, 'cat');
    const life = await withWork();
    // The new content is written, the old one is not.
    repo.git('config', 'filter.once.smudge', "sed '/^line 1$/q1'");
    await repo.put('.git/index.lock', '');
    const { message, files } = await fails(life);
    assert.match(message, /may be merged in part, .*index\.lock.* It could not be taken back: .*src\/a\.ts/s);
    assert.ok(files.includes('src/a.ts'), files.join());
    assert.deepEqual(outcomes(life), ['given_up']);
  });

  it('at the next start, where a crash had cut it off, is over and taken back', async () => {
    const life = await withWork();
    const { revision } = await life.reviews.reviewWork('t1');
    life.journal.held = true;
    void life.reviews.acceptWork('t1', { everything: revision });
    await life.journal.arrived(1);
    life.journal.letThrough();
    await life.journal.arrived(1);
    // As before the index was written.
    repo.git('reset', '--quiet', 'HEAD~1');
    await repo.put('.git/index.lock', '');
    const second = begin(repo, life.journal.written);
    assert.match((await second.reviews.recover()).join(), /was cut off\. The work of t1 was not merged/);
    await unlock('index.lock');
    assert.deepEqual(repo.status(), []);
    assert.deepEqual(outcomes(second), ['given_up']);
    assert.deepEqual(await begin(repo, second.journal.written).reviews.recover(), []);
    assert.deepEqual(subjects(), ['more', 'first']);
  });

  it('is not carried out after it could not even be looked at, and the human has decided anew', async () => {
    const life = await withWork();
    await life.team.board.complete('t1', 'human', 'done');
    const { revision } = await life.reviews.reviewWork('t1');
    life.journal.held = true;
    void life.reviews.acceptWork('t1', { everything: revision });
    await life.journal.arrived(1);
    life.journal.letThrough();
    await life.journal.arrived(1);
    repo.git('reset', '--quiet', '--hard', 'HEAD~1');
    class Blind extends GitReview {
      override hasLanded(): Promise<boolean> {
        return Promise.reject(new Error('git was not found.'));
      }
    }
    const second = begin(repo, life.journal.written, undefined, new Blind(repo.root));
    assert.match((await second.reviews.recover()).join(), /could not be taken up: git was not found/);
    assert.deepEqual(outcomes(second), [undefined]);
    await second.reviews.sendBack('t1', 'No, this is wrong.');
    assert.deepEqual(outcomes(second), ['given_up']);
    assert.deepEqual(await begin(repo, second.journal.written).reviews.recover(), []);
    assert.deepEqual(subjects(), ['more', 'first']);
  });
});
