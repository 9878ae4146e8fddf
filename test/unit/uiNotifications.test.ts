import assert from 'node:assert/strict';
import { isForHuman, NoticeQueue, requestNotice } from '../../src/ui/notificationsModel';
import { command, request } from './uiFixtures';

describe('notifications about requests', () => {
  it('case 47: a description with a link never reaches the text', () => {
    const asked = command('echo hi', '[details](command:handshake.approve?%5B%22a1b2c3d4%22%5D)');
    const notice = requestNotice([asked], false);
    assert.equal(notice.text, 'alice wants to run: echo hi');
    const linked = requestNotice([command('[x](command:y)')], false);
    assert.doesNotMatch(linked.text, /\]\(/);
    assert.equal(linked.kind === 'one' && linked.canApprove, false);
  });

  it('offers Approve only for what the text shows whole', () => {
    const short = requestNotice([command('npm test')], false);
    const long = requestNotice([command('x'.repeat(90))], false);
    assert.equal(short.kind === 'one' && short.canApprove, true);
    assert.equal(long.kind === 'one' && long.canApprove, false);
  });

  it('shows one at a time and tells the rest together', () => {
    const queue = new NoticeQueue();
    const [a, b, c] = [request(), request(), request()];
    queue.add(a.requestId, false);
    const first = queue.take([a]);
    assert.equal(first?.kind === 'one' && first.requestId, a.requestId);

    queue.add(b.requestId, false);
    queue.add(c.requestId, false);
    assert.equal(queue.take([a, b, c]), undefined);
    queue.gone();
    assert.equal(queue.take([a, b, c])?.text, '3 requests wait for a decision');
    queue.gone();
    assert.equal(queue.take([a, b, c]), undefined);
  });

  it('does not tell what was decided while it waited for its turn', () => {
    const queue = new NoticeQueue();
    const [a, b] = [request(), request()];
    queue.add(a.requestId, false);
    queue.take([a]);
    queue.add(b.requestId, false);
    queue.drop(b.requestId);
    queue.gone();
    assert.equal(queue.take([a]), undefined);
  });

  it('tells an overdue request once more, as overdue', () => {
    const queue = new NoticeQueue();
    const a = command('npm test');
    queue.add(a.requestId, true);
    const notice = queue.take([a]);
    assert.equal(
      notice?.text,
      'Overdue: alice wants to run: npm test. Nothing is decided by silence; it waits for an answer.',
    );
    assert.ok(notice?.overdue);
  });

  it('case 3: an overdue shutdown offers to stop that teammate, and only then', () => {
    const asked = request({ kind: 'shutdown', from: 'human', to: 'alice' });
    const late = requestNotice([asked], true);
    assert.equal(late.kind === 'one' && late.canStop, 'alice');
    const early = requestNotice([asked], false);
    assert.equal(early.kind === 'one' && early.canStop, undefined);
    const plan = requestNotice([request({ kind: 'plan_approval' })], true);
    assert.equal(plan.kind === 'one' && plan.canStop, undefined);
  });

  it('case 7: what only the human can answer is told at once', () => {
    const either = { plan: 'either', permission: 'either' } as const;
    const human = { plan: 'human', permission: 'human' } as const;
    // Also where the lead may answer: the human is never the last to know that a command wants to run.
    for (const policy of [either, human]) assert.ok(isForHuman(command('npm test'), policy));
    assert.ok(isForHuman(request({ kind: 'team_proposal' }), either));
    assert.ok(!isForHuman(request({ kind: 'plan_approval' }), either));
    assert.ok(isForHuman(request({ kind: 'plan_approval' }), human));
    assert.ok(!isForHuman(request({ kind: 'shutdown' }), human));
  });
});
