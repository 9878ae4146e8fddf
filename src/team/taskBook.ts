import { compareTasks, isUnderWay, type Task, taskNumber } from './task';

/** The tasks there are, and what follows from how they hang together. Pure; it checks nothing. */
export class TaskBook {
  readonly #tasks = new Map<string, Task>();
  /** Tasks by one that they wait for. */
  readonly #dependents = new Map<string, Set<string>>();
  readonly #ready = new Set<string>();
  /** What each owner works on. */
  readonly #underWay = new Map<string, string>();
  /** Tasks by whom they are kept for. */
  readonly #kept = new Map<string, string>();
  #last = 0;

  /** The highest number ever given to a task. */
  get last(): number {
    return this.#last;
  }

  /** In the order they were made. */
  all(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  /** What a member works on. */
  underWay(member: string): Task | undefined {
    return this.#tasks.get(this.#underWay.get(member) ?? '');
  }

  /** What a member is to begin with as soon as its worktree is there. */
  keptFor(member: string): Task | undefined {
    return this.#tasks.get(this.#kept.get(member) ?? '');
  }

  /** Those whose worktree is still to be made. */
  due(): Task[] {
    return this.all().filter((task) => task.worktreeDue === true && task.status !== 'completed');
  }

  /** Those that anybody may claim now, the best first. */
  ready(): Task[] {
    return [...this.#ready].flatMap((id) => this.#tasks.get(id) ?? []).sort(compareTasks);
  }

  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  isReady(id: string): boolean {
    return this.#ready.has(id);
  }

  /** The tasks that have to be completed before this one can begin. */
  waitsFor(task: Task): string[] {
    return task.blockedBy.filter((id) => this.#tasks.get(id)?.status !== 'completed');
  }

  /** The tasks that have this one among those they wait for. */
  dependents(id: string): readonly Task[] {
    return [...(this.#dependents.get(id) ?? [])].flatMap((other) => this.#tasks.get(other) ?? []);
  }

  /** Those that anybody may claim once this one is completed. */
  freedWith(id: string): Task[] {
    const waitsForIt = (task: Task): boolean => this.waitsFor(task).every((other) => other === id);
    return this.dependents(id).filter(
      (task) => task.status === 'pending' && hasPlace(task) && waitsForIt(task),
    );
  }

  /**
   * The way from a task back to itself that waiting for these would make, or undefined.
   * @returns ids, the task first and last
   */
  cycle(id: string, blockedBy: readonly string[]): string[] | undefined {
    const from = new Map<string, string>();
    const open = [...blockedBy];
    for (const first of blockedBy) from.set(first, id);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === id) return this.#wayBack(id, from);
      for (const further of this.#tasks.get(next)?.blockedBy ?? []) {
        if (from.has(further)) continue;
        from.set(further, next);
        open.push(further);
      }
    }
    return undefined;
  }

  /** Puts a task in the place of what it was. */
  put(task: Task): void {
    const before = this.#tasks.get(task.id);
    this.#tasks.set(task.id, task);
    this.#last = Math.max(this.#last, taskNumber(task.id));
    if (before?.blockedBy !== task.blockedBy) this.#relink(task, before);
    if (before?.owner !== undefined && this.#underWay.get(before.owner) === task.id) {
      this.#underWay.delete(before.owner);
    }
    if (before?.keptFor !== undefined && this.#kept.get(before.keptFor.member) === task.id) {
      this.#kept.delete(before.keptFor.member);
    }
    if (task.keptFor !== undefined) this.#kept.set(task.keptFor.member, task.id);
    if (task.owner !== undefined && isUnderWay(task)) this.#underWay.set(task.owner, task.id);
    this.#judge(task);
    if (before?.status !== task.status) for (const other of this.dependents(task.id)) this.#judge(other);
  }

  /** No id below this number, or at it, is given any more. */
  skipTo(last: number): void {
    this.#last = Math.max(this.#last, last);
  }

  #judge(task: Task): void {
    const ready = task.status === 'pending' && hasPlace(task) && this.waitsFor(task).length === 0;
    if (ready) this.#ready.add(task.id);
    else this.#ready.delete(task.id);
  }

  #relink(task: Task, before: Task | undefined): void {
    for (const id of before?.blockedBy ?? []) this.#dependents.get(id)?.delete(task.id);
    for (const id of task.blockedBy) {
      const dependents = this.#dependents.get(id) ?? new Set();
      dependents.add(task.id);
      this.#dependents.set(id, dependents);
    }
  }

  #wayBack(id: string, from: ReadonlyMap<string, string>): string[] {
    const way = [id];
    for (let at = from.get(id); at !== undefined && at !== id; at = from.get(at)) way.unshift(at);
    return [id, ...way];
  }
}

/** Whether there is a folder to do it in: an isolated task is done in its worktree or not at all. */
export function hasPlace({ isolated, worktree }: Task): boolean {
  return worktree === undefined ? isolated !== true : worktree.state === 'ready';
}
