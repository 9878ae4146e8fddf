import type { TeamEvent } from '../team/events';
import { messageOf } from '../team/ledger';
import type { Team } from '../team/team';
import type { ActivityShare } from './activity';

export interface WaitsDeps {
  team: Team;
  activity: ActivityShare;
  emit(event: TeamEvent): void;
}

/** The permissions that one member's calls wait for. A member that waits for a person does not run. */
export class Waits {
  readonly #requestIds = new Set<string>();

  constructor(
    private readonly deps: WaitsDeps,
    private readonly member: string,
  ) {}

  get any(): boolean {
    return this.#requestIds.size > 0;
  }

  begin(requestId: string): void {
    this.#requestIds.add(requestId);
    this.deps.activity.leave();
    this.#show('waiting');
  }

  end(requestId: string): void {
    this.#requestIds.delete(requestId);
    this.deps.activity.enter();
    this.#show('working');
  }

  /** Withdraws the requests, which ends the waits. */
  cancel(): void {
    if (!this.any) return;
    this.deps.team.decisions.cancel([...this.#requestIds], 'call_ended').catch((error: unknown) => {
      this.deps.emit({ type: 'notice', level: 'error', text: messageOf(error), member: this.member });
    });
  }

  #show(status: 'waiting' | 'working'): void {
    this.deps.team.setStatus(this.member, status);
    this.deps.emit({ type: 'member', name: this.member });
  }
}
