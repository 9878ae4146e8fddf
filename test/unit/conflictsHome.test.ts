import * as assert from 'node:assert/strict';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type MergeMode, WorktreeRefusal } from '../../src/agent/reviewApi';
import { ReviewRefusal } from '../../src/workspace/git/refusal';
import { type GitRepo, lines, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

describe('work that came home with conflicts', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  let tree: GitRepo;
  beforeEach(async () => {
    repo = await makeRepo();
    await repo.put('logo.bin', Buffer.from([0, 1, 2, 3]));
    await symlink('first', join(repo.root, 'link'));
    repo.commit('more');
    tree = repo.at('.team/worktrees/t1');
  });
  afterEach(() => repo.remove());

  const withTask = async () => {
    const life = begin(repo, []);
    await life.team.board.create({ subject: 'One', description: '' }, 'lead');
    await life.team.worktrees.create('t1', 'lead');
    return life;
  };
  type Life = Awaited<ReturnType<typeof withTask>>;

  const shown = async ({ reviews }: Life) => (await reviews.reviewWork('t1')).files.map(({ path }) => path);
  const accept = async ({ reviews }: Life, mode: MergeMode = 'commit') => {
    const { revision } = await reviews.reviewWork('t1');
    return reviews.acceptWork('t1', { everything: revision }, { mode });
  };
  const outcomes = ({ team }: Life) => team.board.get('t1').worktree?.accepted.map(({ outcome }) => outcome);
  /** What it is told that a removal would take; then it is still there. */
  const unmerged = async ({ reviews }: Life): Promise<readonly string[]> => {
    try {
      await reviews.removeWorktree('t1');
    } catch (error) {
      assert.ok(error instanceof WorktreeRefusal, String(error));
      return error.report.unmerged;
    }
    return assert.fail('It was removed without a word.');
  };
  const relink = async (of: GitRepo, target: string): Promise<void> => {
    await rm(join(of.root, 'link'));
    await symlink(target, join(of.root, 'link'));
  };

  /** Both sides of files in which git can leave no marks. */
  const kinds: Record<string, { path: string; work(): Promise<void>; main(): Promise<void> }> = {
    'a binary file': {
      path: 'logo.bin',
      work: () => tree.put('logo.bin', Buffer.from([0, 7])),
      main: () => repo.put('logo.bin', Buffer.from([0, 9])),
    },
    'a binary file that is new on both sides': {
      path: 'new.bin',
      work: () => tree.put('new.bin', Buffer.from([0, 7])),
      main: () => repo.put('new.bin', Buffer.from([0, 9])),
    },
    'a link': {
      path: 'link',
      work: () => relink(tree, 'theirs'),
      main: () => relink(repo, 'mine'),
    },
    'a file that is deleted in the work and changed here': {
      path: 'src/a.ts',
      work: () => rm(join(tree.root, 'src/a.ts')),
      main: () => repo.put('src/a.ts', 'mine\n'),
    },
    'a file that is changed in the work and deleted here': {
      path: 'src/a.ts',
      work: () => tree.put('src/a.ts', 'theirs\n'),
      main: () => rm(join(repo.root, 'src/a.ts')),
    },
  };

  for (const mode of ['commit', 'uncommitted'] as const) {
    for (const [kind, { path, work, main }] of Object.entries(kinds)) {
      it(`of ${kind} is reviewed again once it was taken back, and named before it is removed (${mode})`, async () => {
        const life = await withTask();
        await life.team.board.complete('t1', 'human', 'done');
        await work();
        await main();
        repo.commit('mine');
        assert.deepEqual((await accept(life, mode)).conflicts, [path]);
        assert.deepEqual(await shown(life), [], 'the user is at it');
        assert.deepEqual(await unmerged(life), [path], 'it can still be taken back');
        repo.git('reset', '--quiet', '--merge');
        assert.deepEqual(await shown(life), [path]);
        assert.deepEqual(outcomes(life), ['conflicts']);
        assert.deepEqual(await unmerged(life), [path]);
        // What the user commits elsewhere says nothing of it.
        await repo.put('mine.txt', 'mine\n');
        repo.commit('something else');
        assert.deepEqual(await shown(life), [path]);
        assert.deepEqual(await unmerged(life), [path]);
      });
    }

    it(`and was resolved with theirs is home (${mode})`, async () => {
      const life = await withTask();
      await tree.put('logo.bin', Buffer.from([0, 7]));
      await repo.put('logo.bin', Buffer.from([0, 9]));
      repo.commit('mine');
      await accept(life, mode);
      repo.git('checkout', '--quiet', '--theirs', 'logo.bin');
      repo.commit('theirs it is');
      assert.deepEqual(await shown(life), []);
      assert.deepEqual(outcomes(life), ['merged']);
      await life.reviews.removeWorktree('t1');
    });
  }

  it('and was resolved with ours is home once the rest is committed, and not merged a second time', async () => {
    const life = await withTask();
    await tree.put('src/a.ts', lines(1, 30).replace('line 5\n', 'theirs\n'));
    await tree.put('src/new.ts', 'new\n');
    await repo.put('src/a.ts', lines(1, 30).replace('line 5\n', 'mine\n'));
    repo.commit('mine');
    await accept(life);
    repo.git('checkout', '--quiet', '--ours', 'src/a.ts');
    repo.git('add', 'src/a.ts');
    assert.deepEqual(await shown(life), []);
    assert.deepEqual(outcomes(life), ['conflicts'], 'until it is committed');
    repo.git('commit', '--quiet', '--message', 'resolved');
    assert.deepEqual(await shown(life), []);
    assert.deepEqual(outcomes(life), ['merged']);
    await repo.put('src/new.ts', 'gone on\n');
    repo.commit('later');
    assert.deepEqual(await shown(life), []);
    await life.reviews.removeWorktree('t1');
  });

  it('and was taken back is not home because a later commit has the same in the other files', async () => {
    const life = await withTask();
    await tree.put('src/a.ts', lines(1, 30).replace('line 5\n', 'theirs\n'));
    await tree.put('src/new.ts', 'new\n');
    await repo.put('src/a.ts', lines(1, 30).replace('line 5\n', 'mine\n'));
    repo.commit('mine');
    await accept(life);
    repo.git('reset', '--quiet', '--merge');
    await repo.put('else.txt', 'else\n');
    repo.commit('something else');
    await repo.put('src/new.ts', 'new\n');
    repo.commit('the same file');
    assert.deepEqual(await unmerged(life), ['src/a.ts', 'src/new.ts']);
  });

  it('and was resolved with something of both is home once it is committed', async () => {
    const life = await withTask();
    await tree.put('src/a.ts', lines(1, 30).replace('line 5\n', 'theirs\n'));
    await tree.put('src/new.ts', 'new\n');
    await repo.put('src/a.ts', lines(1, 30).replace('line 5\n', 'mine\n'));
    repo.commit('mine');
    await accept(life);
    await repo.put('src/a.ts', lines(1, 30).replace('line 5\n', 'both\n'));
    repo.commit('resolved');
    assert.deepEqual(await shown(life), []);
    await life.reviews.removeWorktree('t1');
  });

  it('and was taken back is reviewed again, also when the user has committed elsewhere in its files', async () => {
    const life = await withTask();
    await tree.put('src/a.ts', lines(1, 30).replace('line 5\n', 'theirs\n'));
    await repo.put('src/a.ts', lines(1, 30).replace('line 5\n', 'mine\n'));
    repo.commit('mine');
    await accept(life);
    repo.git('reset', '--quiet', '--merge');
    await repo.put('src/a.ts', (await repo.text('src/a.ts')).replace('line 25\n', 'mine too\n'));
    repo.commit('later');
    assert.deepEqual(await shown(life), ['src/a.ts']);
    assert.deepEqual(await unmerged(life), ['src/a.ts']);
  });

  describe('where one side has a folder in the place of a file', () => {
    const refused = async (life: Life, mode: MergeMode, text: RegExp): Promise<void> => {
      const before = [repo.git('rev-parse', 'HEAD'), repo.status()];
      await assert.rejects(accept(life, mode), (error) => {
        assert.ok(error instanceof ReviewRefusal, String(error));
        assert.deepEqual(error.files, ['d']);
        assert.match(error.message, text);
        return true;
      });
      assert.deepEqual([repo.git('rev-parse', 'HEAD'), repo.status()], before);
      assert.deepEqual(outcomes(life), []);
    };

    for (const mode of ['commit', 'uncommitted'] as const) {
      it(`nothing is merged, it is named, and the rest can be taken (${mode})`, async () => {
        const life = await withTask();
        await tree.put('d/x', 'theirs\n');
        await tree.put('new.ts', 'new\n');
        await repo.put('d', 'mine\n');
        repo.commit('mine');
        await refused(life, mode, /^In the main folder, d is a file, and in the work a folder\. Rename it/);
        const { files } = await life.reviews.reviewWork('t1');
        const one = files.find(({ path }) => path === 'new.ts');
        assert.ok(one);
        const { remaining } = await life.reviews.acceptWork('t1', { files: [one.id], hunks: [] }, { mode });
        assert.equal(remaining, 1);
      });

      it(`the other way round as well (${mode})`, async () => {
        const life = await withTask();
        await tree.put('d', 'theirs\n');
        await repo.put('d/x', 'mine\n');
        repo.commit('mine');
        await refused(life, mode, /d is a folder, and in the work a file\. /);
      });
    }
  });
});
