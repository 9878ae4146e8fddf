import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Patches } from '../../src/workspace/git/patches';
import { GitError, git } from '../../src/workspace/git/run';
import { type GitRepo, lines, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

const MB = 1024 * 1024;
const LINE = '0123456789abcdefghijklmnopqrstuvwxyz\n';

describe('the patches that git prints', () => {
  const patch = (name: string, size: number): string =>
    `diff --git a/${name} b/${name}\n@@ -0,0 +1 @@\n${'+diff --git a b\n'.repeat(Math.ceil(size / 16))}`;
  const printed = (names: readonly string[], size: (at: number) => number): string[] =>
    names.map((name, at) => patch(name, size(at)));
  const through = (patches: Patches, text: string, step: number) => {
    const bytes = Buffer.from(text, 'latin1');
    for (let at = 0; at < bytes.length; at += step) patches.add(bytes.subarray(at, at + step));
    return patches.all();
  };

  it('are the same wherever the chunks end', () => {
    const all = [
      ...printed(['a', 'b\xe9', 'c'], () => 40),
      'diff --git a/d b/d\nold mode 100644\r\nnew mode 100755\n',
    ];
    for (const step of [1, 2, 7, 11, 12, 13, 64, 10_000]) {
      assert.deepEqual(through(new Patches(), all.join(''), step), all, `chunks of ${step}`);
    }
    assert.deepEqual(new Patches().all(), []);
  });

  it('are dropped where one is too large, and the largest first where all are too much', () => {
    const all = printed(['a', 'b', 'c'], (at) => (at === 1 ? 5000 : 100));
    assert.deepEqual(through(new Patches(1000), all.join(''), 64), [all[0], undefined, all[2]]);
    const many = printed('abcdefghij'.split(''), (at) => (at === 9 ? 100 : 800));
    const kept = through(new Patches(1000, 3000), many.join(''), 64);
    assert.deepEqual(kept, [...Array(9).fill(undefined), many[9]]);
  });
});

describe('large work', function () {
  this.timeout(300_000);

  let repo: GitRepo;
  let tree: GitRepo;
  beforeEach(async () => {
    repo = await makeRepo();
    tree = repo.at('.team/worktrees/t1');
  });
  afterEach(() => repo.remove());

  const withTask = async () => {
    const life = begin(repo, []);
    await life.team.board.create({ subject: 'One', description: '' }, 'lead');
    await life.team.worktrees.create('t1', 'lead');
    return life;
  };
  const write = async (name: string, size: number): Promise<void> => {
    const block = Buffer.from(LINE.repeat(Math.floor(MB / LINE.length)));
    const file = await open(join(tree.root, name), 'w');
    try {
      for (let written = 0; written < size; written += block.length) await file.write(block);
    } finally {
      await file.close();
    }
  };

  it('is shown and accepted: a large text is taken whole and says so, the others keep their parts', async () => {
    const life = await withTask();
    await tree.put('.gitattributes', 'told.sql diff\n');
    // More than is compared; more than git may print of one file; and more than it is asked to keep of it.
    await write('dump.sql', 270 * MB);
    await write('told.sql', 40 * MB);
    await write('fixture.txt', 3 * MB);
    await tree.put('src/a.ts', lines(1, 30).replace('line 2\n', 'LINE 2\n').replace('line 25\n', ''));
    await tree.put('logo.bin', Buffer.from([0, 1, 2]));
    const { files, revision } = await life.reviews.reviewWork('t1');
    assert.deepEqual(
      files.map(({ path, large, binary, hunks, added }) => [
        path,
        large ?? false,
        binary && !large,
        hunks.length,
        added,
      ]),
      [
        ['.gitattributes', false, false, 1, 1],
        ['dump.sql', true, false, 0, 0],
        ['fixture.txt', true, false, 0, 0],
        ['logo.bin', false, true, 0, 0],
        ['src/a.ts', false, false, 2, 1],
        ['told.sql', true, false, 0, 0],
      ],
    );
    const dump = files.find(({ path }) => path === 'dump.sql');
    await life.reviews.acceptWork('t1', { everything: revision });
    assert.deepEqual(repo.status(), []);
    assert.equal(repo.git('rev-parse', 'HEAD:dump.sql'), dump?.workBlob);
  });

  it('that is much, of many files, is shown, and what is small in it keeps its parts', async () => {
    const life = await withTask();
    for (let n = 10; n < 40; n++) await write(`vendor-${n}.txt`, 1.5 * MB);
    await tree.put('zz/small.ts', 'small\n');
    const { files } = await life.reviews.reviewWork('t1');
    assert.equal(files.length, 31);
    const cut = files.filter(({ large }) => large).map(({ path }) => path);
    assert.deepEqual(
      cut,
      files.slice(0, 30).map(({ path }) => path),
    );
    assert.equal(files.at(-1)?.hunks.length, 1);
  });

  it('is said to be too much where git prints more than is kept, not that something ended it', async () => {
    const path = join(repo.root, 'dump.sql');
    const file = await open(path, 'w');
    await file.truncate(260 * MB);
    await file.close();
    const id = repo.git('hash-object', '-w', path);
    await assert.rejects(git(repo.root, ['cat-file', 'blob', id]), (error) => {
      assert.ok(error instanceof GitError, String(error));
      assert.equal(error.message, 'git cat-file printed more than 256 MB.');
      return true;
    });
  });
});
