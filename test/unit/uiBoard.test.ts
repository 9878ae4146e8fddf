import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { compareTasks, type Task } from '../../src/team/task';
import { arrangeBoard, boardSummary, COMPLETED_MAX, isToReview } from '../../src/ui/boardModel';
import { moveByOne, type Placement, place } from '../../src/ui/boardMoves';
import { taskMarkdown } from '../../src/ui/taskText';
import { acceptance, task, worktree } from './boardFixtures';

const shown = (tasks: readonly Task[], readOnly = false): [string, string[]][] =>
  arrangeBoard({ tasks, readOnly }).map(({ label, rows }) => [label, rows.map(({ taskId }) => taskId)]);

const rowOf = (subject: Task, others: readonly Task[] = [], readOnly = false) => {
  const groups = arrangeBoard({ tasks: [subject, ...others], readOnly });
  const row = groups.flatMap(({ rows }) => rows).find(({ taskId }) => taskId === subject.id);
  assert.ok(row);
  return row;
};

describe('the Board view', () => {
  it('puts what waits for the human first and what is done last, and shows no empty group', () => {
    const tasks = [
      task('t1', { status: 'completed', completedAt: 1 }),
      task('t2', { status: 'completed', completedAt: 2, worktree: worktree('t2') }),
      task('t3', { status: 'in_progress', owner: 'alice', startedAt: 3 }),
      task('t4', { blockedBy: ['t1'] }),
      task('t5', { blockedBy: ['t3', 't1'] }),
      task('t6', { status: 'blocked', blockedReason: 'no key' }),
      task('t7', { priority: 2 }),
    ];
    assert.deepEqual(shown(tasks), [
      ['To Review', ['t2']],
      ['In Progress', ['t3']],
      ['Ready', ['t7', 't4']],
      ['Waiting', ['t5', 't6']],
      ['Done', ['t1']],
    ]);
    assert.deepEqual(shown([]), []);
  });

  it('is counted for the status bar, without what is done', () => {
    const tasks = [
      task('t1', { status: 'completed' }),
      task('t2'),
      task('t3'),
      task('t4', { blockedBy: ['t2'] }),
    ];
    assert.equal(boardSummary(tasks), 'Board · Ready: 2 · Waiting: 1');
    assert.equal(boardSummary(tasks.slice(0, 1)), '');
  });

  it('says who has a task, what it waits for, and why it is blocked', () => {
    assert.equal(
      rowOf(task('t5', { blockedBy: ['t3', 't1'], priority: -1 }), [
        task('t1', { status: 'completed' }),
        task('t3'),
      ]).description,
      't5 · after t3 · priority -1',
    );
    const blocked = rowOf(task('t6', { status: 'blocked', blockedReason: 'no key' }));
    assert.equal(blocked.description, 't6 · blocked: no key');
    assert.equal(blocked.spoken, 'Task t6, Do t6, blocked, blocked: no key');
    const busy = rowOf(task('t3', { status: 'in_progress', owner: 'alice', worktree: worktree('t3') }));
    assert.equal(busy.description, 't3 · alice · worktree');
    assert.equal(busy.contextValue, 'task.in_progress.in_progress.owned.worktree');
  });

  it('names a few of many dependencies', () => {
    const many = ['t1', 't2', 't3', 't4', 't5', 't6'];
    const row = rowOf(
      task('t9', { blockedBy: many }),
      many.map((id) => task(id)),
    );
    assert.equal(row.description, 't9 · after t1, t2, t3, t4 and 2 more');
  });

  it('offers nothing that changes in a window that only shows the team', () => {
    assert.equal(rowOf(task('t1'), [], true).contextValue, 'shown.task.ready.pending');
  });

  it('keeps icons, links and line breaks of a subject out of its row', () => {
    const { label } = rowOf(task('t1', { subject: 'Read\n[this](command:evil)\u202e' }));
    assert.equal(label, 'Read this');
  });

  it('lists the newest of many that are done', () => {
    const tasks = Array.from({ length: COMPLETED_MAX + 5 }, (_, index) =>
      task(`t${index + 1}`, { status: 'completed', completedAt: index }),
    );
    const [group] = arrangeBoard({ tasks, readOnly: false });
    assert.equal(group?.rows[0]?.taskId, `t${COMPLETED_MAX + 5}`);
    assert.deepEqual([group?.count, group?.omitted], [COMPLETED_MAX + 5, 5]);
  });

  it('asks for a review until all of the work has come home', () => {
    const finished = (accepted: Parameters<typeof worktree>[1], completedAt = 0) =>
      isToReview(task('t1', { status: 'completed', completedAt, worktree: worktree('t1', accepted) }));
    assert.ok(finished([]));
    assert.ok(finished([acceptance({ remaining: 2 })]));
    assert.ok(finished([acceptance({ outcome: 'conflicts' })]));
    assert.ok(!finished([acceptance()]));
    assert.ok(finished([acceptance({ at: 1 })], 2));
    assert.ok(!isToReview(task('t1', { status: 'in_progress', worktree: worktree('t1') })));
  });
});

