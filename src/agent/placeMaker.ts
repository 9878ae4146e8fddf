import { messageOf } from '../team/ledger';
import type { Team } from '../team/team';

/** Makes the worktrees that the tasks of an accepted proposal come with, as soon as these stand on the board. */
export class PlaceMaker {
  readonly #making = new Set<string>();

  /** @param run runs what the team is not idle during */
  constructor(
    private readonly team: Team,
    private readonly run: (work: () => Promise<void>) => Promise<void>,
  ) {
    team.ledger.events.on((event) => {
      if (event.type !== 'task') return;
      const task = team.board.book.get(event.id);
      if (task?.worktreeDue === true && task.worktree === undefined && !this.#making.has(task.id)) {
        void this.run(() => this.#make(task.id));
      }
    });
  }

  async #make(id: string): Promise<void> {
    this.#making.add(id);
    const tell = (why: string): void => {
      const text = `The worktree of ${id} could not be made: ${why}`;
      this.team.ledger.events.fire({ type: 'notice', level: 'error', text });
    };
    try {
      const why = await this.team.worktrees.makeDue(id);
      if (why !== undefined) tell(why);
    } catch (error) {
      // It is tried again when the task changes, or the team is opened the next time.
      tell(messageOf(error));
    } finally {
      this.#making.delete(id);
    }
  }
}
