import * as assert from 'node:assert/strict';
import { mkdtemp, readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  acceptAll,
  acceptedOf,
  changeLine,
  changesOf,
  type ProposalPayload,
  readAccepted,
} from '../../src/protocol';
import { Ledger } from '../../src/team/ledger';
import type { TeamRecord } from '../../src/team/records';
import { Team } from '../../src/team/team';
import { initRepo } from './support/gitRepo';
import { coreSettings, countingClock, HeldJournal } from './support/heldJournal';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { resultTexts, shown } from './support/turns';
import { FakeGit } from './support/worktreePlay';

const PROPOSAL: ProposalPayload = {
  members: [
    { name: 'ada', role: 'coder', prompt: 'Write it.', task: 'parser' },
    { name: 'bert', role: 'tester', prompt: 'Test it.' },
  ],
  tasks: [
    { key: 'parser', subject: 'Write the parser', description: 'In src/.', isolated: true },
    { key: 'tests', subject: 'Test the parser', description: 'All of it.', blocked_by: ['parser'] },
  ],
};
const HUMAN = { by: 'human', via: 'ui' } as const;

/** One life of a team whose git is a fake, over what earlier ones wrote. */
function begin(records: readonly TeamRecord[] = [], git = new FakeGit()) {
  const journal = new HeldJournal();
  journal.written.push(...records);
  const found = { t: 'team', team_id: 'team-1', team_name: 'work', at: 0 } as const;
  const ledger = new Ledger(
    journal,
    () => found,
    (error) => {
      throw error;
    },
  );
  ledger.replay(
    records.map((record) => ({ record })),
    0,
  );
  const team = new Team(ledger, countingClock(), () => coreSettings(), git);
  const woken: string[] = [];
  team.useRunners(({ name }, waits) => {
    woken.push(`${name} ${waits ? 'waits' : 'begins'}`);
    return { wake: (cause) => void woken.push(`${name} ${cause}`) };
  });
  return { team, journal, git, woken };
}

/** The proposal, approved; its worktree is not begun. */
async function approved() {
  const life = begin();
  const { requestId } = await life.team.decisions.open({
    kind: 'team_proposal',
    from: 'lead',
    to: 'human',
    payload: PROPOSAL,
    work: { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 },
  });
  await life.team.decisions.decide({ requestId, approve: true, ...HUMAN });
  return life;
}

const mailOf = (team: Team, name: string): string[] => team.unread(name).map(({ content }) => content);

