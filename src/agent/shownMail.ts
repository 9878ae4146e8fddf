import type { TeamMessage } from '../protocol';
import { untilDone } from './afterTurn';
import type { RunnerDeps } from './runnerDeps';

/**
 * Which of a member's messages its conversation holds. The mailbox lags behind the transcript by one write: what
 * was shown is noted there afterwards.
 */
export class ShownMail {
  readonly #marked = new Set<string>();
  #inTurn: string[] = [];

  constructor(
    private readonly deps: Pick<RunnerDeps, 'team' | 'emit'>,
    private readonly member: string,
    private readonly hasShown: (id: string) => boolean,
    private readonly hasEnded: () => boolean,
  ) {}

  /** Ids of what was shown since the turn began. */
  get inTurn(): readonly string[] {
    return this.#inTurn;
  }

  beginTurn(): void {
    this.#inTurn = [];
  }

  /** What the transcript does not hold yet. */
  unshown(): readonly TeamMessage[] {
    return this.deps.team.unread(this.member).filter((message) => !this.hasShown(message.id));
  }

  /** What the transcript holds though it is still in the mailbox. */
  shownUnread(): string[] {
    const ids = this.deps.team.unread(this.member).map((message) => message.id);
    return ids.filter((id) => this.hasShown(id));
  }

  /** The transcript has these on the disk now. */
  onShown(messages: readonly TeamMessage[]): void {
    const taken = messages.map((message) => message.id);
    this.#inTurn.push(...taken);
    if (taken.length > 0) this.deps.emit({ type: 'taken', member: this.member, ids: taken });
    // Also what a crash or a full disk left in the mailbox though the transcript has it.
    const ids = this.shownUnread().filter((id) => !this.#marked.has(id));
    for (const id of ids) this.#marked.add(id);
    void this.#mark(ids);
  }

  /** What cannot be noted now is noted when the disk takes it, or with the member's end. */
  async #mark(ids: readonly string[]): Promise<void> {
    let told = false;
    await untilDone(
      () => this.deps.team.marks.shown(this.member, ids),
      (text) => {
        if (!told) this.deps.emit({ type: 'notice', level: 'error', text, member: this.member });
        told = true;
      },
      () => this.hasEnded(),
    );
  }
}