describe('the order of tasks', () => {
  const apply = (tasks: readonly Task[], placements: readonly Placement[]): Task[] =>
    tasks.map((each) => ({ ...each, ...placements.find(({ id }) => id === each.id) }));
  const ranked = (tasks: readonly Task[]): string[] => [...tasks].sort(compareTasks).map(({ id }) => id);

  it('moves by one, and takes the priority of a task that is passed', () => {
    const tasks = [task('t1', { priority: 5 }), task('t2'), task('t3')];
    const up = moveByOne(tasks, 't2', 'up');
    assert.deepEqual(ranked(apply(tasks, up)), ['t2', 't1', 't3']);
    assert.equal(up[0]?.priority, 5);
    assert.deepEqual(ranked(apply(tasks, moveByOne(tasks, 't2', 'down'))), ['t1', 't3', 't2']);
    assert.deepEqual(moveByOne(tasks, 't1', 'up'), []);
    assert.deepEqual(moveByOne(tasks, 't3', 'down'), []);
    assert.deepEqual(moveByOne(tasks, 't9', 'down'), []);
  });

  it('numbers the tasks anew where there is no place between two', () => {
    const tasks = ['t1', 't2', 't3'].map((id) => task(id, { order: 0 }));
    const placements = place(tasks, ['t3'], 't2', 'before');
    assert.deepEqual(ranked(apply(tasks, placements)), ['t1', 't3', 't2']);
  });

  it('puts any tasks beside any other, in their order, and leaves the rest as it stood', () => {
    const board = fc.array(
      fc.record({ priority: fc.integer({ min: 0, max: 2 }), order: fc.integer({ min: 0, max: 3 }) }),
      {
        minLength: 2,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(
        board,
        fc.array(fc.nat(11), { minLength: 1, maxLength: 4 }),
        fc.nat(11),
        fc.boolean(),
        (made, moved, at, before) => {
          const tasks = made.map((each, index) => task(`t${index + 1}`, each));
          const beside = `t${(at % tasks.length) + 1}`;
          const ids = [...new Set(moved.map((index) => `t${(index % tasks.length) + 1}`))];
          fc.pre(!ids.includes(beside));
          const was = ranked(tasks);
          const rest = was.filter((id) => !ids.includes(id));
          const moving = was.filter((id) => ids.includes(id));
          const place_ = rest.indexOf(beside) + (before ? 0 : 1);
          const expected = [...rest.slice(0, place_), ...moving, ...rest.slice(place_)];
          const placements = place(tasks, ids, beside, before ? 'before' : 'after');
          assert.deepEqual(ranked(apply(tasks, placements)), expected);
        },
      ),
    );
  });
});

describe('a task as a document', () => {
  const tasks = [
    task('t1', { status: 'completed', subject: 'Read the store' }),
    task('t2', { status: 'in_progress', owner: 'bob', blockedBy: ['t1'] }),
    task('t3', { blockedBy: ['t2'], description: 'Carefully.', priority: 1 }),
  ];

  it('shows a task with what stands before and after it, its notes and its result', () => {
    const [, second] = tasks;
    assert.ok(second);
    const text = taskMarkdown(
      { ...second, result: 'All green.', notes: [{ at: 0, by: 'bob', text: 'half done' }] },
      tasks,
    );
    assert.match(text, /^# t2 · Do t2\n/);
    assert.match(text, /- After: t1 Read the store \(done\)\n- Before: t3 Do t3\n/);
    assert.match(text, /## Result\n\nAll green\.\n/);
    assert.match(text, /- 1970-01-01T00:00:00\.000Z · bob: half done/);
  });
});
