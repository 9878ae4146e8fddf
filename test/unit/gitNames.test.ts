import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ReviewRefusal } from '../../src/agent/reviewApi';
import { bytesOf, isText, namesOf, shownName } from '../../src/workspace/git/names';
import { type GitRepo, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

describe('names that are not UTF-8', function () {
  this.timeout(120_000);

  const latin = (name: string): Buffer => Buffer.from(name, 'latin1');

  it('go through text and back byte for byte, also beside what looks like one that was carried', () => {
    const names = [
      latin('caf\xe9.txt'),
      latin('caf\xe8.txt'),
      Buffer.from('café 😀 \ufffd'),
      Buffer.concat([latin('\xff\xed\xb3\xa9\xf0\x9f\x98'), Buffer.from('😀é'), latin('\xc3')]),
      Buffer.from('plain\nname'),
    ];
    const list = Buffer.concat(names.flatMap((name) => [name, Buffer.from([0])]));
    const carried = namesOf(list);
    assert.equal(new Set(carried).size, names.length);
    assert.deepEqual(
      carried.map((name) => bytesOf(name)),
      names,
    );
    assert.deepEqual(carried.map(isText), [false, false, true, false, true]);
    assert.equal(shownName(carried[0] ?? ''), 'caf\\xe9.txt');
    assert.equal(carried[2], 'café 😀 \ufffd');
  });

  describe('in work that comes home', () => {
    let repo: GitRepo;
    let tree: GitRepo;
    before(function () {
      // Other systems have no such names.
      if (process.platform !== 'linux') this.skip();
    });
    beforeEach(async () => {
      repo = await makeRepo();
      tree = repo.at('.team/worktrees/t1');
    });
    afterEach(() => repo.remove());

    const inFolder = (of: GitRepo, name: string): Buffer =>
      Buffer.concat([Buffer.from(`${of.root}/`), latin(name)]);
    const put = (of: GitRepo, name: string, text: string) => writeFile(inFolder(of, name), text);
    const withTask = async () => {
      const life = begin(repo, []);
      await life.team.board.create({ subject: 'One', description: '' }, 'lead');
      await life.team.worktrees.create('t1', 'lead');
      return life;
    };
    type Life = Awaited<ReturnType<typeof withTask>>;
    const files = async ({ reviews }: Life) => (await reviews.reviewWork('t1')).files;
    const acceptAll = async ({ reviews }: Life, mode: 'commit' | 'uncommitted') =>
      reviews.acceptWork('t1', { everything: (await reviews.reviewWork('t1')).revision }, { mode });

    for (const mode of ['commit', 'uncommitted'] as const) {
      it(`are named and not merged, before anything changes; the other files are (${mode})`, async () => {
        const life = await withTask();
        await put(tree, 'caf\xe9.txt', 'x\n');
        await put(tree, 'caf\xe8.txt', 'y\n');
        await tree.put('fine.txt', 'fine\n');
        const shown = await files(life);
        assert.deepEqual(
          shown.map(({ path }) => path),
          ['caf\\xe8.txt', 'caf\\xe9.txt', 'fine.txt'],
        );
        await assert.rejects(acceptAll(life, mode), (error) => {
          assert.ok(error instanceof ReviewRefusal, String(error));
          assert.deepEqual(error.files, ['caf\\xe8.txt', 'caf\\xe9.txt']);
          assert.match(
            error.message,
            /^Names that are not UTF-8 are not merged: caf\\xe8\.txt, caf\\xe9\.txt\. Rename/,
          );
          return true;
        });
        assert.deepEqual(repo.status(), []);
        assert.equal(repo.git('rev-list', '--count', 'HEAD'), '1');
        const fine = shown.filter(({ path }) => path === 'fine.txt').map(({ id }) => id);
        await life.reviews.acceptWork('t1', { files: fine }, { mode });
        assert.equal(await repo.text('fine.txt'), 'fine\n');
        assert.deepEqual(repo.status(), mode === 'commit' ? [] : ['?? fine.txt']);
        const report = await life.reviews.inspectWorktree('t1');
        assert.deepEqual(report.unmerged, ['caf\\xe8.txt', 'caf\\xe9.txt']);
      });
    }

    it('are there again where the last step of a merge fails', async () => {
      await put(repo, 'gone\xe9.txt', 'gone\n');
      repo.commit('an old name');
      const life = await withTask();
      tree.git('rm', '--quiet', 'gone*');
      await repo.put('.git/refs/heads/main.lock', '');
      await assert.rejects(acceptAll(life, 'commit'), /was not merged, and nothing was changed/);
      assert.deepEqual(repo.status(), []);
      assert.match(repo.git('ls-files', '-z'), /gone\ufffd/);
    });

    it('are merged where the work renames or removes what has one, and are left alone elsewhere', async () => {
      await put(repo, 'old\xe9.txt', 'one\ntwo\nthree\nfour\n');
      await put(repo, 'gone\xe9.txt', 'gone\n');
      await put(repo, 'mine\xe9.txt', 'mine\n');
      repo.commit('old names');
      const life = await withTask();
      await put(repo, 'mine\xe9.txt', 'changed by me\n');
      await rename(inFolder(tree, 'old\xe9.txt'), join(tree.root, 'oldé.txt'));
      tree.git('rm', '--quiet', 'gone*');
      assert.deepEqual(
        (await files(life)).map(({ status, path, oldPath }) => [status, path, oldPath]),
        [
          ['deleted', 'gone\\xe9.txt', undefined],
          ['renamed', 'oldé.txt', 'old\\xe9.txt'],
        ],
      );
      const outcome = await acceptAll(life, 'commit');
      assert.deepEqual(outcome.files, ['gone\\xe9.txt', 'oldé.txt', 'old\\xe9.txt']);
      assert.deepEqual(repo.git('ls-files', '-z').match(/(gone|mine|old)[^\0]*/g), [
        'mine\ufffd.txt',
        'oldé.txt',
      ]);
      assert.equal(repo.status().length, 1, 'only what the user has changed');
      assert.match(repo.status()[0] ?? '', /^ M mine/);
      assert.deepEqual(await files(life), []);
    });

    it('are as before where the last step fails', async () => {
      await put(repo, 'gone\xe9.txt', 'gone\n');
      repo.commit('old name');
      const life = await withTask();
      tree.git('rm', '--quiet', 'gone*');
      await repo.put('.git/refs/heads/main.lock', '');
      await assert.rejects(acceptAll(life, 'commit'), /was not merged, and nothing was changed/);
      await rm(join(repo.root, '.git/refs/heads/main.lock'));
      assert.deepEqual(repo.status(), []);
    });
  });
});
