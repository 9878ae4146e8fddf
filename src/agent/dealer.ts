import { LEAD } from '../protocol';
import type { Pair } from '../team/board';
import { messageOf } from '../team/ledger';
import { isGone } from '../team/member';
import { compareTasks, type Task } from '../team/task';
import type { Team } from '../team/team';

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

/** A member's loop, as far as the board needs it. */
export interface Taker {
  /** Whether it would begin with a task now: it sleeps, and nobody told it to wait. */
  canTake(): boolean;
}

/**
 * Gives ready tasks to teammates that have nothing to do: the best task first, to whoever waits longest. It acts when
 * something changes, and does nothing in between.
 */
export class Dealer {
  /** Teammates in the order in which they last became idle. */
  readonly #waiting = new Set<string>();
  readonly #tasks = new Set<string>();
  readonly #takers = new Set<string>();
  #isDue = false;
  #stopped = false;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  /**
   * @param isHeld true at first where what is ready waits for the human's word, as after a restart
   * @param onSettled told when a task has been given, or could not be
   */
  constructor(
    private readonly team: Team,
    private readonly takerOf: (name: string) => Taker | undefined,
    private readonly onSettled: () => void,
    private isHeld = false,
  ) {
    for (const { name } of team.state.members()) this.#waiting.add(name);
    team.board.useDealer((tasks) => this.#next(tasks));
    team.ledger.events.on((event) => {
      if (event.type === 'task') {
        // Somebody works with the board again: it is no leftover of a closed window any more.
        this.isHeld = false;
        this.#schedule();
      } else if (event.type === 'turn_ended' && event.member !== LEAD) {
        this.#waiting.delete(event.member);
        this.#waiting.add(event.member);
        this.#schedule();
      } else if (event.type === 'request' && event.change !== 'opened') this.#schedule();
    });
  }

  /** True when no task is on its way to anybody. */
  get isIdle(): boolean {
    return !this.#isDue && this.#tasks.size === 0;
  }

  /** Those that would begin with a task if the human let them. */
  held(): string[] {
    if (!this.isHeld) return [];
    return this.#pairs(this.team.board.book.ready()).map(({ name }) => name);
  }

  /** Lets what is ready be taken. */
  release(): void {
    this.isHeld = false;
    this.#schedule();
  }

  /** Somebody may take a task now who could not before. */
  look(): void {
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
  }

  /** Who takes what when these tasks become ready; nobody where others are ready already, or wait for the human. */
  #next(tasks: readonly Task[]): Pair[] {
    if (this.#stopped || this.isHeld || this.team.board.book.hasReady) return [];
    return this.#pairs([...tasks].sort(compareTasks)).flatMap(({ task, name }) => {
      const member = this.team.state.member(name);
      return member === undefined ? [] : [{ task, taker: { name, incarnation: member.incarnation } }];
    });
  }

  #schedule(): void {
    if (this.#isDue || this.#stopped || this.isHeld || !this.team.board.book.hasReady) return;
    this.#isDue = true;
    // After all that follows from the same change, such as the mail that a member takes first.
    queueMicrotask(() => {
      this.#isDue = false;
      if (this.#stopped) return;
      for (const { task, name } of this.#pairs(this.team.board.book.ready())) void this.#give(task, name);
      this.onSettled();
    });
  }

  /** Who takes what now. */
  #pairs(tasks: readonly Task[]): { task: Task; name: string }[] {
    const pairs: { task: Task; name: string }[] = [];
    const free = this.#free();
    let next = free.next();
    const passedOver: string[] = [];
    for (const task of tasks) {
      if (this.#tasks.has(task.id)) continue;
      const spare = passedOver.findIndex((name) => name !== task.takenFrom);
      if (spare !== -1) {
        pairs.push({ task, name: passedOver.splice(spare, 1)[0] ?? '' });
        continue;
      }
      // A task that was taken from somebody does not go back by itself.
      while (!next.done && next.value === task.takenFrom) {
        passedOver.push(next.value);
        next = free.next();
      }
      if (next.done) {
        if (passedOver.length === 0) break;
        continue;
      }
      pairs.push({ task, name: next.value });
      next = free.next();
    }
    return pairs;
  }

  *#free(): Generator<string, undefined> {
    for (const name of this.#waiting) {
      const member = this.team.state.member(name);
      if (!member || isGone(member)) this.#waiting.delete(name);
      else if (!this.#takers.has(name) && this.team.isFree(name) && this.takerOf(name)?.canTake()) yield name;
    }
    return undefined;
  }

  async #give(task: Task, name: string): Promise<void> {
    const member = this.team.state.member(name);
    if (!member) return;
    let given = true;
    this.#tasks.add(task.id);
    this.#takers.add(name);
    try {
      given = await this.team.board.deal(task.id, { name, incarnation: member.incarnation });
      this.#retryMs = FIRST_RETRY_MS;
    } catch (error) {
      this.#tryAgain(`${task.id} could not be given to ${name}: ${messageOf(error)}`);
    } finally {
      this.#tasks.delete(task.id);
      this.#takers.delete(name);
      // One of the two was quicker elsewhere: the other is still to be had.
      if (!given) this.#schedule();
      this.onSettled();
    }
  }

  /** A disk that is full now tells nobody when it is not. */
  #tryAgain(text: string): void {
    if (this.#stopped || this.#retry !== undefined) return;
    this.team.ledger.events.fire({ type: 'notice', level: 'error', text });
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#schedule();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }
}
