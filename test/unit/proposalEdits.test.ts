import * as assert from 'node:assert/strict';
import {
  type AcceptedProposal,
  acceptAll,
  changesOf,
  type ProposalPayload,
  problemsOf,
  problemText,
  proposalPayload,
  readAccepted,
  toSnapshot,
} from '../../src/protocol';
import { heldTeam, replayed } from './support/heldJournal';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { resultTexts, shown } from './support/turns';

const PROPOSAL: ProposalPayload = {
  members: [
    { name: 'ada', role: 'coder', prompt: 'Write it.', task: 'parser' },
    { name: 'bert', role: 'tester', prompt: 'Test it.', require_plan: true, model: 'other' },
  ],
  tasks: [
    { key: 'parser', subject: 'Write the parser', description: 'In src/.', priority: 2 },
    { key: 'tests', subject: 'Test the parser', description: 'All of it.', blocked_by: ['parser'] },
  ],
  calls_at_once: 2,
};
const HUMAN = { by: 'human', via: 'ui' } as const;

/** The proposal as accepted, after a change to a copy of it. */
function edited(change: (accepted: AcceptedProposal) => void): AcceptedProposal {
  const accepted = structuredClone(acceptAll(PROPOSAL));
  change(accepted);
  return accepted;
}

const at = (list: readonly unknown[], index: number): Record<string, unknown> =>
  list[index] as Record<string, unknown>;

