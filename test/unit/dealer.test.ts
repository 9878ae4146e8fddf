import * as assert from 'node:assert/strict';
import { Dealer } from '../../src/agent/dealer';
import { heldTeam } from './support/heldJournal';

const alice = { name: 'alice', incarnation: 1 };

/** Alice at work on t1, bob and carol with nothing to do, and t2 and t3 that wait for t1; nothing more is written by itself. */
async function teamWithChain(asksFirst = false) {
  const { team, journal, ledger } = heldTeam();
  for (const name of ['alice', 'bob', 'carol']) {
    await team.spawn({ name, role: 'coder', prompt: 'Go.' }, 'lead');
  }
  await team.board.create({ subject: 'One', description: '' }, 'lead');
  await team.board.claim('t1', alice);
  for (const subject of ['Two', 'Three']) {
    await team.board.create({ subject, description: '', blockedBy: ['t1'] }, 'lead');
  }
  for (const name of ['bob', 'carol']) team.endAssignment(name, false);
  const settled: string[] = [];
  const dealer = new Dealer(
    team,
    () => ({ canTake: () => true }),
    () => settled.push('settled'),
    asksFirst,
  );
  const kinds = () => journal.waiting.map(({ records }) => records.map((record) => record.t));
  journal.held = true;
  const ownerOf = (id: string) => team.board.get(id).owner;
  return { team, journal, ledger, dealer, kinds, ownerOf };
}

describe('what waited for a task', () => {
  it('is given with the record that completes it, and the call is told what became ready', async () => {
    const { team, journal, kinds, ownerOf } = await teamWithChain();
    const call = { member: 'alice', incarnation: 1, id: 'c1' };
    const given = team.marks.beginsWithRecord(call, 'complete_task', 1);
    const completing = team.board.complete('t1', alice, 'Done.', call);
    await journal.arrived(1);
    assert.deepEqual(kinds(), [['started', 'task_completed', 'task_claimed', 'task_claimed']]);
    assert.deepEqual([ownerOf('t2'), team.isFree('bob'), team.isFree('carol')], [undefined, false, false]);
    journal.letThrough();
    const { freed } = await completing;
    given();
    assert.deepEqual(
      freed.map(({ id }) => id),
      ['t2', 't3'],
    );
    assert.deepEqual([ownerOf('t2'), ownerOf('t3')], ['bob', 'carol']);
    assert.deepEqual(team.state.calls.find(call, 1)?.done, ['Completed t1. Ready now: t2, t3.']);
    assert.deepEqual(journal.waiting, []);
  });

  it('stays free, and who was to have it as well, where the record cannot be written', async () => {
    const { team, journal, ownerOf } = await teamWithChain();
    const completing = assert.rejects(team.board.complete('t1', alice, 'Done.'), /ENOSPC/);
    await journal.arrived(1);
    journal.fail(new Error('ENOSPC'));
    await completing;
    assert.deepEqual([ownerOf('t1'), ownerOf('t2')], ['alice', undefined]);
    assert.deepEqual([team.isFree('bob'), team.isFree('carol')], [true, true]);
  });

  it('goes to somebody else where who was to have it is stopped while the record is on its way', async () => {
    const { team, journal, ownerOf } = await teamWithChain();
    const completing = team.board.complete('t1', alice, 'Done.');
    await journal.arrived(1);
    const [record] = journal.waiting[0]?.records.filter(({ t }) => t === 'task_claimed') ?? [];
    assert.ok(record?.t === 'task_claimed' && record.member === 'bob' && record.task_id === 't2');
    // As if its end had reached the disk first.
    team.state.apply({ t: 'status', name: 'bob', incarnation: 1, status: 'shutdown', cancels: [], at: 1 });
    team.fence('bob', 1);
    journal.letThrough();
    await completing;
    assert.deepEqual([ownerOf('t2'), ownerOf('t3')], [undefined, 'carol']);
    assert.equal(team.board.book.isReady('t2'), true);
    assert.equal(team.isAssigned('bob'), false);
  });

  it('is given to nobody while it waits for the human’s word, or for another task', async () => {
    const held = await teamWithChain(true);
    void held.team.board.complete('t1', alice, 'Done.');
    await held.journal.arrived(1);
    assert.deepEqual(held.kinds(), [['task_completed']]);

    const { team, journal, kinds } = await teamWithChain();
    journal.held = false;
    await team.board.create({ subject: 'Four', description: '' }, 'lead');
    await team.board.edit('t2', { blockedBy: ['t1', 't4'] }, 'lead');
    await team.board.edit('t3', { status: 'blocked', reason: 'Not yet.' }, 'lead');
    journal.held = true;
    void team.board.complete('t1', alice, 'Done.');
    await journal.arrived(1);
    assert.deepEqual(kinds(), [['task_completed']]);
  });
});

describe('a call that is one record', () => {
  it('has begun exactly where that record is, and leaves nothing where none came of it', async () => {
    const { team, journal } = await teamWithChain();
    journal.held = false;
    const call = { member: 'bob', incarnation: 1, id: 'c2' };
    const end = team.marks.beginsWithRecord(call, 'claim_task', 1);
    const before = journal.written.length;
    await assert.rejects(team.board.claim('t1', { name: 'bob', incarnation: 1 }, call), /claimed by alice/);
    end();
    await team.board.create({ subject: 'Four', description: '' }, 'lead', call);
    assert.deepEqual(
      journal.written
        .slice(before)
        .map(({ t }) => t)
        .filter((t) => t === 'started'),
      [],
    );
    assert.equal(team.state.calls.find(call, 1), undefined);
  });
});
