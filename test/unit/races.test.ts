import * as assert from 'node:assert/strict';
import {
  type Answer,
  type HandshakeRequest,
  KINDS,
  REQUEST_KINDS,
  Refusal,
  type RequestKind,
} from '../../src/protocol';
import { Journal } from '../../src/store';
import { Deadlines } from '../../src/team/deadlines';
import { Ledger } from '../../src/team/ledger';
import { Team } from '../../src/team/team';
import { openRequest } from './support/forgedScene';
import { coreSettings, countingClock, heldTeam, replayed } from './support/heldJournal';
import { JournalFolder } from './support/journalFolder';

const DISK_FULL = Object.assign(new Error('Could not write the journal: the disk is full.'), {
  code: 'ENOSPC',
});
const LEAD_DECIDES = { plan: 'either', permission: 'either', team: 'human' } as const;

const isRefusal = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

function human(request: HandshakeRequest, approve: boolean): Answer {
  return { requestId: request.requestId, approve, by: 'human', via: 'ui' };
}

/** Who else than the human may answer a request of each kind; for a proposal it is the human's other hand. */
const OTHERS: Readonly<Record<RequestKind, Pick<Answer, 'by' | 'via' | 'incarnation'>>> = {
  shutdown: { by: 'alice', incarnation: 1, via: 'tool' },
  plan_approval: { by: 'lead', via: 'tool' },
  tool_permission: { by: 'lead', via: 'tool' },
  team_proposal: { by: 'human', via: 'command' },
};

function other(request: HandshakeRequest, approve: boolean): Answer {
  const { kind, requestId } = request;
  return { requestId, approve, response: KINDS[kind].responseType, ...OTHERS[kind] };
}

async function withRequest(kind: RequestKind, change: Parameters<typeof heldTeam>[0] = {}) {
  const made = heldTeam({ approvals: LEAD_DECIDES, ...change });
  await made.team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'lead');
  const request = await openRequest(made.team, kind);
  return { ...made, request };
}

type Made = Awaited<ReturnType<typeof withRequest>>;

/** What the journal and its replay say of the one request: how often it ended, and how. */
function onDisk({ journal, request }: Made) {
  const { requestId } = request;
  const ends = journal.written.filter(
    (record) => record.t === 'decided' && record.decision.requestId === requestId,
  );
  const { decisions, errors } = replayed(journal.written);
  assert.deepEqual(errors, []);
  return { ends: ends.length, replayed: decisions.registry.get(requestId) };
}

describe('races: two answers in one tick', () => {
  for (const kind of REQUEST_KINDS) {
    for (const first of ['human', 'other'] as const) {
      const name = `${kind}, ${first === 'human' ? 'human first' : `${OTHERS[kind].by} (${OTHERS[kind].via}) first`}`;

      /** The first rejects, the second approves, both before anything is written. */
      const bothIn = (made: Made) => {
        const answers = first === 'human' ? [human, other] : [other, human];
        const [one, two] = answers.map((make, at) => make(made.request, at === 1));
        assert.ok(one && two);
        made.journal.held = true;
        return { one, two, deciding: [one, two].map((answer) => made.team.decisions.decide(answer)) };
      };

      it(`${name}: one outcome, and the second is told of it`, async () => {
        const made = await withRequest(kind);
        const { one, deciding } = bothIn(made);
        await made.journal.arrived(1);
        assert.equal(made.journal.waiting.length, 1, 'the second waits for the first');
        made.journal.release();
        const [won, lost] = await Promise.allSettled(deciding);
        assert.ok(won?.status === 'fulfilled' && won.value.status === 'rejected');
        assert.ok(lost?.status === 'rejected' && isRefusal('already_decided')(lost.reason));
        const { ends, replayed: again } = onDisk(made);
        assert.equal(ends, 1);
        assert.deepEqual([again?.status, again?.decidedBy, again?.via], ['rejected', one.by, one.via]);
        assert.deepEqual(again, made.team.decisions.registry.get(made.request.requestId));
      });

      it(`case 50: ${name}, and its write fails: the second decides, and nobody hears of the first`, async () => {
        const made = await withRequest(kind);
        const changes: string[] = [];
        made.ledger.events.on((event) => {
          if (event.type === 'request') changes.push(`${event.change} by ${event.request.decidedBy}`);
          if (event.type === 'refusal') changes.push(event.text);
        });
        const { two, deciding } = bothIn(made);
        await made.journal.arrived(1);
        made.journal.fail(DISK_FULL);
        await made.journal.arrived(1);
        assert.equal(made.team.decisions.registry.get(made.request.requestId)?.status, 'pending');
        made.journal.release();
        const [lost, won] = await Promise.allSettled(deciding);
        assert.ok(lost?.status === 'rejected' && lost.reason === DISK_FULL);
        assert.ok(won?.status === 'fulfilled' && won.value.status === 'approved');
        assert.deepEqual(changes, [`approved by ${two.by}`]);
        const { ends, replayed: again } = onDisk(made);
        assert.equal(ends, 1);
        assert.deepEqual([again?.status, again?.decidedBy], ['approved', two.by]);
      });
    }
  }

  for (const [how, fails] of [
    ['the write fails', 'write'],
    ['the sync fails', 'datasync'],
  ] as const) {
    for (const kind of ['fails', 'fails after the fact'] as const) {
      it(`case 50: on the disk itself, where ${how}${kind === 'fails' ? '' : ' after the bytes are there'}: one outcome, after a restart too`, async () => {
        const folder = new JournalFolder();
        const { team, close } = await overDisk(folder);
        await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.', requirePlan: true }, 'lead');
        const request = await openRequest(team, 'plan_approval');
        let left = 1;
        folder.fileSystem.fault = ({ name }) =>
          name === fails && left-- > 0 ? { kind, code: 'ENOSPC' } : undefined;
        const [lost, won] = await Promise.allSettled([
          team.decisions.decide(human(request, false)),
          team.decisions.decide(other(request, true)),
        ]);
        assert.ok(lost.status === 'rejected' && !(lost.reason instanceof Refusal));
        assert.match(String(lost.reason), /ENOSPC|full|space/);
        assert.ok(won.status === 'fulfilled');
        assert.deepEqual([won.value.status, won.value.decidedBy], ['approved', 'lead']);
        await close();
        const again = await overDisk(folder);
        assert.deepEqual(again.problems, []);
        assert.deepEqual(again.team.decisions.registry.get(request.requestId), won.value);
        assert.equal(again.team.decisions.gateOf('alice'), 'approved');
        await again.close();
      });
    }
  }
});

