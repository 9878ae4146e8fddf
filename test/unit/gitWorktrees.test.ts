import assert from 'node:assert/strict';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryOf } from '../../src/workspace/git/repository';
import { GitWorktrees } from '../../src/workspace/git/worktrees';
import { WorkspaceError } from '../../src/workspace/port';
import { type GitRepo, makeRepo } from './support/gitRepo';

describe('git worktrees', function () {
  this.timeout(60_000);

  const made: GitRepo[] = [];
  const repoWith = async (...args: Parameters<typeof makeRepo>): Promise<GitRepo> => {
    const repo = await makeRepo(...args);
    made.push(repo);
    return repo;
  };
  const branches = (repo: GitRepo): string[] =>
    repo.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');

  afterEach(async () => {
    for (const repo of made.splice(0)) await repo.remove();
  });

  it('makes one on a branch of its own, and leaves the main checkout clean', async () => {
    const repo = await repoWith();
    const worktrees = new GitWorktrees(repo.root);
    const plan = await worktrees.plan('t1');
    assert.deepEqual(plan, {
      path: '.team/worktrees/t1',
      branch: 'handshake/t1',
      base: repo.git('rev-parse', 'HEAD'),
      baseName: 'main',
      notes: [],
    });
    await worktrees.make(plan);
    assert.equal(await worktrees.problem(plan.path, plan.branch), undefined);
    assert.deepEqual(repo.status(), []);
    assert.equal(await repo.at(plan.path).text('readme.md'), 'one\ntwo\nthree\n');
    assert.equal(repo.at(plan.path).git('branch', '--show-current'), 'handshake/t1');
  });

  it('works in the same subfolder where the workspace is a part of a repository', async () => {
    const repo = await repoWith();
    await repo.put('packages/app one/x.ts', 'x\n');
    repo.commit('a package');
    const worktrees = new GitWorktrees(join(repo.root, 'packages/app one'));
    const plan = await worktrees.plan('t1');
    await worktrees.make(plan);
    const folder = await worktrees.workFolderOf(plan.path);
    assert.equal(folder, join(repo.root, 'packages/app one/.team/worktrees/t1/packages/app one/'));
    assert.equal(await readFile(join(folder, 'x.ts'), 'utf8'), 'x\n');
    assert.deepEqual(repo.status(), []);
  });

  it('takes paths with spaces and letters of all kinds', async () => {
    const repo = await repoWith('mein Büro 日本 $HOME "q"');
    await repo.put('ä b.txt', 'ä\n');
    repo.commit('names');
    const worktrees = new GitWorktrees(repo.root);
    const plan = await worktrees.plan('t1');
    await worktrees.make(plan);
    assert.equal(await worktrees.problem(plan.path, plan.branch), undefined);
    await worktrees.remove(plan.path, plan.branch);
    assert.deepEqual(branches(repo), ['main']);
    assert.deepEqual(repo.git('worktree', 'list').split('\n').length, 1);
  });

  it('begins at the commit of a detached HEAD, or at the base that is named', async () => {
    const repo = await repoWith();
    const first = repo.git('rev-parse', 'HEAD');
    await repo.put('readme.md', 'changed\n');
    repo.commit('second');
    repo.git('checkout', '--quiet', '--detach', first);
    const worktrees = new GitWorktrees(repo.root);
    const detached = await worktrees.plan('t1');
    assert.equal(detached.base, first);
    assert.equal(detached.baseName, first.slice(0, 10));
    await worktrees.make(detached);
    const named = await worktrees.plan('t2', 'main');
    await worktrees.make(named);
    assert.equal(await repo.at(named.path).text('readme.md'), 'changed\n');
    await assert.rejects(worktrees.plan('t3', '--orphan'), /There is no commit or branch '--orphan'/);
  });

  it('refuses where there is nothing to begin at, and says why', async () => {
    const empty = await repoWith('empty', { empty: true });
    await assert.rejects(new GitWorktrees(empty.root).plan('t1'), /has no commit yet\. Make a first commit/);
    const plain = join(empty.root, '..', 'plain');
    await mkdir(plain);
    await assert.rejects(new GitWorktrees(plain).plan('t1'), (error) => {
      assert.ok(error instanceof WorkspaceError);
      assert.match(error.message, /is not in a git repository\. Run 'git init'/);
      return true;
    });
    const path = process.env.PATH;
    process.env.PATH = plain;
    try {
      await assert.rejects(new GitWorktrees(empty.root).plan('t1'), /git was not found.*Install git/);
    } finally {
      process.env.PATH = path;
    }
  });

  it('says that uncommitted changes are not in it, and leaves a dirty index as it is', async () => {
    const repo = await repoWith();
    await repo.put('staged.txt', 's\n');
    repo.git('add', 'staged.txt');
    await repo.put('readme.md', 'mine\n');
    const worktrees = new GitWorktrees(repo.root);
    const plan = await worktrees.plan('t1');
    await worktrees.make(plan);
    assert.match(plan.notes.join(' '), /not committed in the main folder is not in it/);
    assert.deepEqual(repo.status(), [' M readme.md', 'A  staged.txt']);
    assert.equal(await repo.at(plan.path).text('readme.md'), 'one\ntwo\nthree\n');
  });

  it('takes another name where branch or folder are there from before, and says so', async () => {
    const repo = await repoWith();
    repo.git('branch', 'handshake/t1');
    await mkdir(join(repo.root, '.team/worktrees/t1-2'), { recursive: true });
    const plan = await new GitWorktrees(repo.root).plan('t1');
    assert.equal(plan.branch, 'handshake/t1-3');
    assert.equal(plan.path, '.team/worktrees/t1-3');
    assert.match(plan.notes.join(' '), /it is left as it is, and this one is called t1-3/);
    repo.git('branch', '-D', 'handshake/t1');
    repo.git('branch', 'handshake');
    const beside = await new GitWorktrees(repo.root).plan('t1');
    assert.equal(beside.branch, 'handshake-t1');
    await new GitWorktrees(repo.root).make(beside);
  });

  it('says that submodules are empty, and removes one with a filled submodule', async () => {
    const lib = await repoWith('lib');
    const repo = await repoWith();
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', lib.root, 'lib');
    repo.commit('with a submodule');
    const worktrees = new GitWorktrees(repo.root);
    const plan = await worktrees.plan('t1');
    assert.match(plan.notes.join(' '), /submodules are empty until/);
    await worktrees.make(plan);
    const inside = repo.at(plan.path);
    inside.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    assert.equal(await inside.text('lib/readme.md'), 'one\ntwo\nthree\n');
    await worktrees.remove(plan.path, plan.branch);
    assert.equal(repo.git('worktree', 'list').split('\n').length, 1);
    assert.deepEqual(repo.status(), []);
  });

  it('runs no hook and no other program of the configuration', async () => {
    const repo = await repoWith();
    const hook = join(repo.root, '.git/hooks/post-checkout');
    await writeFile(hook, `#!/bin/sh\ntouch "${repo.root}/hooked"\n`, { mode: 0o755 });
    repo.git('config', 'core.fsmonitor', 'touch monitored; false');
    repo.git('config', 'commit.gpgsign', 'true');
    const worktrees = new GitWorktrees(repo.root);
    const plan = await worktrees.plan('t1');
    await worktrees.make(plan);
    repo.git('config', '--unset', 'core.fsmonitor');
    assert.deepEqual(repo.status(), []);
  });

  it('leaves nothing behind where the checkout fails', async () => {
    const repo = await repoWith();
    repo.git('config', 'filter.broken.clean', 'cat');
    repo.git('config', 'filter.broken.smudge', 'false');
    repo.git('config', 'filter.broken.required', 'true');
    await repo.put('.gitattributes', '*.bin filter=broken\n');
    await repo.put('x.bin', 'x\n');
    repo.commit('filtered');
    const worktrees = new GitWorktrees(repo.root);
    await assert.rejects(worktrees.make(await worktrees.plan('t1')), /git worktree failed/);
    assert.deepEqual(branches(repo), ['main']);
    assert.equal(repo.git('worktree', 'list').split('\n').length, 1);
  });

  it('goes through no link', async () => {
    const repo = await repoWith();
    const away = join(repo.root, '..', 'away');
    await mkdir(away);
    await symlink(away, join(repo.root, '.team'));
    const worktrees = new GitWorktrees(repo.root);
    await assert.rejects(worktrees.make(await worktrees.plan('t1')), /\.team is a link/);
    assert.deepEqual(branches(repo), ['main']);
  });

  describe('a broken one is named', () => {
    const broken = async (hurt: (repo: GitRepo, path: string) => Promise<void> | void): Promise<string> => {
      const repo = await repoWith();
      const worktrees = new GitWorktrees(repo.root);
      const plan = await worktrees.plan('t1');
      await worktrees.make(plan);
      await hurt(repo, plan.path);
      return (await worktrees.problem(plan.path, plan.branch)) ?? 'nothing wrong';
    };

    it('without its folder', async () => {
      assert.match(
        await broken((repo, path) => rm(join(repo.root, path), { recursive: true })),
        /the folder .* is missing or damaged/,
      );
    });
    it('without its .git file, which is where git would take the checkout around it', async () => {
      assert.match(
        await broken((repo, path) => rm(join(repo.root, path, '.git'))),
        /\.git file is missing or damaged/,
      );
    });
    it('with an empty folder in the place of .git', async () => {
      assert.match(
        await broken(async (repo, path) => {
          await rm(join(repo.root, path, '.git'));
          await mkdir(join(repo.root, path, '.git'));
        }),
        /\.git file is missing or damaged/,
      );
    });
    it('with a damaged .git file', async () => {
      assert.match(
        await broken((repo, path) => writeFile(join(repo.root, path, '.git'), 'gitdir: nowhere\n')),
        /the \.git file of .* is damaged/,
      );
    });
    it('with another branch checked out', async () => {
      assert.match(
        await broken((repo, path) => void repo.at(path).git('checkout', '--quiet', '-b', 'other')),
        /other is checked out in .* instead of handshake\/t1/,
      );
    });
    it('without its branch', async () => {
      assert.match(
        await broken((repo) => void repo.git('update-ref', '-d', 'refs/heads/handshake/t1')),
        /branch handshake\/t1 was deleted/,
      );
    });
    it('but not in the middle of a rebase of its own', async () => {
      const found = await broken(async (repo, path) => {
        await repo.put('readme.md', 'mine\n');
        repo.commit('mine');
        await repo.at(path).put('readme.md', 'theirs\n');
        repo.at(path).commit('theirs');
        assert.throws(() => repo.at(path).git('rebase', 'main'));
      });
      assert.equal(found, 'nothing wrong');
    });
  });

  it('finds the repository of a folder, and its place in it', async () => {
    const repo = await repoWith();
    assert.deepEqual(await repositoryOf(join(repo.root, 'src')), { root: repo.root, prefix: 'src/' });
  });
});
