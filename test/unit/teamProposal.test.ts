import * as assert from 'node:assert/strict';
import { proposalPayload } from '../../src/protocol';
import type { TeamRecord } from '../../src/team/records';
import { heldTeam, replayed } from './support/heldJournal';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { resultTexts, shown } from './support/turns';

const ADA = { name: 'Ada', role: 'coder', prompt: 'Write it.' };
const BERT = { name: 'bert', role: 'tester', prompt: 'Test it.', require_plan: true, model: 'other' };
const HUMAN = { by: 'human', via: 'ui' } as const;

describe('a team proposal', function () {
  this.timeout(30_000);
  afterEach(closeTeams);

  const proposing = (...members: unknown[]) =>
    new ScriptedModel({ lead: [[call('propose_team', { members })], [text('Proposed.')]] })
      .always('lead', [text('Seen.')])
      .always('ada', [text('Written.')])
      .always('bert', [text('Tested.')]);
  const names = (members: readonly { name: string }[]) => members.map(({ name }) => name);

  it('waits for the human, and the approval starts all of it', async () => {
    const model = proposing(ADA, BERT);
    const team = await openTeam(model);
    await team.core.sendToLead('Propose a team.');
    const [request] = team.core.requests();
    assert.ok(request);
    assert.deepEqual(resultTexts(model.of('lead')[1]), [
      `Team proposed (request_id=${request.requestId}). Waiting for the human's decision.`,
    ]);
    assert.deepEqual([request.kind, request.from, request.to], ['team_proposal', 'lead', 'human']);
    assert.deepEqual(request.payload, { members: [{ ...ADA, name: 'ada' }, BERT] });
    assert.deepEqual(team.core.members(), []);

    await team.core.decide({ requestId: request.requestId, approve: true, feedback: 'Go.', ...HUMAN });
    await team.core.whenIdle();
    const [ada, bert] = team.core.members();
    assert.deepEqual(
      [ada?.name, ada?.role, ada?.spawnedBy, ada?.requirePlan],
      ['ada', 'coder', 'lead', false],
    );
    assert.deepEqual([bert?.name, bert?.model, bert?.requirePlan], ['bert', 'other', true]);
    assert.match(shown(model.of('ada')[0]), /Write it\./);
    assert.match(
      shown(model.of('lead')[2]),
      new RegExp(
        `<message from="human" type="permission_response" request_id="${request.requestId}" approve="true">\\nStarted: ada \\(role: coder\\), bert \\(role: tester\\)\\.\\nFeedback: Go\\.`,
      ),
    );
  });

  it('that is rejected starts nobody, and the feedback reaches the lead', async () => {
    const model = proposing(ADA, BERT);
    const team = await openTeam(model);
    await team.core.sendToLead('Propose a team.');
    const { requestId } = await team.pending('team_proposal');
    await team.core.decide({ requestId, approve: false, feedback: 'One is enough.', ...HUMAN });
    await team.core.whenIdle();
    assert.deepEqual(team.core.members(), []);
    assert.match(
      shown(model.of('lead')[2]),
      /approve="false">\nYour team proposal is rejected; nobody was started\.\nFeedback: One is enough\./,
    );
  });

  it('leaves out whose name is taken meanwhile, and says so', async () => {
    const model = proposing(ADA, BERT);
    const team = await openTeam(model);
    await team.core.sendToLead('Propose a team.');
    const { requestId } = await team.pending('team_proposal');
    await team.core.spawn({ name: 'ada', role: 'reader', prompt: 'Read.' }, 'human');
    await team.core.whenIdle();
    await team.core.decide({ requestId, approve: true, ...HUMAN });
    await team.core.whenIdle();
    const [ada, bert] = team.core.members();
    assert.deepEqual([ada?.role, ada?.incarnation, bert?.name], ['reader', 1, 'bert']);
    const told = model.of('lead').map(shown).join('\n');
    assert.match(
      told,
      /Started: bert \(role: tester\)\.\nLeft out: ada: 'ada' is already in the team \(status: idle\)/,
    );
  });

  it('is nothing the lead can decide, nor two proposals of one name, nor a name that cannot be', async () => {
    const model = proposing(ADA, { ...BERT, name: 'ADA' });
    const team = await openTeam(model);
    await team.core.sendToLead('Propose a team.');
    assert.deepEqual(resultTexts(model.of('lead')[1]), ["Error: 'ada' is proposed twice."]);
    model.add('lead', [call('propose_team', { members: [{ ...ADA, name: 'lead' }] })], [text('No.')]);
    await team.core.sendToLead('Propose yourself.');
    assert.match(resultTexts(model.of('lead')[3])[0] ?? '', /^Error: .*lead/);
    model.add('lead', [call('propose_team', { members: [] })], [text('No.')]);
    await team.core.sendToLead('Propose nobody.');
    assert.match(resultTexts(model.of('lead')[5])[0] ?? '', /^Error: members/);
    assert.deepEqual(team.core.requests(), []);

    model.add('lead', [call('propose_team', { members: [ADA] })], [text('Yes.')]);
    await team.core.sendToLead('Propose ada.');
    const { requestId } = await team.pending('team_proposal');
    for (const response of ['proposal_response', 'permission_response', undefined] as const) {
      await assert.rejects(
        team.core.decide({
          requestId,
          approve: true,
          by: 'lead',
          via: 'tool',
          ...(response === undefined ? {} : { response }),
        }),
      );
    }
    assert.deepEqual(team.core.members(), []);
  });

  it('starts at once where the setting says auto, with a line that says so', async () => {
    const model = proposing(ADA, BERT);
    const team = await openTeam(model, {
      approvals: { plan: 'either', permission: 'human', team: 'auto' },
    });
    await team.core.sendToLead('Propose a team.');
    await team.core.whenIdle();
    const [result = ''] = resultTexts(model.of('lead').find((request) => resultTexts(request).length > 0));
    assert.deepEqual(result.split('\n'), [
      'Started without asking the human (setting handshake.approvals.team: auto).',
      "Spawned 'ada' (role: coder)",
      "Spawned 'bert' (role: tester)",
    ]);
    assert.deepEqual(names(team.core.members()), ['ada', 'bert']);
    assert.deepEqual(team.core.requests(), []);
  });

  it('is decided, and its teammates started, in one append: both or neither over a crash', async () => {
    const made = heldTeam();
    const { team, journal, woken } = made;
    const { requestId } = await openProposal(made);
    await team.spawn({ name: 'bert', role: 'reader', prompt: 'Read.' }, 'human');
    journal.held = true;
    const before: TeamRecord[] = [...journal.written];
    const deciding = team.decisions.decide({ requestId, approve: true, ...HUMAN });
    const again = team.decisions.decide({ requestId, approve: true, ...HUMAN });
    const spawning = team.spawn({ name: 'ada', role: 'thief', prompt: 'Take the name.' }, 'human');
    await journal.arrived(1);
    const [append] = journal.waiting;
    assert.deepEqual(
      append?.records.map((record) => record.t),
      ['member', 'decided'],
    );
    assert.deepEqual(names(team.state.members()), ['bert']);
    assert.ok(!woken.some((line) => line.startsWith('ada')));

    const cut = replayed(before).ledger.state;
    assert.equal(cut.registry.get(requestId)?.status, 'pending');
    assert.deepEqual(names(cut.members()), ['bert']);
    const whole = replayed([...before, ...(append?.records ?? [])]).ledger.state;
    assert.equal(whole.registry.get(requestId)?.status, 'approved');
    assert.deepEqual(names(whole.members()), ['bert', 'ada']);
    const told = whole.unread('lead').filter((message) => message.request_id === requestId);
    assert.equal(told.length, 1);
    assert.match(told[0]?.content ?? '', /^Started: ada \(role: coder\)\.\nLeft out: bert: /);

    journal.release();
    await deciding;
    await assert.rejects(again, { code: 'already_decided' });
    await assert.rejects(spawning, /'ada' is already in the team/);
    assert.equal(team.state.member('ada')?.incarnation, 1);
    assert.equal(woken.filter((line) => line.startsWith('ada')).length, 1);
  });

  it('that cannot be written is pending as before, and nobody has started', async () => {
    const made = heldTeam();
    const { team, journal, woken } = made;
    const { requestId } = await openProposal(made);
    journal.held = true;
    const deciding = team.decisions.decide({ requestId, approve: true, ...HUMAN });
    await journal.arrived(1);
    journal.fail(new Error('ENOSPC'));
    await assert.rejects(deciding, /ENOSPC/);
    assert.deepEqual(names(team.state.members()), []);
    assert.equal(team.decisions.registry.get(requestId)?.status, 'pending');
    assert.deepEqual(woken, []);
    journal.release();
    await team.decisions.decide({ requestId, approve: true, ...HUMAN });
    assert.deepEqual(names(team.state.members()), ['ada', 'bert']);
  });

  it('keeps to names that the roster takes, whoever opens it', () => {
    for (const name of ['Ada', 'lead', '../x', ''])
      assert.equal(proposalPayload.safeParse({ members: [{ ...ADA, name }] }).success, false, name);
    const twice = proposalPayload.safeParse({ members: [BERT, BERT] });
    assert.equal(twice.success, false);
  });
});

function openProposal({ team }: ReturnType<typeof heldTeam>) {
  return team.decisions.open({
    kind: 'team_proposal',
    from: 'lead',
    to: 'human',
    payload: { members: [{ ...ADA, name: 'ada' }, BERT] },
    work: { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 },
  });
}
