import * as assert from 'node:assert/strict';
import { mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReviewRefusal, WorktreeRefusal } from '../../src/agent/reviewApi';
import { type GitRepo, initRepo, lines } from './support/gitRepo';
import { call, ScriptedModel, type Step, text } from './support/scriptedModel';
import { closeTeams, openTeam, type TestTeam } from './support/team';
import { resultTexts } from './support/turns';

const quiet: Step = [text('ok')];

/** A team over a real repository, in which everything is allowed. */
async function openRepoTeam(
  model: ScriptedModel,
  setup: Parameters<typeof openTeam>[1] = {},
): Promise<TestTeam & { repo: GitRepo }> {
  const home = await mkdtemp(join(await realpath(tmpdir()), 'handshake-'));
  const repo = await initRepo(join(home, 'workspace'));
  const team = await openTeam(model, { permissionMode: 'allow', ...setup }, home);
  return { ...team, repo };
}

describe('worktrees of tasks', function () {
  this.timeout(120_000);
  afterEach(closeTeams);

  it('case 40: five at once are five worktrees, and no stray branch', async () => {
    const model = new ScriptedModel({});
    const { core, repo } = await openRepoTeam(model);
    const ids = ['t1', 't2', 't3', 't4', 't5'];
    for (const id of ids) await core.createTask({ subject: `Task ${id}`, description: '' });
    const made = await Promise.all(ids.map((id) => core.createWorktree(id)));
    assert.deepEqual(
      made.map(({ path, branch, state }) => [path, branch, state]),
      ids.map((id) => [`.team/worktrees/${id}`, `handshake/${id}`, 'ready']),
    );
    assert.deepEqual(repo.branches(), [...ids.map((id) => `handshake/${id}`), 'main']);
    assert.equal((await readdir(join(repo.root, '.team/worktrees'))).length, 5);
    assert.deepEqual(repo.status(), []);
    await assert.rejects(core.createWorktree('t1'), /t1 already has a worktree: \.team\/worktrees\/t1/);
  });

  it('case 39: who has an isolated task works in its worktree, and the main checkout stays clean', async () => {
    const model = new ScriptedModel({ lead: [] });
    const team = await openRepoTeam(model);
    const { core, repo } = team;
    const main = (name: string): string => join(repo.root, name);
    await symlink(main('src'), main('alias'));
    repo.commit('a link');
    await core.createTask({ subject: 'Change a', description: '', isolated: true });
    await core.createTask({ subject: 'Change b', description: '' });
    model.add(
      'alice',
      [call('read_file', { path: 'readme.md' })],
      [call('claim_task', { task_id: 't1' })],
      [
        call('write_file', { path: main('src/a.ts'), content: 'x' }),
        call('read_file', { path: main('readme.md') }),
        call('read_file', { path: '../../../readme.md' }),
        call('read_file', { path: 'alias/a.ts' }),
        call('write_file', { path: 'readme.md', content: 'x' }),
        call('bash', { command: `echo x > ${main('readme.md')}` }),
        call('bash', { command: `sh -c "echo x > '${main('readme.md')}'"` }),
        call('bash', { command: 'cd ../../.. && echo x > readme.md' }),
        call('bash', { command: 'pwd && git branch --show-current' }),
        call('write_file', { path: join(repo.root, '.team/worktrees/t1/new.ts'), content: 'new\n' }),
        call('edit_file', { path: 'src/a.ts', old_text: 'line 3\n', new_text: 'LINE 3\n' }),
      ],
      [call('complete_task', { task_id: 't1', result: 'done' })],
      [call('bash', { command: 'pwd' }), call('write_file', { path: 'new.ts', content: 'main\n' })],
      quiet,
    );
    model.always('alice', quiet).always('lead', quiet);
    await core.spawn({ name: 'alice', role: 'coder', prompt: 'Take t1.' }, 'human');
    await core.whenIdle();
    const [refusals, after] = [model.of('alice')[3], model.of('alice')[5]].map(resultTexts);
    assert.ok(refusals && after);
    assert.match(
      refusals[0] ?? '',
      /src\/a\.ts': it is in the main checkout.*Use 'src\/a\.ts', that is .*\.team\/worktrees\/t1\/src\/a\.ts/,
    );
    assert.match(refusals[1] ?? '', /Cannot read .*it is in the main checkout/);
    assert.match(
      refusals[2] ?? '',
      /'\.\.\/\.\.\/\.\.\/readme\.md': it is in the main checkout.*Use 'readme\.md'/,
    );
    assert.match(refusals[3] ?? '', /'alias\/a\.ts': it is in the main checkout.*Use 'src\/a\.ts'/);
    assert.match(
      refusals[4] ?? '',
      /you have not read it/,
      'what was read in the main folder does not count here',
    );
    for (const n of [5, 6, 7]) assert.match(refusals[n] ?? '', /Not run: .* is in the main checkout/);
    assert.equal(refusals[8], `${join(repo.root, '.team/worktrees/t1')}\nhandshake/t1`);
    assert.match(refusals[9] ?? '', /Wrote/);
    assert.match(refusals[10] ?? '', /Edited/);
    assert.equal(after[0], repo.root);
    assert.deepEqual(repo.status(), ['?? new.ts']);
    assert.equal(await repo.text('new.ts'), 'main\n');
    const review = await core.reviewWork('t1');
    assert.deepEqual(
      review.files.map(({ path, status }) => [path, status]),
      [
        ['new.ts', 'added'],
        ['src/a.ts', 'modified'],
      ],
    );
  });

  it('a broken one fails closed', async () => {
    const model = new ScriptedModel({});
    const { core, repo } = await openRepoTeam(model);
    await core.createTask({ subject: 'Change a', description: '', isolated: true });
    await rm(join(repo.root, '.team/worktrees/t1/.git'));
    model.add(
      'alice',
      [call('claim_task', { task_id: 't1' })],
      [
        call('bash', { command: 'git add -A' }),
        call('read_file', { path: 'readme.md' }),
        call('write_file', { path: 'x', content: 'x' }),
      ],
      quiet,
    );
    model.always('alice', quiet).always('lead', quiet);
    await core.spawn({ name: 'alice', role: 'coder', prompt: 'Take t1.' }, 'human');
    await core.whenIdle();
    for (const result of resultTexts(model.of('alice')[2])) {
      assert.match(result, /The worktree of t1 cannot be used: .*\.git file is missing.*Nothing was done/);
    }
    assert.deepEqual(repo.status(), []);
    await assert.rejects(
      core.acceptWork('t1', { everything: '' }),
      (error) => error instanceof ReviewRefusal && error.code === 'at_work',
    );
  });

  it('the lead makes one by its tool, for a task that nobody has', async () => {
    const model = new ScriptedModel({
      lead: [
        [
          call('create_task', { subject: 'One' }),
          call('create_worktree', { task_id: 't1' }),
          call('create_worktree', { task_id: 't1' }),
          call('create_worktree', { task_id: 't9' }),
        ],
        quiet,
      ],
    });
    const { core } = await openRepoTeam(model);
    await core.sendToLead('Go.');
    const [, made, twice, unknown] = resultTexts(model.of('lead')[1]);
    assert.match(
      made ?? '',
      /^Created worktree \.team\/worktrees\/t1 for t1 on branch handshake\/t1, from main\./,
    );
    assert.match(twice ?? '', /t1 already has a worktree/);
    assert.match(unknown ?? '', /There is no task 't9'/);
  });

  it('a window that closes carries a merge through, and does not wait for its check', async () => {
    const team = await openRepoTeam(new ScriptedModel({}), {
      review: { merge: 'commit', checkCommand: 'sleep 600' },
    });
    const { core, repo } = team;
    await core.createTask({ subject: 'Change a', description: '', isolated: true });
    await repo.at('.team/worktrees/t1').put('src/a.ts', 'changed\n');
    const { revision } = await core.reviewWork('t1');
    let closed: Promise<void> | undefined;
    const outcome = await core.acceptWork(
      't1',
      { everything: revision },
      {
        onCheck: () => {
          closed = core.dispose();
        },
      },
    );
    assert.equal(outcome.check?.cancelled, true);
    await closed;
    assert.equal(await repo.text('src/a.ts'), 'changed\n');
    await assert.rejects(core.acceptWork('t1', { everything: revision }), { code: 'closing' });
    const again = await team.reopen();
    assert.equal(again.core.task('t1')?.worktree?.accepted[0]?.outcome, 'merged');
  });

  it('a merge with conflicts has come home once the human has resolved and committed it', async () => {
    const model = new ScriptedModel({});
    const team = await openRepoTeam(model);
    const { core, repo } = team;
    await core.createTask({ subject: 'Change a', description: '', isolated: true });
    model.add(
      'alice',
      [call('claim_task', { task_id: 't1' })],
      [
        call('bash', { command: 'sed -i "1s/.*/THEIRS/" src/a.ts && echo n > note.txt' }),
        call('complete_task', { task_id: 't1', result: 'ok' }),
      ],
      quiet,
    );
    model.always('alice', quiet).always('lead', quiet);
    await core.spawn({ name: 'alice', role: 'coder', prompt: 'Take t1.' }, 'human');
    await core.whenIdle();
    await repo.put('src/a.ts', `OURS\n${lines(2, 30)}`);
    repo.commit('ours');
    const outcomeNow = async (): Promise<string | undefined> => {
      await core.reviewWork('t1');
      return core.task('t1')?.worktree?.accepted.at(-1)?.outcome;
    };
    const { revision } = await core.reviewWork('t1');
    const { outcome, conflicts } = await core.acceptWork('t1', { everything: revision });
    assert.deepEqual([outcome, conflicts], ['conflicts', ['src/a.ts']]);
    assert.equal(await outcomeNow(), 'conflicts');
    await repo.put('src/a.ts', `BOTH\n${lines(2, 30)}`);
    repo.git('add', 'src/a.ts');
    assert.equal(await outcomeNow(), 'conflicts', 'not committed yet');
    repo.git('commit', '--quiet', '--no-edit');
    assert.equal(await outcomeNow(), 'merged');
    assert.equal(repo.git('log', '-1', '--format=%s'), 'Change a');
    const again = await team.reopen();
    assert.equal(again.core.task('t1')?.worktree?.accepted.at(-1)?.outcome, 'merged');
  });

  it('work is accepted, sent back and accepted again; then the worktree can go', async () => {
    const model = new ScriptedModel({});
    const team = await openRepoTeam(model, {
      review: { merge: 'commit', checkCommand: 'cat src/a.ts | head -1' },
    });
    const { core, repo } = team;
    await core.createTask({ subject: 'Change a', description: 'In the first line.', isolated: true });
    model.add(
      'alice',
      [call('claim_task', { task_id: 't1' })],
      [
        call('bash', { command: 'sed -i "1s/.*/FIRST/" src/a.ts && echo n > note.txt' }),
        call('complete_task', { task_id: 't1', result: 'ok' }),
      ],
      quiet,
    );
    model.always('alice', quiet).always('lead', quiet);
    await core.spawn({ name: 'alice', role: 'coder', prompt: 'Take t1.' }, 'human');
    await core.whenIdle();

    const first = await core.reviewWork('t1');
    await assert.rejects(
      core.acceptWork('t1', { everything: 'another' }),
      (error) => error instanceof ReviewRefusal && error.code === 'changed_meanwhile',
    );
    const hunk = first.files.find(({ path }) => path === 'src/a.ts')?.hunks[0];
    const outcome = await core.acceptWork('t1', { hunks: [hunk?.id ?? ''] });
    assert.equal(outcome.outcome, 'merged');
    assert.equal(outcome.remaining, 1);
    assert.deepEqual(outcome.check, {
      command: 'cat src/a.ts | head -1',
      passed: true,
      exitCode: 0,
      timedOut: false,
      cancelled: false,
      output: 'FIRST\n',
    });
    assert.equal(
      repo.git('log', '-1', '--format=%B'),
      'Change a\n\nIn the first line.\n\nDone by the teammate alice.\n',
    );
    await assert.rejects(core.removeWorktree('t1'), (error) => {
      assert.ok(error instanceof WorktreeRefusal);
      assert.deepEqual(error.report.unmerged, ['note.txt']);
      return true;
    });

    model.add(
      'alice',
      [
        call('bash', { command: 'cat note.txt && echo better > note.txt' }),
        call('complete_task', { task_id: 't1', result: 'better' }),
      ],
      quiet,
    );
    await core.sendBack('t1', 'A better note, please.');
    await core.whenIdle();
    assert.equal(core.task('t1')?.status, 'completed');
    assert.match(core.task('t1')?.notes.at(-1)?.text ?? '', /Sent back: A better note/);
    const second = await core.reviewWork('t1');
    assert.deepEqual(
      second.files.map(({ path }) => path),
      ['note.txt'],
    );
    const blob = second.files[0]?.workBlob ?? '';
    assert.equal(Buffer.from(await core.reviewContent('t1', blob)).toString(), 'better\n');
    await core.acceptWork('t1', { everything: second.revision });
    assert.deepEqual(repo.status(), []);

    const again = await team.reopen();
    assert.equal(again.core.task('t1')?.worktree?.accepted.length, 2);
    await again.core.removeWorktree('t1');
    assert.equal(again.core.task('t1')?.worktree, undefined);
    assert.deepEqual(repo.branches(), ['main']);
    assert.equal(await repo.text('src/a.ts'), `FIRST\n${lines(2, 30)}`);
  });
});