describe('a proposal with tasks', () => {
  it('hangs together, or is none', () => {
    assert.equal(proposalPayload.safeParse(PROPOSAL).success, true);
    const bad: [string, (proposal: ProposalPayload) => void][] = [
      [
        'a key stands twice',
        ({ tasks = [] }) => Object.assign(at(tasks, 1), { key: 'parser', blocked_by: [] }),
      ],
      ['there is no such task', ({ tasks = [] }) => Object.assign(at(tasks, 1), { blocked_by: ['other'] })],
      ['in a circle', ({ tasks = [] }) => Object.assign(at(tasks, 0), { blocked_by: ['tests'] })],
      ['in a circle', ({ tasks = [] }) => Object.assign(at(tasks, 0), { blocked_by: ['parser'] })],
      ['there is no such task', ({ members }) => Object.assign(at(members, 0), { task: 'other' })],
      ['begin with one task', ({ members }) => Object.assign(at(members, 1), { task: 'parser' })],
      ['waits for another', ({ members }) => Object.assign(at(members, 0), { task: 'tests' })],
      ['a name stands twice', ({ members }) => Object.assign(at(members, 1), { name: 'ada' })],
      ['not a name', ({ members }) => Object.assign(at(members, 1), { name: 'lead' })],
    ];
    for (const [expected, spoil] of bad) {
      const proposal = structuredClone(PROPOSAL);
      spoil(proposal);
      const read = proposalPayload.safeParse(proposal);
      assert.equal(read.success, false, expected);
      assert.match(read.error?.issues.map(({ message }) => message).join('; ') ?? '', new RegExp(expected));
    }
  });

  it('is accepted as it stands, whatever the order of fields, as no edit at all', () => {
    assert.equal(readAccepted(PROPOSAL, acceptAll(PROPOSAL)), undefined);
    const blanks = edited(({ members, tasks }) => {
      Object.assign(at(members, 0), { name: ' Ada ', role: 'coder ' });
      Object.assign(at(tasks, 0), { subject: 'Write the parser\n' });
      Object.assign(at(members, 0), { model: ' ' });
    });
    assert.equal(readAccepted(PROPOSAL, blanks), undefined);
  });

  it('is accepted in part and as edited, and all that was changed can be told', () => {
    const accepted = readAccepted(
      PROPOSAL,
      edited(({ members, tasks }) => {
        Object.assign(at(members, 0), { name: 'anna', require_plan: true, model: 'big' });
        members.splice(1, 1);
        Object.assign(at(tasks, 1), { subject: 'Try it', blocked_by: [] });
      }),
    );
    assert.deepEqual(changesOf(PROPOSAL, accepted), [
      { part: 'member', of: 'ada', field: 'name', from: 'ada', to: 'anna' },
      { part: 'member', of: 'ada', field: 'require_plan', from: false, to: true },
      { part: 'member', of: 'ada', field: 'model', from: undefined, to: 'big' },
      { part: 'member', of: 'bert', leftOut: true },
      { part: 'task', of: 'tests', field: 'subject', from: 'Test the parser', to: 'Try it' },
      { part: 'task', of: 'tests', field: 'blocked_by', from: ['parser'], to: [] },
    ]);
    assert.deepEqual(changesOf(PROPOSAL, undefined), []);
  });

  it('is not accepted in a form that cannot be, and each thing is named where it stands', () => {
    const bad: [string, (accepted: AcceptedProposal) => void][] = [
      ['nothing of the proposal', (all) => Object.assign(all, { members: [], tasks: [] })],
      ['members.0.name: not a name', ({ members }) => Object.assign(at(members, 0), { name: '../x' })],
      ['members.0.name: not a name', ({ members }) => Object.assign(at(members, 0), { name: 'human' })],
      [
        'members.1.name: a name stands twice',
        ({ members }) => Object.assign(at(members, 1), { name: 'ada' }),
      ],
      ['members.0.role: a role', ({ members }) => Object.assign(at(members, 0), { role: ' ' })],
      ['members.0.prompt: a text', ({ members }) => Object.assign(at(members, 0), { prompt: '' })],
      [
        'members.1.of: it was not proposed',
        ({ members }) => Object.assign(at(members, 1), { of: 'mallory' }),
      ],
      [
        'members.1.of: it stands there twice',
        ({ members }) => Object.assign(at(members, 1), { of: 'ada', name: 'eve' }),
      ],
      ['tasks.0.subject: a subject', ({ tasks }) => Object.assign(at(tasks, 0), { subject: '\n' })],
      ['tasks.0.of: it was not proposed', ({ tasks }) => Object.assign(at(tasks, 0), { of: 'x' })],
      ['members.0.task: there is no such task', ({ tasks }) => void tasks.splice(0, 2)],
      ['tasks.0.blocked_by: there is no such task', (all) => void all.tasks.splice(0, 1)],
    ];
    for (const [expected, spoil] of bad) {
      const accepted = edited(spoil);
      const told = problemsOf(PROPOSAL, accepted).map(problemText);
      assert.ok(
        told.some((line) => line.startsWith(expected)),
        `${expected}: ${told.join('; ')}`,
      );
      assert.throws(() => readAccepted(PROPOSAL, accepted));
    }
  });

  it('takes no field and no value that its shape does not have', () => {
    const smuggled: [string, (accepted: AcceptedProposal) => unknown][] = [
      ['a field of the whole', (all) => ({ ...all, policy: 'auto' })],
      ['a field of a teammate', (all) => Object.assign(at(all.members, 0), { spawned_by: 'human' }) && all],
      ['a role file', (all) => Object.assign(at(all.members, 0), { role_file: { file: 'x' } }) && all],
      ['a field of a task', (all) => Object.assign(at(all.tasks, 0), { owner: 'lead' }) && all],
      ['a number as text', (all) => Object.assign(at(all.tasks, 0), { priority: '9' }) && all],
      ['a yes in words', (all) => Object.assign(at(all.members, 0), { require_plan: 'false' }) && all],
      [
        'more text than anybody types',
        (all) => Object.assign(at(all.members, 0), { prompt: 'x'.repeat(200_001) }) && all,
      ],
      ['a list as an object', (all) => ({ ...all, tasks: { length: 0 } })],
      ['text', () => JSON.stringify(acceptAll(PROPOSAL))],
      ['null', () => null],
    ];
    for (const [way, make] of smuggled) {
      assert.throws(() => readAccepted(PROPOSAL, make(structuredClone(acceptAll(PROPOSAL)))), Error, way);
    }
  });
});