describe('an isolated task of a proposal', function () {
  this.timeout(60_000);
  afterEach(closeTeams);

  it('can be chosen and unchosen by the human, and the change is told in words', () => {
    const whole = acceptAll(PROPOSAL);
    assert.deepEqual(
      whole.tasks.map(({ isolated }) => isolated),
      [true, undefined],
    );
    assert.equal(readAccepted(PROPOSAL, structuredClone(whole)), undefined);
    const [parser, tests] = structuredClone(whole.tasks);
    assert.ok(parser && tests);
    const swapped = { members: whole.members, tasks: [{ ...parser, isolated: false }, tests] };
    const accepted = readAccepted(PROPOSAL, {
      ...swapped,
      tasks: [swapped.tasks[0], { ...tests, isolated: true }],
    });
    assert.deepEqual(
      accepted?.tasks.map((task) => task.isolated),
      [undefined, true],
    );
    assert.deepEqual(changesOf(PROPOSAL, accepted).map(changeLine), [
      'task parser: isolated: yes -> no',
      'task tests: isolated: no -> yes',
    ]);
    assert.throws(() => readAccepted(PROPOSAL, { ...whole, tasks: [{ ...parser, isolated: 'yes' }] }));
    // As an older journal has it.
    assert.equal(acceptedOf({ payload: PROPOSAL, accepted: { ...whole, tasks: [tests] } }).tasks.length, 1);
  });

  it('is kept for who begins with it, who works nowhere until the worktree is there and has it then', async () => {
    const { team, journal, woken } = await approved();
    assert.deepEqual(woken, ['ada waits', 'bert begins', 'bert mail']);
    const task = team.board.get('t1');
    assert.deepEqual([task.isolated, task.status, task.owner], [true, 'pending', undefined]);
    assert.deepEqual(team.worktrees.placeOf('ada'), {
      kind: 'none',
      taskId: 't1',
      reason: 'The worktree of t1 is not there yet.',
    });
    assert.equal(team.worktrees.placeOf('bert').kind, 'main');
    await assert.rejects(team.board.claim('t1', { name: 'bert', incarnation: 1 }), /cannot begin yet/);
    assert.match(mailOf(team, 'lead').join(), /t1 on the board: .*\(its worktree is being made; ada has it/);

    assert.deepEqual(await Promise.all([team.worktrees.makeDue('t1'), team.worktrees.makeDue('t1')]), [
      undefined,
      undefined,
    ]);
    assert.deepEqual(journal.kinds().slice(-3), ['worktree_begun', 'worktree_made', 'task_claimed']);
    assert.equal(team.board.get('t1').owner, 'ada');
    assert.deepEqual(team.board.book.due(), []);
    assert.equal(team.worktrees.placeOf('ada').kind, 'worktree');
    assert.equal(woken.at(-1), 'ada mail');
    const [prompt, given] = mailOf(team, 'ada');
    assert.equal(prompt, 'Write it.');
    assert.match(given ?? '', /^lead has given you task t1 .*git worktree of its own, w\/t1/s);
    assert.equal(team.state.member('ada')?.taskId, 't1');
  });

  for (const [when, until] of [
    ['between the decision and the worktree', 0],
    ['while the worktree is being made', 1],
    ['before the worktree is noted', 2],
  ] as const) {
    it(`is made and given once, cut off by a crash ${when}`, async () => {
      const first = await approved();
      first.journal.held = true;
      void first.team.worktrees.makeDue('t1');
      await first.journal.arrived(1);
      for (let done = 1; done < until; done++) {
        first.journal.letThrough();
        await first.journal.arrived(1);
      }
      if (until === 1) {
        first.git.next = 'slow';
        first.journal.letThrough();
      }
      const git = first.git.survive();
      const second = begin(first.journal.written, git);
      assert.deepEqual(await second.team.worktrees.recover(), []);
      assert.equal(second.team.board.get('t1').owner, 'ada');
      assert.equal(mailOf(second.team, 'ada').length, 2);
      assert.deepEqual([...git.there.values()], ['b/t1']);
      const third = begin(second.journal.written, git.survive());
      assert.deepEqual(await third.team.worktrees.recover(), []);
      assert.equal(third.team.board.get('t1').owner, 'ada');
      assert.equal(mailOf(third.team, 'ada').length, 2);
      assert.equal(third.journal.kinds().filter((kind) => kind === 'worktree_begun').length, 1);
    });
  }

  it('whose worktree cannot be made stays untaken, the lead is told once, and gives it later', async () => {
    const { team, journal, git, woken } = await approved();
    git.next = 'fails';
    assert.equal(await team.worktrees.makeDue('t1'), 'git failed');
    assert.equal(await team.worktrees.makeDue('t1'), undefined);
    const told = mailOf(team, 'lead').filter((content) => content.includes('has no worktree'));
    assert.equal(told.length, 1);
    assert.match(
      told[0] ?? '',
      /Task t1 \(Write the parser\) has no worktree\. .*git failed.*ada, who .*has not begun/s,
    );
    assert.equal(team.board.book.isReady('t1'), false);
    assert.deepEqual(mailOf(team, 'ada'), ['Write it.']);
    assert.ok(!woken.includes('ada mail'));
    // So it is after a restart, and nothing is tried unasked.
    const again = begin(journal.written, git.survive());
    assert.deepEqual(await again.team.worktrees.recover(), []);
    assert.equal(again.team.board.get('t1').worktree, undefined);

    await again.team.worktrees.create('t1', 'lead');
    assert.equal(again.team.board.get('t1').owner, 'ada');
    assert.equal(mailOf(again.team, 'ada').length, 2);
  });

  it('is free for anybody where who was to begin with it has left, or has another task', async () => {
    const { team } = await approved();
    await team.end('ada', 1, 'shutdown', undefined);
    await team.worktrees.makeDue('t1');
    assert.equal(team.board.book.isReady('t1'), true);

    const other = (await approved()).team;
    await other.board.create({ subject: 'Other', description: '' }, 'lead');
    await other.board.assign('t3', 'ada', 'lead');
    await other.worktrees.makeDue('t1');
    assert.equal(other.board.book.isReady('t1'), true);
    assert.match(mailOf(other, 'ada').at(-1) ?? '', /You cannot begin with t1: ada has t3 under way/);
  });

  it('is begun in its worktree by the running team', async () => {
    const home = await mkdtemp(join(await realpath(tmpdir()), 'handshake-'));
    const repo = await initRepo(join(home, 'workspace'));
    const model = new ScriptedModel({
      lead: [[call('propose_team', { members: [PROPOSAL.members[0]], tasks: [PROPOSAL.tasks?.[0]] })]],
      ada: [[call('write_file', { path: 'new.ts', content: 'new\n' })]],
    });
    model.always('lead', [text('Seen.')]).always('ada', [text('Written.')]);
    const team = await openTeam(model, { permissionMode: 'allow' }, home);
    await team.core.sendToLead('Propose a team.');
    const { requestId } = await team.pending('team_proposal');
    await team.core.decide({ requestId, approve: true, ...HUMAN });
    await team.core.whenIdle();
    const first = shown(model.of('ada')[0]);
    assert.match(first, /Write it\./);
    assert.match(first, /lead has given you task t1/);
    assert.equal(await readFile(join(repo.root, '.team/worktrees/t1/new.ts'), 'utf8'), 'new\n');
    assert.deepEqual(repo.status(), []);
    assert.deepEqual(team.core.resumable(), []);
  });

  it('in a folder without git leaves its member idle with the prompt, until somebody speaks to it', async () => {
    const model = new ScriptedModel({
      lead: [[call('propose_team', { members: [PROPOSAL.members[0]], tasks: [PROPOSAL.tasks?.[0]] })]],
    });
    model.always('lead', [text('Seen.')]).always('ada', [text('Written.')]);
    const team = await openTeam(model, {
      permissionMode: 'allow',
      resume: 'always',
      approvals: { plan: 'either', permission: 'human', team: 'auto' },
    });
    await team.core.sendToLead('Propose a team.');
    await team.core.whenIdle();
    assert.match(resultTexts(model.of('lead')[1]).join(), /Created t1: Write the parser/);
    assert.equal(model.of('ada').length, 0);
    assert.match(
      model.of('lead').map(shown).join(),
      /Task t1 \(Write the parser\) has no worktree\. It could/,
    );
    assert.match(team.notices().join(), /The worktree of t1 could not be made/);
    assert.deepEqual(
      team.core.members().map(({ name, status }) => [name, status]),
      [['ada', 'idle']],
    );
    // A restart is no word to begin in the main folder, also where members go on by themselves.
    assert.deepEqual(team.core.resumable(), []);
    const again = await team.reopen(model);
    await again.core.whenIdle();
    assert.equal(model.of('ada').length, 0);
    await again.core.sendMessage('ada', 'Go on without it.');
    await again.core.whenIdle();
    assert.match(shown(model.of('ada')[0]), /Write it\..*Go on without it\./s);
  });
});
