import * as assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TeamRecord } from '../../src/team/records';
import type { WorktreeGit } from '../../src/team/worktree';
import { doneWith, newScratchName } from '../../src/workspace/git/leftovers';
import { callOf, GitReview } from '../../src/workspace/git/review';
import { GitWorktrees } from '../../src/workspace/git/worktrees';
import { MARK_NAME, newMark } from '../../src/workspace/markedProcesses';
import { type GitRepo, makeRepo } from './support/gitRepo';
import { begin } from './support/reviewLife';

describe('worktrees and merges that a crash cuts off', function () {
  this.timeout(120_000);

  let repo: GitRepo;
  beforeEach(async () => {
    repo = await makeRepo();
  });
  afterEach(() => repo.remove());

  const isClean = (): void => {
    assert.deepEqual(repo.branches(), ['handshake/t1', 'main']);
    assert.equal(repo.git('worktree', 'list').split('\n').length, 2);
    assert.deepEqual(repo.status(), []);
  };

  for (const [when, leave] of [
    ['before git began', async () => undefined],
    ['when only the branch was made', async () => void repo.git('branch', 'handshake/t1')],
    [
      'in the middle of the checkout',
      async () => {
        repo.git('worktree', 'add', '--no-checkout', '-b', 'handshake/t1', '.team/worktrees/t1');
        await mkdir(join(repo.root, '.team/worktrees/t1/src'), { recursive: true });
      },
    ],
  ] as const) {
    it(`one that was being made is made, cut off ${when}`, async () => {
      const real = new GitWorktrees(repo.root);
      const never: WorktreeGit = {
        plan: (id) => real.plan(id),
        make: () => new Promise(() => undefined),
        clear: (plan) => real.clear(plan),
        problem: (path, branch) => real.problem(path, branch),
        remove: (path, branch) => real.remove(path, branch),
      };
      const first = begin(repo, [], never);
      await first.team.board.create({ subject: 'One', description: '' }, 'lead');
      const begun = new Promise<void>((resolve) => {
        first.team.ledger.events.on((event) => {
          if (event.type === 'task' && event.change === 'worktree') resolve();
        });
      });
      void first.team.worktrees.create('t1', 'lead');
      await begun;
      assert.equal(first.team.worktrees.placeOf('nobody').kind, 'main');
      await leave();

      const second = begin(repo, first.journal.written);
      assert.equal(second.team.board.book.isReady('t1'), false);
      assert.deepEqual(await second.reviews.recover(), []);
      assert.equal(second.team.board.get('t1').worktree?.state, 'ready');
      assert.equal(second.team.board.book.isReady('t1'), true);
      assert.equal(await repo.at('.team/worktrees/t1').text('readme.md'), 'one\ntwo\nthree\n');
      isClean();
      // Once more: there is nothing left to do.
      assert.deepEqual(await begin(repo, second.journal.written).reviews.recover(), []);
      isClean();
    });
  }

  // Only Linux shows whose a process is.
  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('one whose git still works when the window is gone: it is ended, and made anew', async () => {
    const worktrees = new GitWorktrees(repo.root);
    const plan = await worktrees.plan('t1');
    const folder = worktrees.folderOf(plan.path);
    await repo.put('.gitattributes', 'slow.txt filter=slow\n');
    await repo.put('slow.txt', 'slow\n');
    const base = repo.commit('slow');
    repo.git('config', 'filter.slow.smudge', 'echo begun >&2; sleep 600; cat');
    const left = spawn('git', ['worktree', 'add', '-b', plan.branch, folder, base], {
      cwd: repo.root,
      env: { ...process.env, [MARK_NAME]: newMark(`make worktree ${folder}`) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(left, 'close');
    for await (const said of left.stderr) if (String(said).includes('begun')) break;
    repo.git('config', 'filter.slow.smudge', 'cat');
    await worktrees.clear({ ...plan, base });
    await ended;
    assert.deepEqual(repo.branches(), ['main']);
    await worktrees.make({ ...plan, base });
    assert.equal(await repo.at(plan.path).text('slow.txt'), 'slow\n');
    isClean();
  });

  it('one that was made and not noted is made once', async () => {
    const first = begin(repo, []);
    await first.team.board.create({ subject: 'One', description: '' }, 'lead');
    first.journal.held = true;
    void first.team.worktrees.create('t1', 'lead');
    await first.journal.arrived(1);
    first.journal.letThrough();
    await first.journal.arrived(1);
    assert.deepEqual(repo.branches(), ['handshake/t1', 'main']);
    const second = begin(repo, first.journal.written);
    assert.deepEqual(await second.reviews.recover(), []);
    assert.equal(second.team.board.get('t1').worktree?.state, 'ready');
    isClean();
  });

  it('one that was being removed is gone', async () => {
    const first = begin(repo, []);
    await first.team.board.create({ subject: 'One', description: '' }, 'lead');
    await first.team.worktrees.create('t1', 'lead');
    first.journal.held = true;
    void first.reviews.removeWorktree('t1');
    await first.journal.arrived(1);
    first.journal.letThrough();
    await first.journal.arrived(1);
    const second = begin(repo, first.journal.written);
    assert.equal(second.team.board.get('t1').worktree?.state, 'removing');
    assert.deepEqual(await second.reviews.recover(), []);
    assert.equal(second.team.board.get('t1').worktree, undefined);
    assert.deepEqual(repo.branches(), ['main']);
  });

  describe('an acceptance', () => {
    /** A team whose one task has work to accept, and the records so far. */
    const withWork = async (): Promise<readonly TeamRecord[]> => {
      const { team, journal } = begin(repo, []);
      await team.board.create({ subject: 'One', description: '' }, 'lead');
      await team.worktrees.create('t1', 'lead');
      await repo.at('.team/worktrees/t1').put('src/a.ts', 'changed\n');
      await repo.at('.team/worktrees/t1').put('new.txt', 'new\n');
      return journal.written;
    };
    /** The records of one that was begun, up to the given append; git has done what it does before the next one. */
    const cutOffAfter = async (
      records: readonly TeamRecord[],
      appends: number,
    ): Promise<readonly TeamRecord[]> => {
      const { reviews, journal } = begin(repo, records);
      const { revision } = await reviews.reviewWork('t1');
      journal.held = true;
      void reviews.acceptWork('t1', { everything: revision });
      for (let done = 0; done < appends; done++) {
        await journal.arrived(1);
        journal.letThrough();
      }
      await journal.arrived(1);
      return journal.written;
    };
    const commits = (): string[] => repo.git('log', '--format=%s').split('\n');

    it('that was not noted has not happened', async () => {
      const records = await cutOffAfter(await withWork(), 0);
      assert.deepEqual(await begin(repo, records).reviews.recover(), []);
      assert.deepEqual(commits(), ['first']);
      isClean();
    });

    it('that was done and not noted is done once', async () => {
      const records = await cutOffAfter(await withWork(), 1);
      assert.deepEqual(commits(), ['One', 'first']);
      const again = begin(repo, records);
      assert.match((await again.reviews.recover()).join(), /was cut off, and is finished now/);
      assert.equal(again.team.board.get('t1').worktree?.accepted[0]?.outcome, 'merged');
      assert.deepEqual((await again.reviews.reviewWork('t1')).files, []);
      assert.deepEqual(commits(), ['One', 'first']);
      isClean();
    });

    it('that was noted and not done, or half done, is carried out', async () => {
      const records = await cutOffAfter(await withWork(), 1);
      // As before its last steps: the branch has not moved, and one of two files is written.
      repo.git('reset', '--quiet', '--hard', 'HEAD~1');
      await repo.put('new.txt', 'new\n');
      const again = begin(repo, records);
      assert.match((await again.reviews.recover()).join(), /is finished now/);
      assert.deepEqual(commits(), ['One', 'first']);
      assert.equal(await repo.text('src/a.ts'), 'changed\n');
      isClean();
    });

    onLinux('whose git still works when the window is gone is waited for, and finished once', async () => {
      const [begun, go, log] = ['begun', 'go', 'smudged'].map((name) => join(repo.root, '..', name));
      execFileSync('mkfifo', [begun ?? '', go ?? '']);
      await repo.put('.gitattributes', 'slow.txt filter=slow\n');
      repo.commit('attributes');
      const before = await withWork();
      await repo.at('.team/worktrees/t1').put('slow.txt', 'slow\n');
      const smudge = `echo x >> '${log}'; echo > '${begun}'; cat '${go}' > '${log}.rest'; cat`;
      repo.git('config', 'filter.slow.smudge', smudge);

      let isHeld = true;
      const first = begin(repo, before, undefined, undefined, () => isHeld);
      const { revision } = await first.reviews.reviewWork('t1');
      const accepting = first.reviews.acceptWork('t1', { everything: revision });
      const left = assert.rejects(accepting, /Another window has taken over the team/);
      await readFile(begun ?? '');
      // Its window does nothing more, and git goes on.
      isHeld = false;
      const release = () => writeFile(go ?? '', '');
      class Watched extends GitReview {
        override async settle(id: string): Promise<void> {
          await release();
          await super.settle(id);
        }
      }
      const second = begin(repo, first.journal.written, undefined, new Watched(repo.root));
      assert.match((await second.reviews.recover()).join(), /is finished now/);
      await left;
      assert.equal(await readFile(log ?? '', 'utf8'), 'x\n', 'two have written the file');
      assert.deepEqual(commits(), ['One', 'attributes', 'first']);
      assert.equal(await repo.text('slow.txt'), 'slow\n');
      isClean();
    });

    onLinux('whose git hangs ends with it; the git of another acceptance does not', async () => {
      const start = (id: string) =>
        spawn('sleep', ['600'], {
          env: { ...process.env, [MARK_NAME]: newMark(callOf(id)) },
          stdio: 'ignore',
        });
      const [own, other] = [start('a-1'), start('a-11')];
      const ended = once(own, 'close');
      await Promise.all([once(own, 'spawn'), once(other, 'spawn')]);
      try {
        await new GitReview(repo.root, 0).settle('a-1');
        await ended;
        assert.equal(other.exitCode ?? other.signalCode, null);
      } finally {
        other.kill();
      }
    });

    it('leaves no file of a window that is gone beside the indexes, and takes nobody else his', async () => {
      const records = await withWork();
      const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
      await once(dead, 'close');
      const living = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' });
      await once(living, 'spawn');
      try {
        const mine = newScratchName();
        const of = (pid: number | undefined): string =>
          `index.${mine.replace(`-${process.pid}-`, `-${String(pid)}-`)}`;
        const gone = of(dead.pid);
        const kept = [of(living.pid), `index.${mine}`, 'index.handshake-00000000-1-0123456789ab'];
        const folders = [join(repo.root, '.git'), join(repo.root, '.git/worktrees/t1')];
        for (const folder of folders) {
          for (const name of [gone, `${gone}.lock`, ...kept, 'index.lock'])
            await writeFile(join(folder, name), '');
        }
        assert.deepEqual(await begin(repo, records).reviews.recover(), []);
        for (const folder of folders) {
          const left = (await readdir(folder)).filter((name) => name.startsWith('index.'));
          assert.deepEqual(left.sort(), [...kept, 'index.lock'].sort());
        }
        doneWith(mine);
        assert.deepEqual(await begin(repo, records).reviews.recover(), []);
        assert.deepEqual((await readdir(folders[0] ?? '')).includes(`index.${mine}`), false);
      } finally {
        living.kill();
      }
    });

    it('is given up where the user has gone on, and nothing of theirs is touched', async () => {
      const records = await cutOffAfter(await withWork(), 1);
      repo.git('reset', '--quiet', '--hard', 'HEAD~1');
      await repo.put('src/a.ts', 'mine\n');
      const again = begin(repo, records);
      assert.match((await again.reviews.recover()).join(), /have changed: src\/a\.ts\. .*review it again/);
      assert.equal(await repo.text('src/a.ts'), 'mine\n');
      assert.deepEqual(commits(), ['first']);
      assert.deepEqual((await again.reviews.reviewWork('t1')).files.length, 2);
    });
  });
});
