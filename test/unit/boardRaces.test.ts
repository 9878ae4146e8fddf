import * as assert from 'node:assert/strict';
import type { Ledger } from '../../src/team/ledger';
import { Ledger as RealLedger } from '../../src/team/ledger';
import type { CallRef } from '../../src/team/recordParts';
import { claimedReply, completedText } from '../../src/team/taskTexts';
import { Team } from '../../src/team/team';
import { coreSettings, countingClock, HeldJournal, replayed } from './support/heldJournal';

/** A team whose disk the test holds; three teammates are there, and three tasks. */
async function heldTeam() {
  const journal = new HeldJournal();
  const ledger: Ledger = new RealLedger(
    journal,
    () => ({ t: 'team', team_id: 'team', team_name: 'team', at: 0 }),
    (error) => {
      throw error;
    },
  );
  const team = new Team(ledger, countingClock(), coreSettings);
  team.useRunners(() => ({ wake: () => undefined }));
  for (const name of ['alice', 'bob']) await team.spawn({ name, role: 'coder', prompt: 'Go.' }, 'lead');
  for (const subject of ['A', 'B', 'C']) await team.board.create({ subject, description: '' }, 'lead');
  return { journal, team, board: team.board };
}

const alice = { name: 'alice', incarnation: 1 };
const bob = { name: 'bob', incarnation: 1 };

/** What became of each: the value, or the error's text. */
async function outcomes(...work: Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(work);
  return settled.map((outcome) =>
    outcome.status === 'fulfilled'
      ? 'done'
      : outcome.reason instanceof Error
        ? outcome.reason.message
        : 'failed',
  );
}

