import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorktreeRefusal, type WorktreeReport } from '../../src/agent/reviewApi';
import { GitReview, type Work } from '../../src/workspace/git/review';
import { GitWorktrees } from '../../src/workspace/git/worktrees';
import { type GitRepo, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

describe('removing a worktree', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  let tree: GitRepo;
  beforeEach(async () => {
    repo = await makeRepo();
    await repo.put('.gitignore', 'node_modules/\n.env*\nnotes/\n*.log\n');
    repo.commit('what is ignored');
    tree = repo.at('.team/worktrees/t1');
  });
  afterEach(() => repo.remove());

  const withTask = async (review?: GitReview) => {
    const life = begin(repo, [], undefined, review);
    await life.team.board.create({ subject: 'One', description: '' }, 'lead');
    await life.team.worktrees.create('t1', 'lead');
    return life;
  };
  type Life = Awaited<ReturnType<typeof withTask>>;

  /** What it is refused with; then it is still there. */
  const refused = async ({ reviews }: Life): Promise<{ report: WorktreeReport; message: string }> => {
    try {
      await reviews.removeWorktree('t1');
    } catch (error) {
      assert.ok(error instanceof WorktreeRefusal, String(error));
      assert.deepEqual(repo.branches(), ['handshake/t1', 'main']);
      return error;
    }
    return assert.fail('It was removed without a word.');
  };
  const acceptAll = async ({ reviews }: Life): Promise<void> => {
    const { revision } = await reviews.reviewWork('t1');
    await reviews.acceptWork('t1', { everything: revision });
  };
  const removes = async ({ reviews, team }: Life, force = false): Promise<void> => {
    await reviews.removeWorktree('t1', { force });
    assert.equal(team.board.get('t1').worktree, undefined);
    assert.deepEqual(repo.branches(), ['main']);
  };

  it('says which commits were never accepted, though the files are as they were', async () => {
    const life = await withTask();
    await tree.put('src/b.ts', 'work\n');
    tree.commit('half of it');
    await rm(join(tree.root, 'src/b.ts'));
    const { report, message } = await refused(life);
    assert.deepEqual(report.commits, ['half of it']);
    assert.deepEqual([report.unmerged, report.uncommitted, report.ignored], [[], ['src/b.ts'], []]);
    assert.match(message, /commits on no other branch: half of it/);
    await removes(life, true);
  });

  it('counts no commit that was accepted, and those that came after', async () => {
    const life = await withTask();
    await tree.put('src/b.ts', 'work\n');
    tree.commit('the work');
    await acceptAll(life);
    assert.deepEqual((await life.reviews.inspectWorktree('t1')).commits, []);
    tree.git('commit', '--quiet', '--allow-empty', '--message', 'a later thought');
    assert.deepEqual((await refused(life)).report.commits, ['a later thought']);
    tree.git('reset', '--quiet', '--hard', 'HEAD~1');
    await removes(life);
    assert.equal(await repo.text('src/b.ts'), 'work\n');
  });

  it('counts a commit again when its acceptance was taken back, and one that another branch has not at all', async () => {
    const life = await withTask();
    await tree.put('src/b.ts', 'work\n');
    tree.commit('the work');
    await acceptAll(life);
    repo.git('reset', '--quiet', '--hard', 'HEAD~1');
    const { report } = await refused(life);
    assert.deepEqual([report.unmerged, report.commits], [['src/b.ts'], ['the work']]);
    repo.git('tag', 'kept', 'handshake/t1');
    assert.deepEqual((await refused(life)).report.commits, []);
  });

  it('counts the commits of a rebase that has stopped', async () => {
    const life = await withTask();
    await tree.put('readme.md', 'theirs\n');
    tree.commit('the work');
    await repo.put('readme.md', 'mine\n');
    repo.commit('mine');
    tree.git('commit', '--quiet', '--allow-empty', '--message', 'last');
    assert.throws(() => tree.git('rebase', 'main'));
    await tree.put('readme.md', 'both\n');
    tree.commit('in between');
    assert.deepEqual((await refused(life)).report.commits.toSorted(), ['in between', 'last', 'the work']);
  });

  it("runs no program of the user's to look at signatures", async () => {
    const life = await withTask();
    await tree.put('src/b.ts', 'work\n');
    tree.commit('signed');
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----';
    const text = tree.git('cat-file', 'commit', 'HEAD').replace('\n\n', `\n${signature}\n\n`);
    await repo.put('.git/signed', `${text}\n`);
    const signed = repo.git('hash-object', '-t', 'commit', '-w', join(repo.root, '.git/signed'));
    tree.git('update-ref', 'HEAD', signed);
    const [program, ran] = [join(repo.root, '.git/gpg'), join(repo.root, '.git/gpg-ran')];
    await writeFile(program, `#!/bin/sh\ntouch '${ran}'\nexit 1\n`, { mode: 0o755 });
    repo.git('config', 'gpg.program', program);
    repo.git('config', 'log.showSignature', 'true');
    assert.deepEqual((await refused(life)).report.commits, ['signed']);
    assert.equal(existsSync(ran), false);
    // It would run.
    repo.git('log', '-1', signed);
    assert.equal(existsSync(ran), true);
  });

  it('names ignored files that are nowhere else, and not what a program makes anew', async () => {
    const life = await withTask();
    await tree.put('node_modules/x/index.js', 'x\n');
    await tree.put('src/node_modules/x/index.js', 'x\n');
    await tree.put('npm.log', 'x\n');
    await tree.put('.env', 'KEY=1\n');
    await repo.put('.env', 'KEY=1\n');
    assert.deepEqual((await life.reviews.inspectWorktree('t1')).ignored, []);
    await tree.put('notes/plan.md', 'plan\n');
    await repo.put('.env', 'KEY=2\n');
    const { report, message } = await refused(life);
    assert.deepEqual(report.ignored, ['.env', 'notes/']);
    assert.match(message, /ignored by git: \.env, notes\//);
    await repo.put('.env', 'KEY=1\n');
    await rm(join(tree.root, 'notes'), { recursive: true });
    await removes(life);
  });

  it("names ignored files of a folder .team that is not the workspace's own", async () => {
    const life = await withTask();
    await tree.put('.team/.gitignore', '*\n');
    await tree.put('.team/x.md', 'x\n');
    assert.deepEqual((await life.reviews.inspectWorktree('t1')).uncommitted, []);
    await tree.put('docs/.team/.gitignore', '*\n');
    await tree.put('docs/.team/people.md', 'people\n');
    const { ignored } = (await refused(life)).report;
    assert.ok(ignored.length > 0 && ignored.every((path) => path.startsWith('docs/.team/')), ignored.join());
    await removes(life, true);
  });

  describe('with a submodule', () => {
    let lib: GitRepo;
    let origin: GitRepo;
    let life: Life;
    const file = ['-c', 'protocol.file.allow=always'];
    beforeEach(async () => {
      origin = await makeRepo('lib');
      await origin.put('.gitignore', '.env\nnode_modules/\n');
      origin.commit('what is ignored');
      repo.git(...file, 'submodule', '--quiet', 'add', origin.root, 'lib');
      repo.commit('lib');
      life = await withTask();
      tree.git(...file, 'submodule', '--quiet', 'update', '--init');
      lib = tree.at('lib');
      lib.git('config', 'user.name', 'Ada');
      lib.git('config', 'user.email', 'ada@example.com');
    });
    afterEach(() => origin.remove());

    it('as it came counts nothing', async () => {
      await lib.put('node_modules/x.js', 'x\n');
      assert.deepEqual((await life.reviews.reviewWork('t1')).changedSubmodules, []);
      await removes(life);
    });

    it('names what is changed, new or ignored in it; the review says that it holds something', async () => {
      await lib.put('readme.md', 'changed\n');
      await lib.put('precious.txt', 'new\n');
      await lib.put('.env', 'KEY=1\n');
      // Whatever git is told to say of it from outside.
      repo.git('config', 'submodule.lib.ignore', 'all');
      const { report, message } = await refused(life);
      assert.deepEqual(report.inSubmodules.toSorted(), ['lib/precious.txt', 'lib/readme.md']);
      assert.deepEqual(report.ignored, ['lib/.env']);
      assert.match(message, /not committed in a submodule: lib\/readme\.md, lib\/precious\.txt/);
      const { files, changedSubmodules } = await life.reviews.reviewWork('t1');
      assert.deepEqual([files, changedSubmodules], [[], ['lib']]);
      assert.equal(await lib.text('precious.txt'), 'new\n');
      await removes(life, true);
    });

    it('names its commits that are on no remote, and what is stashed in it', async () => {
      lib.git('checkout', '--quiet', '-b', 'feature');
      await lib.put('work.txt', 'work\n');
      lib.commit('precious');
      lib.git('checkout', '--quiet', 'main');
      assert.deepEqual((await refused(life)).report.commits, ['lib: precious']);
      lib.git(...file, 'push', '--quiet', 'origin', 'feature');
      assert.deepEqual((await life.reviews.inspectWorktree('t1')).commits, []);
      await lib.put('readme.md', 'later\n');
      lib.git('stash', '--quiet');
      assert.match((await refused(life)).message, /commits on no other branch: lib: (WIP|index) on main/);
      lib.git('stash', 'drop', '--quiet');
      await removes(life);
    });

    it('looks into those in it as well', async () => {
      lib.git(...file, 'submodule', '--quiet', 'add', origin.root, 'inner');
      lib.commit('inner');
      await lib.at('inner').put('deep.txt', 'new\n');
      assert.deepEqual((await refused(life)).report.inSubmodules, ['lib/inner', 'lib/inner/deep.txt']);
    });
  });

  it('names the .env and the keys in a folder that a program makes, and folders that people keep', async () => {
    await repo.put('.gitignore', 'build/\ndist/\nnode_modules/\nvendor/\ntmp/\n*.pem\n');
    repo.commit('what is ignored');
    const life = await withTask();
    await tree.put('build/js/main.js', 'made\n');
    await tree.put('build/js/.env', 'KEY=1\n');
    await repo.put('build/js/.env', 'KEY=1\n');
    await tree.put('build/node_modules/x/.env.test', 'KEY=of x\n');
    await tree.put('node_modules/x/.env', 'KEY=of x\n');
    await tree.put('out/own.pem.js', 'made\n');
    tree.git('add', 'out');
    await tree.put('out/own.pem', 'key\n');
    await repo.put('out/own.pem', 'key\n');
    assert.deepEqual((await life.reviews.inspectWorktree('t1')).ignored, []);
    await repo.put('build/js/.env', 'KEY=2\n');
    await rm(join(repo.root, 'out/own.pem'));
    await tree.put('dist/.env.local', 'KEY=1\n');
    await tree.put('vendor/own.c', 'own\n');
    await tree.put('tmp/notes.md', 'notes\n');
    assert.deepEqual((await refused(life)).report.ignored.toSorted(), [
      'build/js/.env',
      'dist/.env.local',
      'out/own.pem',
      'tmp/',
      'vendor/',
    ]);
  });

  it('names what it holds with another branch or none checked out in it', async () => {
    const life = await withTask();
    tree.git('checkout', '--quiet', '-b', 'side');
    await tree.put('x.txt', 'x\n');
    tree.commit('on side');
    await tree.put('y.txt', 'y\n');
    const { reviews } = life;
    const side = await reviews.inspectWorktree('t1');
    assert.match(side.broken ?? '', /^side is checked out in .* instead of handshake\/t1$/);
    assert.deepEqual([side.uncommitted, side.unmerged, side.commits], [['y.txt'], ['x.txt', 'y.txt'], []]);
    tree.git('checkout', '--quiet', '--detach');
    await tree.put('z.txt', 'z\n');
    tree.commit('on no branch');
    const none = await reviews.inspectWorktree('t1');
    assert.deepEqual([none.uncommitted, none.commits], [[], ['on no branch']]);
    await assert.rejects(
      reviews.removeWorktree('t1'),
      /on no other branch: on no branch; it may hold more \(no branch is checked out in /,
    );
    tree.git('checkout', '--quiet', '--orphan', 'empty');
    const { broken, uncommitted } = await reviews.inspectWorktree('t1');
    assert.match(broken ?? '', /^empty is checked out/);
    assert.equal(uncommitted.includes('z.txt'), true);
  });

  it('is refused where it cannot be read, with the reason; a clear yes removes it all the same', async () => {
    const life = await withTask();
    await tree.put('sub/x.txt', 'x\n');
    tree.at('sub').git('init', '--quiet');
    assert.match((await refused(life)).message, /may hold more \('sub' in the worktree is a repository/);
    await rm(join(tree.root, 'sub/.git'), { recursive: true });
    await writeFile(join(repo.root, '.git/worktrees/t1/index'), 'no index');
    assert.match((await refused(life)).report.broken ?? '', /git status failed: .*index file/);
    await rm(join(tree.root, '.git'));
    assert.match((await refused(life)).report.broken ?? '', /\.git file is missing/);
    await removes(life, true);
    assert.equal(repo.git('worktree', 'list').split('\n').length, 1);
  });

  it('does not take it from somebody who begins in it at that moment', async () => {
    class Slow extends GitReview {
      during: () => Promise<unknown> = async () => undefined;
      override async read(...args: Parameters<GitReview['read']>): Promise<Work> {
        const work = await super.read(...args);
        await this.during();
        return work;
      }
    }
    const review = new Slow(repo.root);
    const life = await withTask(review);
    const { team, reviews } = life;
    review.during = () => team.board.assign('t1', 'lead', 'human');
    await assert.rejects(
      reviews.removeWorktree('t1'),
      /has begun to work in the worktree of t1\. Nothing was removed/,
    );
    assert.equal(team.board.get('t1').worktree?.state, 'ready');
    review.during = async () => undefined;
    assert.equal((await refused(life)).report.boundTo, 'lead');

    // The human says yes to what was told while nobody had it.
    await team.board.release('t1', 'human');
    await tree.put('src/b.ts', 'work\n');
    assert.equal((await refused(life)).report.boundTo, undefined);
    await team.board.assign('t1', 'lead', 'human');
    await assert.rejects(reviews.removeWorktree('t1', { force: true }), /has begun to work/);
    assert.equal((await refused(life)).report.boundTo, 'lead');
    await removes(life, true);
  });

  it('is never done by a clean-up of the team', async () => {
    const life = await withTask();
    await tree.put('src/b.ts', 'work\n');
    tree.commit('the work');
    await life.team.cleanUp();
    assert.equal(life.team.board.get('t1').worktree?.state, 'ready');
    assert.equal(await tree.text('src/b.ts'), 'work\n');
    // Nor does one that is to be made anew take a commit with it.
    const { base } = life.team.worktrees.ready('t1');
    await new GitWorktrees(repo.root).clear({ path: '.team/worktrees/t1', branch: 'handshake/t1', base });
    assert.deepEqual(repo.branches(), ['handshake/t1', 'main']);
    assert.equal(repo.git('show', 'handshake/t1:src/b.ts'), 'work');
  });
});

describe('accepting work whose task has a NUL in its words', function () {
  this.timeout(120_000);

  it('is a commit without it', async () => {
    const repo = await makeRepo();
    try {
      const { team, reviews } = begin(repo, []);
      await team.board.create({ subject: 'One\0Two', description: 'Three\0Four' }, 'lead');
      await team.worktrees.create('t1', 'lead');
      await repo.at('.team/worktrees/t1').put('new.txt', 'new\n');
      const { revision } = await reviews.reviewWork('t1');
      await reviews.acceptWork('t1', { everything: revision });
      assert.equal(repo.git('log', '-1', '--format=%B'), 'OneTwo\n\nThreeFour\n');
    } finally {
      await repo.remove();
    }
  });
});