/** A team over a real journal in a file system that fails where the test says so. */
async function overDisk(folder: JournalFolder) {
  const problems: unknown[] = [];
  const { journal, items, damage, gaps } = await folder.open();
  assert.ok(journal instanceof Journal);
  const ledger = new Ledger(
    journal,
    () => ({ t: 'team', team_id: 'team-1', team_name: 'workspace', at: 0 }),
    (error) => void problems.push(error),
  );
  ledger.replay(items, 0);
  problems.push(...damage, ...gaps);
  const team = new Team(ledger, countingClock(), coreSettings);
  team.useRunners(() => ({ wake: () => undefined }));
  return { team, problems, close: () => journal.close() };
}

describe('races: a newer plan', () => {
  it('case 51: the approval of the first cannot be written while the second is on its way: the second alone is left', async () => {
    const made = await withRequest('plan_approval');
    const { team, journal, request: p1 } = made;
    journal.held = true;
    const approving = team.decisions.decide(human(p1, true));
    const submitting = openRequest(team, 'plan_approval');
    const failed = assert.rejects(approving, DISK_FULL);
    await journal.arrived(1);
    journal.fail(DISK_FULL);
    await failed;
    await journal.arrived(1);
    assert.equal(team.decisions.gateOf('alice'), 'pending');
    journal.release();
    const p2 = await submitting;
    const { ends, replayed: again } = onDisk(made);
    assert.deepEqual([ends, again?.status], [0, 'cancelled']);
    assert.equal(again?.cancelReason, `superseded by plan ${p2.requestId}`);
    assert.deepEqual(
      team.decisions.registry.pending().map(({ requestId }) => requestId),
      [p2.requestId],
    );
    await assert.rejects(team.decisions.decide(human(p1, true)), isRefusal('already_decided'));
    assert.equal(team.decisions.gateOf('alice'), 'pending');
  });

  it('case 51: that could not be written leaves the first as it is, to be decided', async () => {
    const made = await withRequest('plan_approval');
    const { team, journal, request: p1 } = made;
    journal.held = true;
    const submitting = assert.rejects(openRequest(team, 'plan_approval'), DISK_FULL);
    const approving = team.decisions.decide(human(p1, true));
    await journal.arrived(1);
    journal.fail(DISK_FULL);
    await submitting;
    await journal.arrived(1);
    journal.release();
    assert.equal((await approving).status, 'approved');
    assert.equal(team.decisions.gateOf('alice'), 'approved');
    assert.equal(onDisk(made).replayed?.status, 'approved');
  });

  it('case 52: a task that could not be changed leaves the plan pending, and the click counts', async () => {
    const made = await withRequest('plan_approval');
    const { team, journal, request } = made;
    journal.held = true;
    const changing = assert.rejects(team.requestPlan('lead', 'alice'), DISK_FULL);
    const click = team.decisions.decide(human(request, true));
    await journal.arrived(1);
    journal.fail(DISK_FULL);
    await changing;
    await journal.arrived(1);
    journal.release();
    assert.equal((await click).status, 'approved');
    assert.equal(team.decisions.gateOf('alice'), 'approved');
    assert.equal(onDisk(made).replayed?.status, 'approved');
  });
});