describe('the board: what happens in one tick', () => {
  it('of two that claim one task, one has it, and the other is told by whom', async () => {
    const { team, board, journal } = await heldTeam();
    const got = await outcomes(board.claim('t1', alice), board.claim('t1', bob));
    assert.deepEqual(got, ['done', 't1 is already claimed by alice.']);
    assert.equal(board.get('t1').owner, 'alice');
    assert.equal(team.state.member('bob')?.workVersion, 1);
    const claims = journal.written.filter((record) => record.t === 'task_claimed');
    assert.equal(claims.length, 1, 'the other wrote nothing');
  });

  it('the second is checked against the outcome: where the first cannot be written, the second has it', async () => {
    const { board, journal } = await heldTeam();
    journal.held = true;
    const both = outcomes(board.claim('t1', alice), board.claim('t1', bob));
    journal.fail(new Error('ENOSPC'));
    journal.release();
    assert.deepEqual(await both, ['ENOSPC', 'done']);
    assert.equal(board.get('t1').owner, 'bob');
  });

  it('one member that claims two has one; a claim and a gift in one tick are one', async () => {
    const { board } = await heldTeam();
    const got = await outcomes(board.claim('t1', alice), board.claim('t2', alice));
    assert.deepEqual(got, ['done', 'alice has t1 under way (A); one task at a time.']);
    const mixed = await outcomes(board.assign('t2', 'bob', 'human'), board.claim('t3', bob));
    assert.deepEqual(mixed, ['done', 'bob has t2 under way (B); one task at a time.']);
  });

  it('two edits that would close a circle: the second is refused', async () => {
    const { board } = await heldTeam();
    const got = await outcomes(
      board.edit('t1', { blockedBy: ['t2'] }, 'lead'),
      board.edit('t2', { blockedBy: ['t3'] }, 'human'),
      board.edit('t3', { blockedBy: ['t1'] }, 'lead'),
    );
    assert.deepEqual(got, [
      'done',
      'done',
      'That would be a circle: t3 waits for t1 waits for t2 waits for t3.',
    ]);
    assert.deepEqual(
      board.book.all().map(({ blockedBy }) => blockedBy),
      [['t2'], ['t3'], []],
    );
  });

  it('a claim and an edit that makes the task wait: whoever is first counts', async () => {
    const { board } = await heldTeam();
    const got = await outcomes(board.edit('t1', { blockedBy: ['t2'] }, 'lead'), board.claim('t1', alice));
    assert.deepEqual(got, ['done', 't1 cannot begin yet: it waits for t2.']);
    const other = await outcomes(board.claim('t2', alice), board.edit('t2', { blockedBy: ['t3'] }, 'lead'));
    assert.deepEqual(other, [
      'done',
      't2 is in_progress: it cannot be made to wait for t3. Set it to pending first.',
    ]);
  });

  it('tasks made in one tick have ids of their own, also where one cannot be written', async () => {
    const { board, journal } = await heldTeam();
    journal.held = true;
    const making = outcomes(
      board.create({ subject: 'D', description: '' }, 'lead'),
      board.create({ subject: 'E', description: '' }, 'human'),
    );
    journal.fail(new Error('ENOSPC'));
    journal.release();
    assert.deepEqual(await making, ['ENOSPC', 'done']);
    assert.deepEqual(
      board.book
        .all()
        .map(({ id, subject }) => `${id} ${subject}`)
        .slice(3),
      ['t5 E'],
    );
    assert.equal((await board.create({ subject: 'F', description: '' }, 'lead')).id, 't6');
  });

  it('a completion and a release of one task: one counts, the other is told', async () => {
    const { board } = await heldTeam();
    await board.claim('t1', alice);
    const got = await outcomes(board.complete('t1', alice, 'R'), board.release('t1', 'human'));
    assert.deepEqual(got, ['done', 'Nobody has t1: it is completed.']);
    await board.claim('t2', alice);
    const other = await outcomes(board.release('t2', 'human'), board.complete('t2', alice, 'R'));
    assert.deepEqual(other, [
      'done',
      "t2 is not yours to complete: it is pending and nobody's; claim it first.",
    ]);
  });

  it('a claim on its way to the disk while its member is force stopped leaves nothing under way', async () => {
    const { team, board, journal } = await heldTeam();
    journal.held = true;
    const claiming = outcomes(board.claim('t1', alice));
    team.fence('alice', 1);
    const ending = team.end('alice', 1, 'shutdown', 'force stopped');
    journal.release();
    await Promise.all([claiming, ending]);
    assert.equal(board.get('t1').status, 'pending');
    assert.deepEqual(await outcomes(board.claim('t1', alice)), ['alice was stopped.']);
    assert.equal(replayed(journal.written).ledger.state.tasks.book.get('t1')?.owner, undefined);
  });

  it('case 52: a claim withdraws the plan that waits, and the click on it decides nothing', async () => {
    const { team, board, journal } = await heldTeam();
    const member = team.resolveAlive('alice');
    const plan = await team.decisions.open({
      kind: 'plan_approval',
      from: 'alice',
      to: 'lead',
      payload: { plan: 'P' },
      work: {
        member: 'alice',
        incarnation: 1,
        taskId: member.taskId,
        workVersion: member.workVersion,
      },
    });
    const click = { requestId: plan.requestId, approve: true, by: 'human', via: 'ui' as const };
    journal.held = true;
    const both = outcomes(board.claim('t2', alice), team.decisions.decide(click));
    journal.release();
    const [claimed, clicked] = await both;
    assert.equal(claimed, 'done');
    assert.match(clicked ?? '', /cancelled|withdrawn|superseded/);
    const now = team.decisions.registry.get(plan.requestId);
    assert.equal(now?.status, 'cancelled');
    assert.match(now?.cancelReason ?? '', /superseded: alice's work changed/);
    assert.notEqual(team.decisions.gateOf('alice'), 'approved');
  });

  it('a required plan is not got rid of by a claim or a completion', async () => {
    const { team, board } = await heldTeam();
    await team.requestPlan('lead', 'alice');
    await board.claim('t1', alice);
    assert.equal(team.decisions.gateOf('alice'), 'required');
    await board.complete('t1', alice, 'Only looked.');
    assert.equal(team.decisions.gateOf('alice'), 'required');
  });

  it('an approved plan counts for its task alone', async () => {
    const { team, board } = await heldTeam();
    await board.claim('t1', alice);
    const open = async () => {
      const { taskId, workVersion } = team.resolveAlive('alice');
      assert.match(taskId, /^t\d$/);
      const work = { member: 'alice', incarnation: 1, taskId, workVersion };
      const request = {
        kind: 'plan_approval',
        from: 'alice',
        to: 'lead',
        payload: { plan: 'P' },
        work,
      } as const;
      const { requestId } = await team.decisions.open(request);
      await team.decisions.decide({ requestId, approve: true, by: 'human', via: 'ui' });
    };
    await open();
    assert.equal(team.decisions.gateOf('alice'), 'approved');
    await board.complete('t1', alice, 'R');
    assert.equal(team.decisions.gateOf('alice'), 'not_required');
    await board.claim('t2', alice);
    await open();
    await board.release('t2', 'lead');
    assert.notEqual(team.decisions.gateOf('alice'), 'approved');
  });
});

describe('the board: what the journal keeps', () => {
  it('answers calls that were cut off with the words they would have had', async () => {
    const { team, board, journal } = await heldTeam();
    const texts: string[] = [];
    for (const [id, tool, run] of [
      ['c1', 'claim_task', (call) => board.claim('t1', alice, call).then(claimedReply)],
      [
        'c2',
        'complete_task',
        (call) =>
          board.complete('t1', alice, 'R', call).then(({ task, freed }) => completedText(task, freed)),
      ],
    ] as [string, string, (call: CallRef) => Promise<string>][]) {
      const call = { ...alice, member: 'alice', id };
      await team.marks.begun(call, tool, 1);
      texts.push(await run(call));
      const { state } = replayed(journal.written).ledger;
      assert.deepEqual(state.calls.find(call, 1)?.done, texts.slice(-1));
    }
    assert.deepEqual(texts.at(-1), 'Completed t1.');
  });

  it('case 20: frees a task whose owner is not there, and says so', async () => {
    const { team, board } = await heldTeam();
    await board.claim('t1', alice);
    // The first line of the snapshot, with the members, was damaged; the others apply.
    const { ledger } = replayed(team.state.snapshot().slice(1));
    const again = new Team(ledger, countingClock(), coreSettings);
    assert.equal(again.board.get('t1').owner, 'alice');
    assert.deepEqual(await again.board.releaseAbsent(), [
      't1 was under way with alice, who is not there: it is free again.',
    ]);
    assert.equal(again.board.book.isReady('t1'), true);
    assert.match(again.board.get('t1').notes[0]?.text ?? '', /alice is not in the team any more/);
    assert.deepEqual(await again.board.releaseAbsent(), []);
  });
});