describe('an edited approval of a proposal', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  const proposing = () =>
    new ScriptedModel({ lead: [[call('propose_team', PROPOSAL)], [text('Proposed.')]] })
      .always('lead', [text('Seen.')])
      .always('ada', [text('Written.')])
      .always('anna', [text('Written.')])
      .always('bert', [text('Tested.')]);

  it('starts the part that was accepted, as edited, and tells the lead exactly what was changed', async () => {
    const model = proposing();
    const team = await openTeam(model);
    await team.core.sendToLead('Propose a team.');
    const { requestId } = await team.pending('team_proposal');
    const accepted = edited(({ members, tasks }) => {
      Object.assign(at(members, 0), { name: 'anna', prompt: 'Write it well.' });
      members.splice(1, 1);
      Object.assign(at(tasks, 1), { priority: 5 });
    });
    const decided = await team.core.decide({
      requestId,
      approve: true,
      accepted,
      feedback: 'Small first.',
      ...HUMAN,
    });
    await team.core.whenIdle();
    assert.deepEqual(toSnapshot(decided).payload, PROPOSAL);
    assert.deepEqual(toSnapshot(decided).accepted, accepted);
    const [anna, ...others] = team.core.members();
    assert.deepEqual([anna?.name, anna?.prompt, others.length], ['anna', 'Write it well.', 0]);
    const told = model.of('lead').map(shown).join('\n');
    assert.match(
      told,
      /Started: anna \(role: coder\)\.\nTask parser is t1 on the board: Write the parser \(anna has it\)\nTask tests is t2 on the board: Test the parser\n/,
    );
    assert.match(
      told,
      /The human changed your proposal:\n- ada: name: "ada" -> "anna"\n- ada: prompt: "Write it\." -> "Write it well\."\n- bert: left out\n- task tests: priority: 0 -> 5\nFeedback: Small first\./,
    );
    const first = model.of('anna').map(shown).join('\n');
    assert.match(first, /Write it well\./);
    assert.match(first, /lead has given you task t1 from the board\.\n\nt1: Write the parser\n\nIn src\/\./);
    const again = await team.reopen();
    assert.deepEqual(again.core.request(requestId)?.accepted, accepted);
    assert.deepEqual(again.core.request(requestId)?.payload, PROPOSAL);
  });

  it('without edits is one as proposed, with tasks, who begins with which, and what waits', async () => {
    const model = proposing();
    const team = await openTeam(model);
    await team.core.sendToLead('Propose a team.');
    const { requestId } = await team.pending('team_proposal');
    const decided = await team.core.decide({ requestId, approve: true, by: 'human', via: 'api' });
    assert.equal('accepted' in decided, false);
    await team.core.whenIdle();
    const told = model.of('lead').map(shown).join('\n');
    assert.match(told, /Started: ada \(role: coder\), bert \(role: tester\)\.\nTask parser is t1/);
    assert.doesNotMatch(told, /changed your proposal/);
  });

  it('is the human’s alone, of an approval, of a proposal, and of what was proposed', async () => {
    const { team } = heldTeam();
    const open = () =>
      team.decisions.open({
        kind: 'team_proposal',
        from: 'lead',
        to: 'human',
        payload: PROPOSAL,
        work: { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 },
      });
    const { requestId } = await open();
    const accepted = edited(({ members }) => void members.splice(1, 1));
    const refused = { code: 'invalid_request' };
    await assert.rejects(team.decisions.decide({ requestId, approve: false, accepted, ...HUMAN }), refused);
    for (const wrong of [
      {},
      [],
      'all',
      { ...accepted, more: 1 },
      edited((all) => Object.assign(at(all.members, 0), { of: 'x' })),
    ]) {
      await assert.rejects(
        team.decisions.decide({ requestId, approve: true, accepted: wrong, ...HUMAN }),
        refused,
      );
    }
    await assert.rejects(
      team.decisions.decide({ requestId, approve: true, accepted, by: 'lead', via: 'tool' }),
      { code: 'wrong_responder' },
    );
    await team.spawn({ name: 'carl', role: 'coder', prompt: 'Go.' }, 'human');
    const shutdown = await team.requestShutdown('lead', 'carl');
    await assert.rejects(
      team.decisions.decide({ requestId: shutdown.requestId, approve: true, accepted, ...HUMAN }),
      refused,
    );
    assert.equal(team.decisions.registry.get(requestId)?.status, 'pending');
    assert.equal(team.decisions.registry.get(shutdown.requestId)?.status, 'pending');
    assert.deepEqual(
      team.state.members().map(({ name }) => name),
      ['carl'],
    );
  });

  it('is written with its teammates, its tasks and their claims in one append: all or nothing over a crash', async () => {
    const { team, journal } = heldTeam();
    const { requestId } = await team.decisions.open({
      kind: 'team_proposal',
      from: 'lead',
      to: 'human',
      payload: PROPOSAL,
      work: { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 },
    });
    await team.spawn({ name: 'bert', role: 'reader', prompt: 'Read.' }, 'human');
    journal.held = true;
    const before = [...journal.written];
    const accepted = edited(({ members }) => void Object.assign(at(members, 0), { name: 'anna' }));
    const deciding = team.decisions.decide({ requestId, approve: true, accepted, ...HUMAN });
    await journal.arrived(1);
    assert.equal(journal.waiting.length, 1);
    const [append] = journal.waiting;
    assert.deepEqual(
      append?.records.map((record) => record.t),
      ['task_created', 'task_created', 'member', 'task_claimed', 'decided'],
    );
    const none = replayed(before).ledger.state;
    assert.equal(none.registry.get(requestId)?.status, 'pending');
    assert.equal(none.tasks.book.all().length, 0);
    const { ledger, errors } = replayed([...before, ...(append?.records ?? [])]);
    assert.deepEqual(errors, []);
    const { state } = ledger;
    assert.equal(state.tasks.book.get('t1')?.owner, 'anna');
    assert.equal(state.tasks.book.get('t1')?.status, 'in_progress');
    assert.deepEqual(state.tasks.book.get('t2')?.blockedBy, ['t1']);
    assert.equal(state.member('anna')?.taskId, 't1');
    assert.equal(state.member('bert')?.role, 'reader');
    const answer = state.unread('lead').find((message) => message.request_id === requestId);
    assert.match(
      answer?.content ?? '',
      /^Started: anna \(role: coder\)\.\nLeft out: bert: .*\nTask parser is t1/,
    );
    const kept = replayed(state.snapshot()).ledger.state;
    assert.deepEqual(kept.registry.get(requestId), state.registry.get(requestId));
    // A failed write leaves it pending; its ids are given to nobody else.
    journal.fail(new Error('ENOSPC'));
    await assert.rejects(deciding, /ENOSPC/);
    assert.equal(team.decisions.registry.get(requestId)?.status, 'pending');
    assert.equal(team.board.book.all().length, 0);
    journal.release();
    await team.decisions.decide({ requestId, approve: true, accepted, ...HUMAN });
    assert.deepEqual(
      team.board.book.all().map(({ id, owner }) => [id, owner]),
      [
        ['t3', 'anna'],
        ['t4', undefined],
      ],
    );
  });

  it('puts tasks on the board unasked where the setting says auto', async () => {
    const model = proposing();
    const team = await openTeam(model, { approvals: { plan: 'either', permission: 'human', team: 'auto' } });
    await team.core.sendToLead('Propose a team.');
    await team.core.whenIdle();
    const [result = ''] = resultTexts(model.of('lead').find((request) => resultTexts(request).length > 0));
    assert.deepEqual(result.split('\n').slice(1), [
      'Created t1: Write the parser',
      'Created t2: Test the parser',
      "Spawned 'ada' (role: coder)",
      "Spawned 'bert' (role: tester)",
    ]);
    assert.equal(team.core.member('ada')?.taskId, 't1');
  });
});
