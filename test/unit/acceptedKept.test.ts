import * as assert from 'node:assert/strict';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitRepo, lines, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

describe('what was accepted in part', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  let tree: GitRepo;
  beforeEach(async () => {
    repo = await makeRepo();
    tree = repo.at('.team/worktrees/t1');
  });
  afterEach(() => repo.remove());

  type Life = ReturnType<typeof begin>;
  const REF = 'refs/handshake/accepted/handshake/t1';

  const withTask = async (): Promise<Life> => {
    const life = begin(repo, []);
    await life.team.board.create({ subject: 'One', description: '' }, 'lead');
    await life.team.worktrees.create('t1', 'lead');
    await repo.put('readme.md', 'moved on\n');
    repo.commit('main moves');
    await tree.put('src/a.ts', lines(1, 30).replace('line 2\n', 'two\n').replace('line 28\n', 'last\n'));
    await tree.put('new.txt', 'new\n');
    return life;
  };
  const acceptFirstHunk = async ({ reviews }: Life, mode: 'commit' | 'uncommitted'): Promise<void> => {
    const { files } = await reviews.reviewWork('t1');
    const hunk = files.find(({ path }) => path === 'src/a.ts')?.hunks[0];
    assert.ok(hunk);
    await reviews.acceptWork('t1', { files: [], hunks: [hunk.id] }, { mode });
  };
  const shown = async ({ reviews }: Life) =>
    (await reviews.reviewWork('t1')).files.map(({ path, hunks }) => [path, hunks.length]);
  /** As git does by itself once the objects are some weeks old. */
  const collect = async (): Promise<void> => {
    const old = new Date('2020-01-01T00:00:00Z');
    const objects = join(repo.root, '.git/objects');
    const entries = await readdir(objects, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), old, old);
    }
    repo.git('gc', '--quiet');
  };

  for (const mode of ['commit', 'uncommitted'] as const) {
    it(`outlives git's clearing away, and goes with the worktree (${mode})`, async () => {
      const life = await withTask();
      await acceptFirstHunk(life, mode);
      await collect();
      const rest = [
        ['new.txt', 1],
        ['src/a.ts', 1],
      ];
      assert.deepEqual(await shown(life), rest);
      const [, second] = (await life.reviews.reviewWork('t1')).files;
      assert.ok(second);
      await life.reviews.acceptWork('t1', { files: [second.id], hunks: [] }, { mode: 'uncommitted' });
      await collect();
      assert.deepEqual(await shown(life), [['new.txt', 1]]);
      assert.doesNotMatch(repo.git('log', '--all', '--format=%s'), /Handshake/);
      await life.reviews.removeWorktree('t1', { force: true });
      assert.equal(repo.git('for-each-ref', 'refs/handshake'), '');
    });
  }

  it('by an older version is kept from the next start on', async () => {
    const first = await withTask();
    await acceptFirstHunk(first, 'uncommitted');
    repo.git('update-ref', '-d', REF);
    const life = begin(repo, first.journal.written);
    assert.deepEqual(await life.reviews.recover(), []);
    await collect();
    assert.deepEqual(await shown(life), [
      ['new.txt', 1],
      ['src/a.ts', 1],
    ]);
  });

  it('and was cleared away is told, and reviewed again', async () => {
    const life = await withTask();
    await acceptFirstHunk(life, 'commit');
    repo.git('update-ref', '-d', REF);
    await collect();
    assert.match(
      (await life.reviews.recover()).join(),
      /^git has cleared away .* of the work of t1 was accepted/,
    );
    const { revision, files } = await life.reviews.reviewWork('t1');
    assert.deepEqual(
      files.map(({ path, hunks }) => [path, hunks.length]),
      [
        ['new.txt', 1],
        ['src/a.ts', 2],
      ],
    );
    await life.reviews.acceptWork('t1', { everything: revision });
    assert.deepEqual(repo.status(), []);
    assert.equal(await repo.text('src/a.ts'), await tree.text('src/a.ts'));
    assert.deepEqual(await shown(life), []);
  });
});
