import * as assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TeamRecord } from '../../../src/team/records';
import { isUnderWay } from '../../../src/team/task';
import { hasPlace } from '../../../src/team/taskBook';
import type { Team } from '../../../src/team/team';
import { TeamError } from '../../../src/team/teamError';
import type { Acceptance, WorktreeGit, WorktreePlan } from '../../../src/team/worktree';
import { taskId } from './taskPlay';
import type { TeamStep } from './teamHistory';

export type WorktreeStep = Extract<
  TeamStep,
  { op: 'makeWorktree' | 'removeWorktree' | 'sendBack' | 'accept' | 'recoverWorktrees' }
>;

/** What git keeps of worktrees, without git: it outlives a crash, in the middle of a step as well. */
export class FakeGit implements WorktreeGit {
  /** Branches by the path of their worktree. */
  readonly there = new Map<string, string>();
  /** Begun, and not whole: a crash leaves it so. */
  readonly half = new Set<string>();
  /** Could not be cleared away, of which the lead and the log are told. */
  readonly left = new Set<string>();
  /** How the next thing asked of it goes. */
  next: 'quick' | 'slow' | 'fails' = 'quick';
  #dead = false;

  /** The same disk for a new life; the old one does nothing more. */
  survive(): FakeGit {
    this.#dead = true;
    const next = new FakeGit();
    for (const [path, branch] of this.there) next.there.set(path, branch);
    for (const path of this.half) next.half.add(path);
    for (const path of this.left) next.left.add(path);
    return next;
  }

  async plan(taskId: string): Promise<WorktreePlan> {
    await this.#step();
    let name = taskId;
    for (let n = 2; this.there.has(`w/${name}`); n++) name = `${taskId}-${n}`;
    return { path: `w/${name}`, branch: `b/${name}`, base: 'c', baseName: 'main', notes: [] };
  }

  async make({ path, branch }: WorktreePlan): Promise<void> {
    assert.equal(this.there.has(path), false, `${path} is made twice`);
    this.there.set(path, branch);
    this.half.add(path);
    try {
      await this.#step();
    } catch (error) {
      this.there.delete(path);
      throw error;
    } finally {
      if (!this.#dead) this.half.delete(path);
    }
  }

  async clear({ path }: { path: string }): Promise<void> {
    try {
      await this.#step();
    } catch (error) {
      this.left.add(path);
      throw error;
    }
    this.there.delete(path);
    this.half.delete(path);
    this.left.delete(path);
  }

  async problem(path: string): Promise<string | undefined> {
    return this.there.has(path) && !this.half.has(path) ? undefined : 'it is not there';
  }

  async remove(path: string): Promise<void> {
    await this.#step();
    this.there.delete(path);
    this.half.delete(path);
  }

  async #step(): Promise<void> {
    const how = this.next;
    if (how === 'slow') await nextTurn();
    if (this.#dead) await new Promise(() => undefined);
    if (how === 'fails') this.next = 'quick';
    if (how === 'fails') throw new TeamError('git failed');
  }
}

/** A task that has a worktree, if there is one. */
function withWorktree(team: Team, number: number): string {
  const isolated = team.board.book.all().filter(({ worktree }) => worktree !== undefined);
  return isolated[number % Math.max(1, isolated.length)]?.id ?? taskId(team, number);
}

/** Plays one step of a history on the worktrees; what a command says it did has been done. */
export async function worktreeStep(
  team: Team,
  git: FakeGit,
  step: WorktreeStep,
  uuid: () => string,
): Promise<void> {
  const { worktrees, board } = team;
  switch (step.op) {
    case 'makeWorktree':
      git.next = step.how;
      // For one of those there are, or for a new one.
      if (step.task % 2 === 0) {
        const { id } = await board.create({ subject: 'S', description: '', isolated: true }, step.by);
        await worktrees.create(id, step.by);
      } else await worktrees.create(taskId(team, step.task), step.by);
      return;
    case 'removeWorktree':
      await worktrees.remove(withWorktree(team, step.task), '*');
      return;
    case 'sendBack':
      await board.sendBack(withWorktree(team, step.task), 'Once more.', 'human');
      return;
    case 'accept': {
      const { id } = board.get(withWorktree(team, step.task));
      worktrees.ready(id);
      const landing = { from: 'a', to: 'b', conflicts: [], staged: true };
      const acceptance: Acceptance = { id: uuid(), mode: 'commit', tree: 't', landing, files: ['f'], at: 0 };
      await worktrees.beginAccept(id, acceptance);
      await worktrees.endAccept(id, acceptance.id, step.outcome);
      return;
    }
    case 'recoverWorktrees':
      await worktrees.recover();
      return;
  }
}

/** What holds of worktrees at every moment. */
export function checkWorktrees(team: Team, git: FakeGit): void {
  for (const { id, isolated, worktree, ...task } of team.board.book.all()) {
    if (task.worktreeDue) {
      assert.notEqual(task.status, 'in_progress', `${id} is worked on before it has its place`);
      assert.equal(isolated, true, `${id} is to have a worktree, and may be done elsewhere`);
    }
    if (worktree === undefined) continue;
    assert.equal(isolated, true, `${id} has a worktree, and may be done elsewhere`);
    if (worktree.state === 'ready')
      assert.equal(git.there.get(worktree.path), worktree.branch, `${id}: no worktree`);
    const ids = worktree.accepted.map((one) => one.id);
    assert.equal(new Set(ids).size, ids.length, `${id} was accepted twice`);
    if (task.status !== 'in_progress' || task.owner === undefined) continue;
    const place = team.worktrees.placeOf(task.owner);
    assert.notEqual(place.kind, 'main', `${task.owner} works on ${id} in the main folder`);
    if (place.kind === 'worktree') assert.equal(place.taskId, id);
  }
  for (const task of team.board.book.all()) {
    if (isUnderWay(task) || task.status !== 'pending') continue;
    if (!hasPlace(task)) assert.equal(team.board.book.isReady(task.id), false, `${task.id} has no place`);
  }
}

/** In the end each worktree there is belongs to a task that knows of it, or was said to be left; none was lost. */
export async function settleWorktrees(team: Team, git: FakeGit): Promise<void> {
  git.next = 'quick';
  await team.worktrees.recover();
  const due = team.board.book.due().map(({ id }) => id);
  assert.deepEqual(due, [], 'their worktrees are still to be made');
  const known = team.board.book
    .all()
    .flatMap(({ worktree }) => (worktree === undefined ? [] : [worktree.path]));
  const unknown = [...git.there.keys()].filter((path) => !known.includes(path));
  assert.deepEqual(
    known.filter((path) => !git.there.has(path)),
    [],
  );
  assert.deepEqual(
    unknown.filter((path) => !git.left.has(path)),
    [],
  );
  assert.deepEqual(
    [...git.half].filter((path) => !git.left.has(path)),
    [],
  );
}

/** Each was said to be made once. */
export function checkWorktreeRecords(records: readonly TeamRecord[]): void {
  const open = new Set<string>();
  for (const record of records) {
    if (record.t === 'worktree_begun') {
      assert.equal(open.has(record.task_id), false, `${record.task_id} has two worktrees`);
      open.add(record.task_id);
    } else if (record.t === 'worktree_gone') open.delete(record.task_id);
  }
}