describe('races: shutdown asked by lead and human in one tick', () => {
  it('one is opened, and both have its id', async () => {
    const { team, journal } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    journal.held = true;
    const asking = [team.requestShutdown('lead', 'alice', 'Done.'), team.requestShutdown('human', 'alice')];
    await journal.arrived(1);
    assert.equal(journal.waiting.length, 1, 'the second waits for the first');
    journal.release();
    const [one, two] = await Promise.all(asking);
    assert.equal(one?.requestId, two?.requestId);
    assert.equal(one?.from, 'lead');
    assert.equal(team.decisions.registry.all().length, 1);
    assert.equal(team.unread('alice').filter(({ type }) => type === 'shutdown_request').length, 1);
  });

  it('the first cannot be written: the second is opened, and one stands on the disk', async () => {
    const { team, journal } = heldTeam();
    await team.spawn({ name: 'alice', role: 'coder', prompt: 'Go.' }, 'lead');
    journal.held = true;
    const failing = assert.rejects(team.requestShutdown('lead', 'alice'), DISK_FULL);
    const asking = team.requestShutdown('human', 'alice');
    await journal.arrived(1);
    journal.fail(DISK_FULL);
    await failing;
    await journal.arrived(1);
    journal.release();
    const request = await asking;
    assert.equal(request.from, 'human');
    assert.deepEqual(
      replayed(journal.written)
        .decisions.registry.pending()
        .map(({ requestId, from }) => [requestId, from]),
      [[request.requestId, 'human']],
    );
  });
});

describe('races: a withdrawal beside a decision', () => {
  for (const kind of REQUEST_KINDS) {
    it(`${kind}: the decision comes first and stands`, async () => {
      const made = await withRequest(kind);
      const { team, journal, request } = made;
      journal.held = true;
      const deciding = team.decisions.decide(human(request, false));
      const cancelling = team.decisions.cancel([request.requestId], 'call_ended');
      await journal.arrived(1);
      journal.release();
      assert.equal((await deciding).status, 'rejected');
      await cancelling;
      assert.equal(journal.kinds().includes('cancelled'), false, 'nothing is written that is not so');
      assert.equal(onDisk(made).replayed?.status, 'rejected');
    });

    it(`${kind}: the withdrawal comes first, and the decision is told why`, async () => {
      const made = await withRequest(kind);
      const { team, journal, request } = made;
      journal.held = true;
      const cancelling = team.decisions.cancel([request.requestId], 'call_ended');
      const deciding = team.decisions.decide(human(request, true));
      await journal.arrived(1);
      journal.release();
      await assert.rejects(deciding, /was withdrawn: call_ended/);
      await cancelling;
      const { ends, replayed: again } = onDisk(made);
      assert.deepEqual([ends, again?.status], [0, 'cancelled']);
    });

    it(`${kind}: the decision cannot be written, and the withdrawal counts`, async () => {
      const made = await withRequest(kind);
      const { team, journal, request } = made;
      journal.held = true;
      const deciding = assert.rejects(team.decisions.decide(human(request, true)), DISK_FULL);
      const cancelling = team.decisions.cancel([request.requestId], 'call_ended');
      await journal.arrived(1);
      journal.fail(DISK_FULL);
      await deciding;
      await journal.arrived(1);
      journal.release();
      await cancelling;
      assert.deepEqual([onDisk(made).ends, onDisk(made).replayed?.status], [0, 'cancelled']);
    });
  }
});

describe('races: the deadline beside a decision', () => {
  /** A plan whose deadline passes while its decision, or the note of it, is on its way. */
  async function due() {
    const made = await withRequest('plan_approval', { requestDeadlineMs: 0 });
    const told: string[] = [];
    made.ledger.events.on((event) => {
      if (event.type === 'request' && event.request.requestId === made.request.requestId) {
        told.push(event.change);
      }
    });
    made.journal.held = true;
    const deadlines = new Deadlines(made.ledger, made.clock);
    const notes = () =>
      made.team.unread('lead').filter((message) => message.id === `${made.request.requestId}-overdue`).length;
    return { ...made, told, deadlines, notes };
  }

  it('passes while the decision is being written: it is decided, and nobody is told that it hangs', async () => {
    const { team, journal, request, told, deadlines, notes } = await due();
    const deciding = team.decisions.decide(human(request, true));
    await journal.arrived(1);
    deadlines.schedule();
    await journal.arrived(2);
    journal.letThrough();
    await deciding;
    assert.equal(team.decisions.gateOf('alice'), 'approved');
    const settled = new Promise<void>((resolve) => {
      team.ledger.events.on((event) => {
        if (event.type === 'settled') resolve();
      });
    });
    journal.letThrough();
    await settled;
    deadlines.dispose();
    assert.deepEqual([told, notes()], [['approved'], 0]);
    const again = replayed(journal.written);
    assert.deepEqual(
      [again.errors, again.decisions.registry.get(request.requestId)?.status],
      [[], 'approved'],
    );
    assert.deepEqual(again.ledger.state.unread('lead'), team.unread('lead'));
  });

  it('the decision comes while the note is being written: told once, and decided all the same', async () => {
    const { team, journal, request, told, deadlines, notes } = await due();
    deadlines.schedule();
    await journal.arrived(1);
    const deciding = team.decisions.decide(human(request, false));
    journal.release();
    assert.equal((await deciding).status, 'rejected');
    deadlines.schedule();
    deadlines.dispose();
    assert.deepEqual([told, notes()], [['overdue', 'rejected'], 1]);
    assert.equal(replayed(journal.written).decisions.registry.get(request.requestId)?.status, 'rejected');
  });
});
