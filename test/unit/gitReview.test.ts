import assert from 'node:assert/strict';
import { chmod, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange } from '../../src/workspace/git/diff';
import type { AcceptedPart } from '../../src/workspace/git/kept';
import { land, progressOf, takeBack } from '../../src/workspace/git/landing';
import { ReviewRefusal } from '../../src/workspace/git/refusal';
import { type Acceptance, GitReview, type MergeMode, type Work } from '../../src/workspace/git/review';
import type { Taken } from '../../src/workspace/git/selection';
import { GitWorktrees } from '../../src/workspace/git/worktrees';
import { type GitRepo, lines, makeRepo } from './support/gitRepo';

describe('work that comes home', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  let tree: GitRepo;
  let review: GitReview;
  let accepted: AcceptedPart[];

  beforeEach(async () => {
    repo = await makeRepo('mein Büro');
    tree = await worktree('t1');
    review = new GitReview(repo.root);
    accepted = [];
  });
  afterEach(() => repo.remove());

  const worktree = async (id: string): Promise<GitRepo> => {
    const worktrees = new GitWorktrees(repo.root);
    const plan = await worktrees.plan(id);
    await worktrees.make(plan);
    return repo.at(plan.path);
  };
  const read = (of = tree, parts = accepted): Promise<Work> => review.read(of.root, parts);
  const all = (work: Work): Taken[] => work.changes.map((change) => ({ change }));
  const names = (work: Work): string[] => work.changes.map(({ status, path }) => `${status} ${path}`);
  const only = (work: Work, path: string): FileChange => {
    const change = work.changes.find((one) => one.path === path);
    assert.ok(change, `${path} among ${names(work).join(', ')}`);
    return change;
  };
  const accept = async (
    taken: (work: Work) => Taken[],
    mode: MergeMode = 'commit',
    of = tree,
  ): Promise<Acceptance> => {
    const work = await read(of, of === tree ? accepted : []);
    const acceptance = await review.prepare(work, taken(work), mode, 'The task\n');
    await land(repo.root, acceptance.landing);
    if (of === tree) accepted.push(acceptance);
    return acceptance;
  };
  const refusedAs =
    (code: string, files: readonly string[] = []) =>
    (error: unknown) => {
      assert.ok(error instanceof ReviewRefusal, String(error));
      assert.equal(error.code, code, error.message);
      assert.deepEqual(error.files, files);
      return true;
    };

  it('shows what is committed, changed, new, gone, renamed, binary, a link or only a mode', async () => {
    await tree.put(
      'src/a.ts',
      lines(1, 30).replace('line 2\n', 'LINE 2\n').replace('line 25\n', 'line 25\nmore\n'),
    );
    tree.commit('by the member');
    await tree.put('ä ö.txt', 'new\n');
    await tree.put('logo.bin', Buffer.from([0, 1, 2, 255]));
    await rename(join(tree.root, 'readme.md'), join(tree.root, 'README.md'));
    await symlink('src/a.ts', join(tree.root, 'link'));
    await tree.put('.gitignore', 'out/\n');
    await tree.put('out/x', 'ignored\n');
    const work = await read();
    assert.deepEqual(names(work), [
      'added .gitignore',
      'renamed README.md',
      'added link',
      'added logo.bin',
      'modified src/a.ts',
      'added ä ö.txt',
    ]);
    assert.equal(only(work, 'README.md').oldPath, 'readme.md');
    assert.equal(only(work, 'logo.bin').binary, true);
    const { hunks, added, deleted } = only(work, 'src/a.ts');
    assert.deepEqual([hunks.length, added, deleted], [2, 2, 1]);
    assert.ok(hunks[0]?.lines.includes('+LINE 2'));
    assert.deepEqual(
      tree.status(),
      [' D readme.md', '?? .gitignore', '?? README.md', '?? link', '?? logo.bin', '?? ä ö.txt'].sort(byName),
    );
  });

  const byName = (a: string, b: string): number => a.charAt(0).localeCompare(b.charAt(0)) || (a < b ? -1 : 1);

  it('is one commit on the branch, with the message, and the main checkout is clean', async () => {
    await tree.put('src/a.ts', 'changed\n');
    await tree.put('src/new.ts', 'new\n');
    await chmod(join(tree.root, 'readme.md'), 0o755);
    const { landing } = await accept(all);
    assert.equal(repo.git('rev-parse', 'HEAD'), landing.commit?.id);
    assert.equal(repo.git('log', '--format=%s|%an|%P', '-1'), `The task|Ada|${landing.commit?.parent}`);
    assert.deepEqual(repo.status(), []);
    assert.equal(await repo.text('src/new.ts'), 'new\n');
    assert.deepEqual(names(await read()), []);
  });

  it('changes the files alone where it is not to be committed, and merges with what is there', async () => {
    await repo.put('src/a.ts', lines(1, 30).replace('line 28\n', 'mine\n'));
    await repo.put('other.txt', 'mine\n');
    repo.git('add', 'other.txt');
    const head = repo.git('rev-parse', 'HEAD');
    await tree.put('src/a.ts', lines(1, 30).replace('line 2\n', 'theirs\n'));
    await tree.put('new.ts', 'new\n');
    await accept(all, 'uncommitted');
    const text = await repo.text('src/a.ts');
    assert.ok(text.includes('mine\n') && text.includes('theirs\n'), text);
    assert.equal(repo.git('rev-parse', 'HEAD'), head);
    assert.deepEqual(repo.status().sort(), [' M src/a.ts', '?? new.ts', 'A  other.txt']);
    assert.deepEqual(names(await read()), []);
    // Put back by the user: it is there to be reviewed again.
    repo.git('checkout', '--quiet', '--', 'src/a.ts');
    await rm(join(repo.root, 'new.ts'));
    await repo.put('src/a.ts', lines(1, 30).replace('line 28\n', 'mine\n'));
    assert.deepEqual(names(await read()), ['added new.ts', 'modified src/a.ts']);
  });

  it('takes single hunks and files, and leaves the rest for later', async () => {
    await repo.put('src/a.ts', `${lines(1, 30)}no end`);
    repo.commit('a file without a last line end');
    tree.git('merge', '--quiet', 'main');
    await tree.put('src/a.ts', `first\n${lines(2, 30).replace('line 15\n', '')}no end, changed`);
    await tree.put('new.ts', 'new\n');
    await tree.put('later.ts', 'later\n');
    const hunkOf = (work: Work, index: number): Taken => {
      const change = only(work, 'src/a.ts');
      const hunk = change.hunks[index];
      assert.ok(hunk);
      return { change, hunks: [hunk] };
    };
    await accept((work) => [hunkOf(work, 1), { change: only(work, 'new.ts') }]);
    assert.equal(await repo.text('src/a.ts'), `${lines(1, 30).replace('line 15\n', '')}no end`);
    assert.deepEqual(names(await read()), ['added later.ts', 'modified src/a.ts']);
    await accept((work) => [hunkOf(work, 1)]);
    assert.equal(await repo.text('src/a.ts'), `${lines(1, 30).replace('line 15\n', '')}no end, changed`);
    await accept(all);
    assert.equal(await repo.text('src/a.ts'), await tree.text('src/a.ts'));
    assert.deepEqual(names(await read()), []);
    assert.deepEqual(repo.status(), []);
    assert.equal(repo.git('rev-list', '--count', 'HEAD'), '5');
  });

  it('leaves conflicts as git leaves them: three versions in the index, marks in the file', async () => {
    await tree.put('readme.md', 'one\ntheirs\nthree\n');
    await tree.put('fine.txt', 'fine\n');
    await repo.put('readme.md', 'one\nours\nthree\n');
    repo.commit('ours');
    await repo.put('mine.txt', 'mine\n');
    await repo.put('src/a.ts', 'mine\n');
    const { landing } = await accept(all);
    assert.deepEqual(
      landing.conflicts.map(({ path }) => path),
      ['readme.md'],
    );
    assert.equal(repo.git('show', ':1:readme.md'), 'one\ntwo\nthree');
    assert.equal(repo.git('show', ':2:readme.md'), 'one\nours\nthree');
    assert.equal(repo.git('show', ':3:readme.md'), 'one\ntheirs\nthree');
    assert.match(await repo.text('readme.md'), /<<<<<<< .*\nours\n=======\ntheirs\n>>>>>>> /);
    assert.deepEqual(repo.status(), [' M src/a.ts', '?? mine.txt', 'A  fine.txt', 'UU readme.md']);
    assert.deepEqual(names(await read()), []);
    const other = await worktree('t2');
    await other.put('x.txt', 'x\n');
    await assert.rejects(accept(all, 'commit', other), refusedAs('merge_in_progress', ['readme.md']));
    repo.git('reset', '--quiet', '--merge');
    assert.equal(await repo.text('readme.md'), 'one\nours\nthree\n');
    assert.deepEqual(repo.status(), [' M src/a.ts', '?? mine.txt']);
    assert.deepEqual(names(await read()), ['added fine.txt', 'modified readme.md']);
  });

  it('waits for the next commit of a cherry-pick of several, for a bisect, and for git am', async () => {
    await tree.put('new.txt', 'new\n');
    repo.git('checkout', '--quiet', '-b', 'side');
    await repo.put('readme.md', 'side\n');
    repo.commit('one');
    await repo.put('other.txt', 'other\n');
    repo.commit('two');
    repo.git('checkout', '--quiet', 'main');
    await repo.put('readme.md', 'main\n');
    repo.commit('main');
    assert.throws(() => repo.git('cherry-pick', 'side~1', 'side'));
    await repo.put('readme.md', 'both\n');
    repo.commit('one');
    const unfinished = async (what: string): Promise<void> => {
      for (const mode of ['commit', 'uncommitted'] as const) {
        await assert.rejects(accept(all, mode), (error) => {
          refusedAs('merge_in_progress')(error);
          assert.match(String(error), new RegExp(`A ${what} is not finished in the main folder`));
          return true;
        });
      }
    };
    await unfinished('cherry-pick or revert of several commits');
    repo.git('cherry-pick', '--continue');
    repo.git('bisect', 'start');
    await unfinished('bisect');
    repo.git('bisect', 'reset');
    await repo.put('.git/a.patch', repo.git('format-patch', '--stdout', '-1', 'side~1'));
    assert.throws(() => repo.git('am', '--quiet', '.git/a.patch'));
    await unfinished('git am');
    repo.git('am', '--abort');
    await accept(all);
    assert.deepEqual(repo.status(), []);
  });

  it("uncommitted, with conflicts that are taken back, is reviewed again, and what is the user's own stays", async () => {
    await tree.put('readme.md', 'one\ntheirs\nthree\n');
    await tree.put('src/a.ts', lines(1, 30).replace('line 2\n', 'theirs\n'));
    await tree.put('new.ts', 'new\n');
    await repo.put('readme.md', 'one\nours\nthree\n');
    repo.commit('ours');
    await repo.put('src/a.ts', lines(1, 30).replace('line 28\n', 'mine\n'));
    await accept(all, 'uncommitted');
    assert.deepEqual(repo.status(), [' M src/a.ts', '?? new.ts', 'UU readme.md']);
    repo.git('reset', '--quiet', '--merge');
    assert.equal(await repo.text('readme.md'), 'one\nours\nthree\n');
    const both = lines(1, 30).replace('line 2\n', 'theirs\n').replace('line 28\n', 'mine\n');
    assert.equal(await repo.text('src/a.ts'), both);
    assert.deepEqual(names(await read()), ['added new.ts', 'modified readme.md', 'modified src/a.ts']);
    // Once more: what stands there already is no conflict.
    const { landing } = await accept(all, 'uncommitted');
    assert.deepEqual([landing.conflicts.length, await repo.text('src/a.ts')], [1, both]);
    repo.git('reset', '--quiet', '--merge');
    await repo.put('src/a.ts', both.replace('line 15\n', 'mine as well\n'));
    assert.deepEqual(names(await read()), ['added new.ts', 'modified readme.md', 'modified src/a.ts']);
  });

  for (const mode of ['commit', 'uncommitted'] as const) {
    it(`is undone where its last step fails: files and index are as before (${mode})`, async () => {
      await tree.put('readme.md', 'one\ntheirs\nthree\n');
      await tree.put('fine.txt', 'fine\n');
      await rm(join(tree.root, 'src/a.ts'));
      await repo.put('readme.md', 'one\nours\nthree\n');
      await repo.put('src/a.ts', 'ours\n');
      repo.commit('ours');
      await repo.put('mine.txt', 'mine\n');
      const { landing } = await accept(all, mode);
      assert.deepEqual(landing.conflicts.map(({ path }) => path).sort(), ['readme.md', 'src/a.ts']);
      assert.ok(repo.status().includes('UD src/a.ts'), repo.status().join());
      await takeBack(repo.root, landing);
      assert.deepEqual(repo.status(), ['?? mine.txt']);
    });
  }

  it('is reviewed again where it was thrown away, also when the user has gone on with its files', async () => {
    await tree.put('src/a.ts', lines(1, 30).replace('line 2\n', 'theirs\n'));
    await tree.put('new.ts', 'new\n');
    await accept(all, 'uncommitted');
    assert.deepEqual(names(await read()), []);
    await repo.put('src/a.ts', (await repo.text('src/a.ts')).replace('line 28\n', 'mine\n'));
    assert.deepEqual(names(await read()), [], 'gone on with what was accepted');
    assert.deepEqual(names(await review.read(tree.root, accepted, true)), []);
    repo.git('checkout', '--quiet', '--', '.');
    await rm(join(repo.root, 'new.ts'));
    await repo.put('src/a.ts', lines(1, 30).replace('line 28\n', 'mine\n'));
    assert.deepEqual(names(await read()), ['added new.ts', 'modified src/a.ts']);
    repo.commit('my own line');
    assert.deepEqual(names(await read()), ['added new.ts', 'modified src/a.ts']);
  });

  it('with a conflict that was taken back is reviewed again, whatever the user changes after that', async () => {
    await tree.put('readme.md', 'one\ntheirs\nthree\n');
    await repo.put('readme.md', 'one\nours\nthree\n');
    repo.commit('ours');
    await accept(all);
    await repo.put('readme.md', 'one\nboth\nthree\n');
    assert.deepEqual(names(await read()), [], 'resolved by hand');
    assert.deepEqual(
      names(await review.read(tree.root, accepted, true)),
      ['modified readme.md'],
      'not sure enough to remove it',
    );
    repo.git('reset', '--quiet', '--hard');
    await repo.put('readme.md', 'one\nours\nthree\nfour\n');
    repo.commit('another line');
    assert.deepEqual(names(await read()), ['modified readme.md']);
  });

  it("holds what lies in a folder .team that is not the workspace's own", async () => {
    await tree.put('docs/.team/people.md', 'changed\n');
    await tree.put('src/.team/x.md', 'new\n');
    await tree.put('.team/x.md', 'hidden\n');
    tree.git('add', '--force', '.team/x.md');
    assert.deepEqual(names(await read()), ['added docs/.team/people.md', 'added src/.team/x.md']);
    // Where the workspace is a part of the repository.
    const part = new GitReview(join(repo.root, 'src'));
    assert.deepEqual(names(await part.read(tree.root, [])), [
      'added .team/x.md',
      'added docs/.team/people.md',
    ]);
  });

  it('never holds what lies in the folder .team', async () => {
    const other = await worktree('t2');
    await tree.put('.team/worktrees/t2/src/a.ts', 'taken\n');
    await tree.put('.team/.gitignore', '!*\n');
    await tree.put('src/a.ts', 'changed\n');
    tree.git('add', '--force', '.team');
    assert.deepEqual(names(await read()), ['modified src/a.ts']);
    await accept(all);
    assert.deepEqual(repo.status(), []);
    assert.equal(await other.text('src/a.ts'), lines(1, 30));
    assert.doesNotMatch(repo.git('ls-files'), /\.team/);
  });

  it('says what to do about a repository without a commit in it', async () => {
    await tree.put('sub/x.txt', 'x\n');
    tree.at('sub').git('init', '--quiet');
    await assert.rejects(
      read(),
      /'sub' in the worktree is a repository of its own without a commit\. Remove its folder \.git/,
    );
  });

  it('merges several branches one after another, each with the result of the one before', async () => {
    const second = await worktree('t2');
    await tree.put('src/a.ts', lines(1, 30).replace('line 2\n', 'from t1\n'));
    await second.put('src/a.ts', lines(1, 30).replace('line 28\n', 'from t2\n'));
    await accept(all);
    await accept(all, 'commit', second);
    const text = await repo.text('src/a.ts');
    assert.ok(text.includes('from t1\n') && text.includes('from t2\n'));
    assert.deepEqual(repo.status(), []);
  });

  describe("the user's own changes", () => {
    it('of other files stay as they are, staged or not', async () => {
      await tree.put('src/a.ts', 'changed\n');
      await repo.put('readme.md', 'mine\n');
      await repo.put('staged.txt', 'staged\n');
      repo.git('add', 'staged.txt');
      await accept(all);
      assert.deepEqual(repo.status().sort(), [' M readme.md', 'A  staged.txt']);
      assert.deepEqual(repo.git('show', '--name-only', '--format=', 'HEAD').split('\n'), ['src/a.ts']);
    });

    it('of the same file are in the way of a commit: changed, staged, new or ignored', async () => {
      await tree.put('readme.md', 'theirs\n');
      await tree.put('new.txt', 'theirs\n');
      await tree.put('local.env', 'theirs\n');
      await repo.put('readme.md', 'mine\n');
      await assert.rejects(accept(all), refusedAs('local_changes', ['readme.md']));
      repo.git('add', 'readme.md');
      await repo.put('readme.md', 'one\ntwo\nthree\n');
      await assert.rejects(accept(all), refusedAs('local_changes', ['readme.md']));
      repo.git('reset', '--quiet', '--hard');
      await repo.put('new.txt', 'mine\n');
      await assert.rejects(accept(all), refusedAs('local_changes', ['new.txt']));
      await rm(join(repo.root, 'new.txt'));
      await repo.put('.git/info/exclude', 'local.env\n');
      await repo.put('local.env', 'mine\n');
      tree.git('add', '--force', '--all');
      await assert.rejects(accept(all), refusedAs('local_changes', ['local.env']));
      assert.equal(await repo.text('local.env'), 'mine\n');
      assert.equal(repo.git('rev-list', '--count', 'HEAD'), '1');
    });

    for (const mode of ['commit', 'uncommitted'] as const) {
      it(`are in the way of conflicts that could not be taken back without them (${mode})`, async () => {
        await tree.put('readme.md', 'one\ntheirs\nthree\n');
        await tree.put('local.env', 'theirs\n');
        tree.git('add', '--force', '--all');
        await tree.put('fine.txt', 'fine\n');
        await repo.put('readme.md', 'one\nours\nthree\n');
        await repo.put('.gitignore', 'local.env\n');
        repo.commit('ours');
        await repo.put('local.env', 'mine\n');
        const refuses = async (...paths: string[]) => {
          const status = repo.status();
          await assert.rejects(accept(all, mode), (error: Error) => {
            assert.match(
              error.message,
              /leaves conflicts in (local\.env, )?readme\.md, and you have changes/,
            );
            return refusedAs('local_changes', paths)(error);
          });
          assert.deepEqual(repo.status(), status);
        };
        await refuses('local.env');
        assert.equal(await repo.text('local.env'), 'mine\n');
        await rm(join(repo.root, 'local.env'));
        // Staged, of a file that the work has nothing to do with.
        await repo.put('mine.txt', 'mine\n');
        repo.git('add', 'mine.txt');
        await refuses('mine.txt');
        repo.git('commit', '--quiet', '--message', 'mine');
        await repo.put('readme.md', 'one\nours\nthree\nfour\n');
        await refuses('readme.md');
        repo.git('stash', '--quiet');
        const { landing } = await accept(all, mode);
        assert.deepEqual(
          landing.conflicts.map(({ path }) => path),
          ['readme.md'],
        );
        repo.git('reset', '--quiet', '--merge');
        repo.git('stash', 'pop', '--quiet');
        assert.equal(await repo.text('readme.md'), 'one\nours\nthree\nfour\n');
      });

      it(`are in the way of a conflict that changes nothing in the file (${mode})`, async () => {
        await rm(join(tree.root, 'readme.md'));
        await repo.put('readme.md', 'ours\n');
        repo.commit('ours');
        await repo.put('readme.md', 'ours\nmine\n');
        await assert.rejects(accept(all, mode), refusedAs('local_changes', ['readme.md']));
        assert.equal(await repo.text('readme.md'), 'ours\nmine\n');
      });
    }
  });

  it('needs a branch for a commit, and takes changes without one', async () => {
    repo.git('checkout', '--quiet', '--detach');
    await tree.put('readme.md', 'theirs\n');
    await assert.rejects(accept(all), refusedAs('no_branch'));
    await accept(all, 'uncommitted');
    assert.equal(await repo.text('readme.md'), 'theirs\n');
  });

  it('is there already where the user has merged the branch', async () => {
    await tree.put('readme.md', 'theirs\n');
    tree.commit('work');
    repo.git('merge', '--quiet', 'handshake/t1');
    assert.deepEqual(names(await read()), []);
    repo.git('reset', '--quiet', '--hard', 'HEAD~1');
    await repo.put('readme.md', 'theirs\n');
    repo.commit('the same change by hand');
    const head = repo.git('rev-parse', 'HEAD');
    const { files } = await accept(all);
    assert.deepEqual(files, []);
    assert.equal(repo.git('rev-parse', 'HEAD'), head);
    assert.deepEqual(names(await read()), []);
  });

  it('goes on after the branch has taken up what is in the main one', async () => {
    await tree.put('src/a.ts', 'changed\n');
    await accept(all);
    await repo.put('readme.md', 'ours\n');
    repo.commit('ours');
    tree.commit('work');
    tree.git('merge', '--quiet', 'main');
    await tree.put('later.txt', 'later\n');
    assert.deepEqual(names(await read()), ['added later.txt']);
  });

  it('goes on in the same way where the user has committed what was accepted uncommitted', async () => {
    await tree.put('src/a.ts', lines(1, 30).replace('line 2\n', 'theirs\n'));
    tree.commit('work');
    await accept(all, 'uncommitted');
    await repo.put('src/a.ts', (await repo.text('src/a.ts')).replace('line 28\n', 'mine\n'));
    repo.commit('taken over, and gone on with');
    await repo.put('other.txt', 'ours\n');
    repo.commit('ours');
    assert.deepEqual(names(await read()), []);
    tree.git('merge', '--quiet', 'main');
    await tree.put('later.txt', 'later\n');
    assert.deepEqual(names(await read()), ['added later.txt']);
    // What stands in the files and is in no commit is of no branch that was merged.
    await accept(all, 'uncommitted');
    assert.deepEqual(names(await read()), []);
  });

  it('renames a file whose name differs in case alone', async () => {
    await rename(join(tree.root, 'src/a.ts'), join(tree.root, 'src/A.ts'));
    await accept(all);
    assert.equal(repo.git('ls-files', 'src'), 'src/A.ts');
    assert.deepEqual(repo.status(), []);
  });

  it('does not merge a submodule', async () => {
    const lib = await makeRepo('lib');
    try {
      tree.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', lib.root, 'lib');
      await assert.rejects(accept(all), refusedAs('submodule', ['lib']));
      await accept(
        (work) => work.changes.filter(({ path }) => path === 'readme.md').map((change) => ({ change })),
        'commit',
      ).catch(refusedAs('nothing_to_accept'));
    } finally {
      await lib.remove();
    }
  });

  describe('where the main checkout has something else in the place of what is changed', () => {
    for (const mode of ['commit', 'uncommitted'] as const) {
      it(`a link for a folder is named, and nothing goes through it (${mode})`, async () => {
        await rename(join(repo.root, 'src'), join(repo.root, 'elsewhere'));
        await symlink('elsewhere', join(repo.root, 'src'));
        await tree.put('src/a.ts', 'theirs\n');
        await tree.put('src/deep/b.ts', 'theirs\n');
        await assert.rejects(accept(all, mode), (error) => {
          refusedAs('local_changes', ['src/a.ts'])(error);
          assert.match(
            String(error),
            /In the main folder, src is a link, and the work changes src\/a\.ts in a folder .* accept again\.$/,
          );
          return true;
        });
        assert.equal(await repo.text('elsewhere/a.ts'), lines(1, 30));
        assert.equal(repo.git('rev-list', '--count', 'HEAD'), '1');
      });

      it(`a folder for a file is named (${mode})`, async () => {
        await repo.put('notes/mine.txt', 'mine\n');
        await tree.put('notes', 'theirs\n');
        await assert.rejects(accept(all, mode), (error) => {
          refusedAs('local_changes', ['notes'])(error);
          assert.match(String(error), /notes is a folder, and in the work a file\. Move the folder away/);
          return true;
        });
        assert.equal(await repo.text('notes/mine.txt'), 'mine\n');
      });
    }

    it('what was accepted before is to be reviewed again', async () => {
      await tree.put('src/a.ts', 'theirs\n');
      await accept(all, 'uncommitted');
      assert.deepEqual(names(await read()), []);
      await rename(join(repo.root, 'src'), join(repo.root, 'elsewhere'));
      await symlink('elsewhere', join(repo.root, 'src'));
      assert.deepEqual(names(await read()), ['modified src/a.ts']);
    });
  });

  it('in a sparse checkout does not go where no file is written, and says how to take the folder in', async () => {
    await repo.put('docs/a.md', 'a\n');
    repo.commit('docs');
    tree.git('merge', '--quiet', 'main');
    repo.git('sparse-checkout', 'set', 'src');
    await tree.put('docs/a.md', 'changed\n');
    await tree.put('src/a.ts', 'changed\n');
    for (const mode of ['commit', 'uncommitted'] as const) {
      await assert.rejects(accept(all, mode), (error) => {
        refusedAs('git', ['docs/a.md'])(error);
        assert.match(String(error), /is a sparse checkout .* docs\/a\.md\. .*"git sparse-checkout add"/);
        return true;
      });
    }
    await accept((work) => [{ change: only(work, 'src/a.ts') }]);
    assert.equal(await repo.text('src/a.ts'), 'changed\n');
    repo.git('sparse-checkout', 'add', 'docs');
    await accept(all);
    assert.equal(await repo.text('docs/a.md'), 'changed\n');
    assert.deepEqual(repo.status(), []);
  });

  it('comes home in a repository with SHA-256 ids', async () => {
    const long = await makeRepo('long', { objectFormat: 'sha256' });
    try {
      const worktrees = new GitWorktrees(long.root);
      const plan = await worktrees.plan('t1');
      await worktrees.make(plan);
      const own = long.at(plan.path);
      await own.put('src/a.ts', lines(1, 30).replace('line 2\n', 'two\n').replace('line 25\n', ''));
      await own.put('new.txt', 'new\n');
      await rm(join(own.root, 'readme.md'));
      const there = new GitReview(long.root);
      const first = await there.read(own.root, []);
      const change = only(first, 'src/a.ts');
      const [hunk] = change.hunks;
      assert.ok(hunk);
      const part = await there.prepare(first, [{ change, hunks: [hunk] }], 'commit', 'A part\n');
      await land(long.root, part.landing);
      assert.equal(await long.text('src/a.ts'), lines(1, 30).replace('line 2\n', 'two\n'));
      await there.keep(plan.branch, [part]);
      const rest = await there.read(own.root, [part]);
      assert.deepEqual(names(rest), ['added new.txt', 'deleted readme.md', 'modified src/a.ts']);
      const all = rest.changes.map((one) => ({ change: one }));
      await land(long.root, (await there.prepare(rest, all, 'commit', 'The rest\n')).landing);
      assert.deepEqual(long.status(), []);
      assert.equal(long.git('rev-parse', 'HEAD').length, 64);
      assert.equal(await long.text('src/a.ts'), await own.text('src/a.ts'));
      await worktrees.remove(plan.path, plan.branch);
      assert.deepEqual(long.branches(), ['main']);
      assert.equal(long.git('for-each-ref', 'refs/handshake'), '');
    } finally {
      await long.remove();
    }
  });

  describe('cut off between two steps', () => {
    for (const mode of ['commit', 'uncommitted'] as const) {
      it(`is taken up where it was (${mode})`, async () => {
        await tree.put('src/a.ts', 'changed\n');
        await tree.put('new.txt', 'new\n');
        const work = await read();
        const { landing } = await review.prepare(work, all(work), mode, 'The task\n');
        assert.equal((await progressOf(repo.root, landing)).at, 'before');
        // As a crash leaves it that came after the first file.
        await repo.put('new.txt', 'new\n');
        assert.equal((await progressOf(repo.root, landing)).at, 'between');
        await land(repo.root, landing);
        await land(repo.root, landing).catch((error: unknown) => {
          assert.ok(mode === 'commit', String(error));
        });
        assert.equal((await progressOf(repo.root, landing)).at, 'after');
        assert.deepEqual(repo.status().sort(), mode === 'commit' ? [] : [' M src/a.ts', '?? new.txt']);
        assert.equal(repo.git('rev-list', '--count', 'HEAD'), mode === 'commit' ? '2' : '1');
      });
    }

    it('is not taken up where somebody changed a file since', async () => {
      await tree.put('src/a.ts', 'changed\n');
      const work = await read();
      const { landing } = await review.prepare(work, all(work), 'commit', 'The task\n');
      await repo.put('src/a.ts', 'mine\n');
      assert.deepEqual(await progressOf(repo.root, landing), { at: 'changed', paths: ['src/a.ts'] });
      assert.match((await review.changedSince(repo.root, landing)) ?? '', /src\/a\.ts/);
    });
  });
});
