import assert from 'node:assert/strict';
import type { HandshakeRequest } from '../../src/protocol';
import type { Member } from '../../src/team/member';
import { requestView as requestViewSchema } from '../../src/ui/messages';
import { requestView } from '../../src/ui/requestPanelModel';
import { bob, facts, shutdownOf, texts } from './webviewRequestFixtures';

const view = (more: Partial<HandshakeRequest>, member?: Member) =>
  requestViewSchema.parse(requestView(facts(member), shutdownOf(more), texts));

describe('the view of a request', () => {
  it('of a shutdown says who, why, what it is doing, and offers to force it', () => {
    const { title, from, to, role, doing, reason, overdue, canForceStop, outcome } = view({});
    assert.deepEqual(
      { title, from, to, role, doing, reason, overdue, canForceStop, outcome },
      {
        title: 'Shut down bob',
        from: 'lead',
        to: 'bob',
        role: 'coder',
        doing: 'bash npm test',
        reason: 'All done.',
        overdue: true,
        canForceStop: true,
        outcome: undefined,
      },
    );
  });

  it('of a plan has its text and scope', () => {
    const payload = { plan: '# Plan', files: ['src/**'], commands: ['npm test'] };
    const { title, plan, files, commands, canForceStop } = view({
      kind: 'plan_approval',
      from: 'bob',
      to: 'lead',
      payload,
    });
    assert.deepEqual(
      { title, plan, files, commands, canForceStop },
      { title: 'Plan of bob', ...payload, canForceStop: false },
    );
  });

  it('of a permission has the whole command, or the file and its change', () => {
    const long = `echo ${'x'.repeat(5000)}\nrm -rf build`;
    const base = { tool: 'bash', toolUseId: 't', description: 'why' };
    const command = view({
      kind: 'tool_permission',
      from: 'bob',
      to: 'human',
      payload: { ...base, subject: long, access: 'command' },
    });
    assert.equal(command.command, long);
    assert.equal(command.to, 'you');
    assert.equal(command.reason, 'why');
    const edit = view({
      kind: 'tool_permission',
      payload: { ...base, subject: 'src/a.ts', access: 'edit', preview: '+a' },
    });
    assert.deepEqual([edit.path, edit.diff, edit.command], ['src/a.ts', '+a', undefined]);
  });

  it('of a proposal lists everybody with the whole of what each would do', () => {
    const prompt = `First line\n${'x'.repeat(5000)}`;
    const payload = {
      members: [
        { name: 'ada', role: 'coder', prompt },
        { name: 'bert', role: 'tester', prompt: 'Test.', require_plan: true, model: 'other' },
      ],
      tasks: [{ key: 'a', subject: 'A', description: prompt }],
      calls_at_once: 3,
    };
    const proposal = view({
      kind: 'team_proposal',
      from: 'lead',
      to: 'human',
      work: { member: 'lead', incarnation: 0, taskId: null, workVersion: 0 },
      payload,
    });
    assert.deepEqual([proposal.title, proposal.canForceStop], ['lead proposes a team', false]);
    assert.deepEqual(proposal.proposal, { payload, taken: ['bob'], roles: [], estimate: 'About 3 calls.' });
  });

  it('says how it ended, and no longer what the teammate is doing', () => {
    const agreed = view({ status: 'approved', decidedBy: 'bob', via: 'tool' });
    assert.deepEqual(
      [agreed.outcome, agreed.overdue, agreed.doing, agreed.canForceStop],
      ['bob agreed.', false, undefined, false],
    );
    assert.equal(
      view({ status: 'rejected', decidedBy: 'bob', feedback: 'busy' }).outcome,
      'bob declined. Feedback: busy',
    );
    assert.equal(view({ status: 'approved', decidedBy: 'human', via: 'ui' }).outcome, 'Approved by you.');
    assert.equal(
      view({ status: 'approved', decidedBy: 'human', via: 'command' }).outcome,
      'Approved by you (command).',
    );
    assert.equal(
      view({ status: 'rejected', decidedBy: 'human', via: 'api' }).outcome,
      'Rejected by you (api).',
    );
    assert.equal(view({ status: 'cancelled', cancelReason: 'superseded' }).outcome, 'Withdrawn: superseded');
    assert.equal(view({ status: 'cancelled' }).outcome, 'Withdrawn.');
  });

  it('does not take a later namesake for the one that was asked', () => {
    const later = view({}, { ...bob, incarnation: 3, role: 'tester' });
    assert.deepEqual([later.role, later.doing, later.canForceStop], [undefined, undefined, false]);
    assert.equal(view({}, { ...bob, status: 'shutdown' }).canForceStop, false);
  });
});
