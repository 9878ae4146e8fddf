import type { Core } from '../../src/agent/coreApi';
import type { MergeMode } from '../../src/agent/reviewApi';
import type { Task } from '../../src/team/task';
import { APART, BY_HAND } from './worktreeMinds';

/** More than the scenario has acts, and any crash explains. */
const MAX_ACTS = 30;

/**
 * The human who brings work home: one task's as a commit, the other's uncommitted, whose worktree is removed then.
 * It goes by what is there, so that it can go on after a crash.
 */
export class WorktreeHuman {
  constructor(private readonly core: Core) {}

  /** @throws when the team comes to rest before the end of the scenario, or an act is refused */
  async play(): Promise<void> {
    for (let acts = 0; acts < MAX_ACTS; acts++) {
      await this.core.whenIdle(300_000);
      const act = (await this.#hasBegun()) ? this.#next() : () => this.core.sendMessage('lead', 'Begin.');
      if (act === 'over') return;
      if (act === undefined) break;
      await act();
    }
    throw new Error(`The team does not come to its end: ${JSON.stringify(this.core.tasks())}`);
  }

  async #hasBegun(): Promise<boolean> {
    return (await this.core.transcript('lead')).some(({ mail }) =>
      mail?.some(({ content }) => content === 'Begin.'),
    );
  }

  #next(): (() => Promise<unknown>) | 'over' | undefined {
    const { core } = this;
    const first = this.#task(APART);
    if (first === undefined || core.member('alice') === undefined) return undefined;
    const second = this.#task(BY_HAND);
    if (second === undefined) {
      return () => core.createTask({ subject: BY_HAND, description: 'Do it apart, too.', isolated: true });
    }
    // Cut off between the task and its worktree.
    if (second.status !== 'completed' && second.worktree === undefined) {
      return () => core.createWorktree(second.id);
    }
    if (first.status !== 'completed' || second.status !== 'completed') return undefined;
    if (!isMerged(first)) return () => this.#accept(first, 'commit');
    if (second.worktree === undefined) return 'over';
    if (!isMerged(second)) return () => this.#accept(second, 'uncommitted');
    return () => core.removeWorktree(second.id);
  }

  async #accept({ id }: Task, mode: MergeMode): Promise<void> {
    const { revision } = await this.core.reviewWork(id);
    await this.core.acceptWork(id, { everything: revision }, { mode });
  }

  #task(subject: string): Task | undefined {
    return this.core.tasks().find((task) => task.subject === subject);
  }
}

export function isMerged({ worktree }: Task): boolean {
  return worktree?.accepted.some(({ outcome }) => outcome === 'merged') ?? false;
}
