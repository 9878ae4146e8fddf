import * as assert from 'node:assert/strict';
import { isGone } from '../../../src/team/member';
import type { TeamRecord } from '../../../src/team/records';
import { compareTasks, isUnderWay } from '../../../src/team/task';
import { hasPlace, type TaskBook } from '../../../src/team/taskBook';
import type { Team } from '../../../src/team/team';
import type { HistoryEdit, TeamStep } from './teamHistory';

type TaskStep = Extract<
  TeamStep,
  {
    op:
      | 'createTask'
      | 'editTask'
      | 'claimTask'
      | 'assignTask'
      | 'dealTask'
      | 'releaseTask'
      | 'completeTask'
      | 'releaseAbsent';
  }
>;

/** The id of one of the tasks there are; 9 is one that is never there. */
export function taskId(team: Team, number: number): string {
  const count = team.board.book.last;
  return number === 9 || count === 0 ? 't99999' : `t${1 + (number % count)}`;
}

/** One that is under way, if there is one. */
function underWay(team: Team, number: number): string {
  const open = team.board.book.all().filter(isUnderWay);
  return open[number % Math.max(1, open.length)]?.id ?? taskId(team, number);
}

/** Plays one step of a history on the board; what a command says it did has been done. */
export async function taskStep(team: Team, step: TaskStep): Promise<void> {
  const { board } = team;
  switch (step.op) {
    case 'createTask': {
      const { by, priority } = step;
      const blockedBy = step.blockedBy.map((number) => taskId(team, number));
      const task = await board.create({ subject: 'S', description: '', priority, blockedBy }, by);
      assert.equal(board.get(task.id).createdBy, by);
      return;
    }
    case 'editTask':
      await board.edit(taskId(team, step.task), editOf(team, step.edit), step.by);
      return;
    case 'claimTask':
      // Whoever gets it has it, or had it: what came after the claim may have taken it away.
      await board.claim(taskId(team, step.task), takerOf(team, step.by));
      return;
    case 'assignTask':
      await board.assign(taskId(team, step.task), step.to, step.by);
      return;
    case 'dealTask':
      if (board.book.get(taskId(team, step.task)))
        await board.deal(taskId(team, step.task), takerOf(team, step.to));
      return;
    case 'releaseTask':
      await board.release(underWay(team, step.task), 'human', 'A note.');
      return;
    case 'completeTask': {
      const id = step.by === 'owner' ? underWay(team, step.task) : taskId(team, step.task);
      const by = step.by === 'owner' ? (board.book.get(id)?.owner ?? 'lead') : step.by;
      await board.complete(id, by === 'human' ? 'human' : takerOf(team, by), 'R');
      return;
    }
    case 'releaseAbsent':
      await board.releaseAbsent();
      return;
  }
}

function editOf(team: Team, { blockedBy, priority, status }: HistoryEdit) {
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(blockedBy === undefined ? {} : { blockedBy: blockedBy.map((number) => taskId(team, number)) }),
    ...(status === undefined ? {} : { status, reason: 'Why.' }),
  };
}

function takerOf(team: Team, name: string) {
  return { name, incarnation: name === 'lead' ? 0 : team.state.lastIncarnation(name) };
}

/** What holds of the board at every moment. */
export function checkTasks(team: Team): void {
  const { book } = team.board;
  const owners = new Set<string>();
  for (const task of book.all()) {
    const { id, status, owner } = task;
    assert.equal(
      status === 'blocked',
      task.blockedReason !== undefined,
      `${id} is ${status}, and says why or not`,
    );
    if (status === 'pending' || status === 'blocked')
      assert.equal(owner, undefined, `${id} is ${status} and owned`);
    assert.equal(book.cycle(id, task.blockedBy), undefined, `${id} waits for itself`);
    for (const other of task.blockedBy)
      assert.ok(book.get(other), `${id} waits for ${other}, which is not there`);
    const isReady = status === 'pending' && hasPlace(task) && book.waitsFor(task).length === 0;
    assert.equal(book.isReady(id), isReady, `${id} is ready, or not`);
    if (!isUnderWay(task)) continue;
    assert.ok(owner !== undefined, `${id} is under way with nobody`);
    assert.equal(owners.has(owner), false, `${owner} has two tasks`);
    owners.add(owner);
    assert.equal(book.underWay(owner)?.id, id);
    if (owner === 'lead') continue;
    const member = team.state.member(owner);
    assert.ok(member && !isGone(member), `${id} is under way with ${owner}, who has left`);
    assert.notEqual(member.status, 'failed', `${id} is under way with ${owner}, who failed`);
    assert.equal(member.incarnation, task.ownerIncarnation);
    assert.equal(member.taskId, id, `${owner} has ${id}, and works on ${member.taskId}`);
  }
  const ready = book.ready();
  assert.deepEqual(ready, [...ready].sort(compareTasks));
  for (const member of team.state.members()) {
    if (!isGone(member) && /^t\d+$/.test(member.taskId))
      assert.equal(book.underWay(member.name)?.id, member.taskId);
  }
}

/** No task was made twice, and each that was made is there. */
export function checkTaskRecords(records: readonly TeamRecord[], book: TaskBook): void {
  const created = records.flatMap((record) => (record.t === 'task_created' ? [record.task_id] : []));
  assert.equal(new Set(created).size, created.length, 'a task id was used twice');
  assert.deepEqual(
    book.all().map(({ id }) => id),
    created,
  );
}
