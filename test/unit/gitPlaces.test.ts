import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type MergeMode, ReviewRefusal } from '../../src/agent/reviewApi';
import { type GitRepo, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

describe('work in a main checkout that is not as git makes it', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  let tree: GitRepo;
  beforeEach(async () => {
    repo = await makeRepo();
    tree = repo.at('.team/worktrees/t1');
    await repo.put('d/one', '1\n');
    await repo.put('d/deep/two', '2\n');
    await symlink('src', join(repo.root, 'link'));
    await repo.put('cfg.json', 'a\n');
    await repo.put('.gitignore', '*.secret\n');
    repo.commit('a folder and a link');
  });
  afterEach(() => repo.remove());

  const withTask = async () => {
    const life = begin(repo, []);
    await life.team.board.create({ subject: 'One', description: '' }, 'lead');
    await life.team.worktrees.create('t1', 'lead');
    return life;
  };
  type Life = Awaited<ReturnType<typeof withTask>>;
  const paths = async ({ reviews }: Life) => (await reviews.reviewWork('t1')).files.map(({ path }) => path);
  const acceptAll = async ({ reviews }: Life, mode: MergeMode) =>
    reviews.acceptWork('t1', { everything: (await reviews.reviewWork('t1')).revision }, { mode });
  const refused = async (life: Life, mode: MergeMode): Promise<ReviewRefusal> => {
    const before = [repo.git('rev-parse', 'HEAD'), repo.status()];
    try {
      await acceptAll(life, mode);
    } catch (error) {
      assert.ok(error instanceof ReviewRefusal, String(error));
      assert.deepEqual([repo.git('rev-parse', 'HEAD'), repo.status()], before, 'nothing has changed');
      return error;
    }
    return assert.fail('It was accepted.');
  };
  const emptied = async (folder: string): Promise<void> => rm(join(tree.root, folder), { recursive: true });

  for (const mode of ['commit', 'uncommitted'] as const) {
    describe(`(${mode})`, () => {
      it('a file and a link come in the place of folders, and a folder in that of a link', async () => {
        const life = await withTask();
        await emptied('d');
        await tree.put('d', 'a file\n');
        await emptied('src');
        await symlink('d', join(tree.root, 'src'));
        await emptied('link');
        await tree.put('link/in/x.txt', 'x\n');
        // An empty folder is nothing to git.
        await mkdir(join(repo.root, 'new/empty'), { recursive: true });
        await tree.put('new', 'new\n');
        const { outcome } = await acceptAll(life, mode);
        assert.equal(outcome, 'merged');
        assert.equal(await repo.text('d'), 'a file\n');
        assert.equal((await lstat(join(repo.root, 'src'))).isSymbolicLink(), true);
        assert.equal(await repo.text('link/in/x.txt'), 'x\n');
        assert.equal(await repo.text('new'), 'new\n');
        if (mode === 'commit') assert.deepEqual(repo.status(), []);
        assert.deepEqual(await paths(life), []);
      });

      it('what git does not have of such a folder is named and stays', async () => {
        const life = await withTask();
        await emptied('d');
        await tree.put('d', 'a file\n');
        await repo.put('d/deep/my.secret', 'precious\n');
        await repo.put('d/new.txt', 'precious\n');
        const { code, message, files } = await refused(life, mode);
        assert.deepEqual([code, files], ['local_changes', ['d']]);
        assert.match(
          message,
          /d is a folder, and in the work a file\. Move .* d\/deep\/my\.secret, d\/new\.txt\.$/,
        );
        assert.equal(await repo.text('d/deep/my.secret'), 'precious\n');
      });

      for (const how of ['new', 'ignored', 'staged'] as const) {
        it(`a file in the place of a folder of the work is named and stays: ${how}`, async () => {
          const life = await withTask();
          const name = how === 'ignored' ? 'my.secret' : 'notes';
          await tree.put('.gitignore', '');
          await tree.put(`${name}/x.txt`, 'x\n');
          await repo.put(name, 'precious\n');
          if (how === 'staged') repo.git('add', name);
          const { code, message, files } = await refused(life, mode);
          assert.deepEqual([code, files], ['local_changes', [name]]);
          // What is staged and not to be committed is merged as what the user has: then it is in conflict.
          if (how !== 'staged' || mode === 'commit') {
            assert.match(message, /is a file, and in the work a folder\. Move the file away/);
          }
          assert.equal(await repo.text(name), 'precious\n');
        });
      }

      it('what is only staged in a folder that becomes a file is named and stays', async () => {
        const life = await withTask();
        await emptied('d');
        await tree.put('d', 'a file\n');
        await repo.put('d/staged.txt', 'precious\n');
        repo.git('add', 'd/staged.txt');
        const { code, message } = await refused(life, mode);
        assert.equal(code, 'local_changes');
        if (mode === 'commit') assert.match(message, /is a folder, .* not in the work: d\/staged\.txt\.$/);
        assert.equal(await repo.text('d/staged.txt'), 'precious\n');
      });

      for (const [is, text] of [
        ['as it was', 'a\n'],
        ['changed', 'mine\n'],
      ] as const) {
        it(`a file that git is told to leave alone is named with that reason, ${is}; the others can come`, async () => {
          const life = await withTask();
          repo.git('update-index', '--skip-worktree', 'cfg.json');
          await repo.put('cfg.json', text);
          await tree.put('cfg.json', 'b\n');
          await tree.put('x.txt', 'x\n');
          const { code, message, files } = await refused(life, mode);
          assert.deepEqual([code, files], ['git', ['cfg.json']]);
          assert.match(
            message,
            /told to leave cfg\.json alone \(skip-worktree\)\. .*"git update-index --no-skip-/,
          );
          const shown = (await life.reviews.reviewWork('t1')).files;
          const others = shown.filter(({ path }) => path !== 'cfg.json').map(({ id }) => id);
          await life.reviews.acceptWork('t1', { files: others }, { mode });
          assert.deepEqual([await repo.text('x.txt'), await repo.text('cfg.json')], ['x\n', text]);
          assert.equal(repo.git('ls-files', '-t', 'cfg.json'), 'S cfg.json');
          repo.git('update-index', '--no-skip-worktree', 'cfg.json');
          repo.git('checkout', '--quiet', '--', 'cfg.json');
          await acceptAll(life, mode);
          assert.equal(await repo.text('cfg.json'), 'b\n');
        });
      }

      it('a file that a sparse checkout without cones leaves out is named with that reason', async () => {
        const life = await withTask();
        repo.git('sparse-checkout', 'set', '--no-cone', '/*', '!d/one');
        await tree.put('d/one', 'changed\n');
        const { code, message, files } = await refused(life, mode);
        assert.deepEqual([code, files], ['git', ['d/one']]);
        assert.match(message, /a sparse checkout without d\/one\. .*"git sparse-checkout add"/);
        repo.git('sparse-checkout', 'add', 'd/one');
        await acceptAll(life, mode);
        assert.equal(await repo.text('d/one'), 'changed\n');
      });

      it('what the user has changed in such a folder is kept', async () => {
        const life = await withTask();
        await emptied('d');
        await tree.put('d', 'a file\n');
        await repo.put('d/deep/two', 'mine\n');
        assert.deepEqual((await refused(life, mode)).files, ['d/deep/two']);
        assert.equal(await repo.text('d/deep/two'), 'mine\n');
      });
    });
  }

  it('leaves no part of an index where git splits it', async () => {
    const life = await withTask();
    repo.git('config', 'core.splitIndex', 'true');
    repo.git('update-index', '--split-index');
    tree.git('update-index', '--split-index');
    const parts = async (): Promise<string[]> =>
      (await Promise.all(['.git', '.git/worktrees/t1'].map((folder) => readdir(join(repo.root, folder)))))
        .flat()
        .filter((name) => name.startsWith('sharedindex.'))
        .sort();
    const before = await parts();
    assert.equal(before.length, 2, 'both are split');
    await tree.put('x.txt', 'x\n');
    assert.deepEqual(await paths(life), ['x.txt']);
    assert.deepEqual(await paths(life), ['x.txt']);
    assert.deepEqual(await parts(), before);
    await acceptAll(life, 'uncommitted');
    assert.deepEqual(await parts(), before, 'the index itself was not written');
    await rm(join(repo.root, 'x.txt'));
    await acceptAll(life, 'commit');
    assert.equal(await repo.text('x.txt'), 'x\n');
    assert.deepEqual(repo.status(), []);
    assert.match(repo.git('rev-parse', '--shared-index-path'), /sharedindex\./, 'it is split as before');
  });
});
