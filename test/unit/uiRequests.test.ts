import assert from 'node:assert/strict';
import type { HandshakeRequest } from '../../src/protocol';
import { MovedRows, SettlingRows } from '../../src/ui/calmRows';
import { TreeCommands } from '../../src/ui/contributions';
import { arrangeRequests, DECIDED_MAX, type RowState } from '../../src/ui/requestsModel';
import { inlineClause } from './support/manifest';
import { command, request } from './uiFixtures';

const calm: RowState = {
  isSettling: () => false,
  isDeciding: () => false,
  isMoved: () => false,
  isReadOnly: () => false,
  isOverdue: () => false,
};
const ids = (rows: readonly { requestId: string }[]) => rows.map((row) => row.requestId);
const decided = (r: HandshakeRequest): HandshakeRequest => ({ ...r, status: 'approved', decidedBy: 'human' });

/** What the manifest asks of a row that has this button, by the command of it. */
const HAS_APPROVE = inlineClause(TreeCommands.approve);
const HAS_REJECT = inlineClause(TreeCommands.reject);
const HAS_REVIEW = inlineClause(TreeCommands.review);
const HAS_STOP = inlineClause(TreeCommands.forceStop);

describe('the Requests view', () => {
  it('lists what waits oldest first, and what is decided newest first below', () => {
    const [a, b, c, d] = [request(), decided(request()), request(), decided(request())];
    const model = arrangeRequests([a, b, c, d], calm);
    assert.deepEqual(ids(model.open), ids([a, c]));
    assert.deepEqual(ids(model.decided), ids([d, b]));
    assert.equal(model.pendingCount, 2);
  });

  it('gives rows ids that last and buttons by kind', () => {
    const short = command('npm test');
    const long = command('x'.repeat(100));
    const [row, longRow] = arrangeRequests([short, long], calm).open;
    assert.equal(row?.id, `request:${short.requestId}`);
    assert.match(row?.contextValue ?? '', HAS_APPROVE);
    assert.match(row?.contextValue ?? '', HAS_REJECT);
    assert.doesNotMatch(longRow?.contextValue ?? '', HAS_APPROVE);
    assert.match(longRow?.contextValue ?? '', HAS_REVIEW);
    assert.match(longRow?.contextValue ?? '', HAS_REJECT);
  });

  it('case 48: a row that was just decided keeps its place and has no buttons', () => {
    const a = command('echo 1');
    const b = command('echo 2');
    let now = 1000;
    const settling = new SettlingRows(() => now);
    const state: RowState = { ...calm, isSettling: (id) => settling.has(id) };
    settling.add(a.requestId);

    const just = arrangeRequests([decided(a), b], state);
    assert.deepEqual(ids(just.open), ids([a, b]));
    assert.doesNotMatch(just.open[0]?.contextValue ?? '', HAS_REJECT);
    assert.equal(just.pendingCount, 1);
    assert.equal(settling.prune(), 2000);

    now += 1999;
    assert.deepEqual(ids(arrangeRequests([decided(a), b], state).open), ids([a, b]));
    now += 1;
    assert.equal(settling.prune(), undefined);
    const later = arrangeRequests([decided(a), b], state);
    assert.deepEqual(ids(later.open), ids([b]));
    assert.deepEqual(ids(later.decided), ids([a]));
  });

  it('case 48: a row that moved up has no buttons until a click at the old place has landed', () => {
    const [a, b] = [command('echo 1'), command('echo 2')];
    let now = 1000;
    const moved = new MovedRows(() => now);
    const state: RowState = { ...calm, isMoved: (id) => moved.has(id) };
    const draw = (...requests: HandshakeRequest[]) => arrangeRequests(requests, state).open;
    moved.note(ids([a, b]));
    for (const row of draw(a, b)) assert.match(row.contextValue, HAS_APPROVE);

    moved.note(ids([b]));
    const [row] = draw(decided(a), b);
    assert.equal(row?.requestId, b.requestId);
    assert.doesNotMatch(row?.contextValue ?? '', HAS_REJECT);
    assert.equal(moved.prune(), 700);

    now += 700;
    assert.equal(moved.prune(), undefined);
    moved.note(ids([b]));
    assert.match(draw(decided(a), b)[0]?.contextValue ?? '', HAS_APPROVE);
  });

  it('case 8: a new row has no buttons at once where another stood, and has them on free ground', () => {
    let now = 1000;
    const moved = new MovedRows(() => now);
    moved.note([]);
    moved.note(['a']);
    moved.note(['a', 'b']);
    assert.deepEqual([moved.has('a'), moved.has('b')], [false, false]);
    moved.note(['a', 'c']);
    assert.deepEqual([moved.has('a'), moved.has('c')], [false, true]);
    now += 700;
    assert.equal(moved.has('c'), false);
  });

  it('case 48: while a person works down the list nothing leaves; then all that is decided leaves together', () => {
    let now = 1000;
    const settling = new SettlingRows(() => now);
    settling.add('a', true);
    now += 1500;
    settling.add('b', true);
    now += 1500;
    assert.equal(settling.has('a'), true);
    now += 500;
    assert.equal(settling.prune(), undefined);
    assert.equal(settling.has('b'), false);
  });

  it('what others decide does not keep decided rows in the list for ever', () => {
    let now = 1000;
    const settling = new SettlingRows(() => now);
    settling.add('a');
    now += 1500;
    settling.add('b');
    now += 500;
    assert.deepEqual([settling.has('a'), settling.has('b')], [false, true]);
  });

  it('case 8: a newer request comes below, and never takes the place of the one on screen', () => {
    const a = command('echo 1 > a');
    const b = command('rm -rf b');
    const before = arrangeRequests([a], calm).open;
    const after = arrangeRequests([a, b], calm).open;
    assert.deepEqual(after[0], before[0]);
    assert.equal(after[0]?.requestId, a.requestId);
  });

  it('takes the buttons away while a decision is being written', () => {
    const a = request();
    const [row] = arrangeRequests([a], { ...calm, isDeciding: (id) => id === a.requestId }).open;
    assert.doesNotMatch(row?.contextValue ?? '', HAS_REJECT);
  });

  it('marks what is overdue, also for screen readers', () => {
    const [row] = arrangeRequests([request()], { ...calm, isOverdue: () => true }).open;
    assert.match(row?.description ?? '', /^overdue/);
    assert.match(row?.spoken ?? '', /overdue/);
    assert.equal(row?.icon.color, 'list.errorForeground');
    assert.match(row?.contextValue ?? '', HAS_APPROVE);
    assert.doesNotMatch(row?.contextValue ?? '', HAS_STOP);
  });

  it('case 3: a shutdown that nobody answers in time has Force Stop beside its other buttons', () => {
    const shutdown = request({ kind: 'shutdown', from: 'lead', to: 'alice' });
    const [early] = arrangeRequests([shutdown], calm).open;
    const [late] = arrangeRequests([shutdown], { ...calm, isOverdue: () => true }).open;
    assert.doesNotMatch(early?.contextValue ?? '', HAS_STOP);
    for (const button of [HAS_APPROVE, HAS_REJECT, HAS_STOP]) assert.match(late?.contextValue ?? '', button);
    const state: RowState = { ...calm, isOverdue: () => true, isMoved: () => true };
    const [moved] = arrangeRequests([shutdown], state).open;
    for (const button of [HAS_APPROVE, HAS_REJECT, HAS_STOP]) {
      assert.doesNotMatch(moved?.contextValue ?? '', button);
    }
    const long = command('x'.repeat(100));
    const [review] = arrangeRequests([long], { ...calm, isOverdue: () => true }).open;
    assert.match(review?.contextValue ?? '', HAS_REVIEW);
    assert.doesNotMatch(review?.contextValue ?? '', HAS_APPROVE);
  });

  it('lists no more decided ones than a person looks through, and says how many there are', () => {
    const many = Array.from({ length: DECIDED_MAX + 5 }, () => decided(request()));
    const model = arrangeRequests(many, calm);
    assert.equal(model.decided.length, DECIDED_MAX);
    assert.equal(model.omitted, 5);
    assert.equal(model.decided[0]?.requestId, many.at(-1)?.requestId);
  });
});
