import type { TeamMessage } from '../protocol';

/** The messages that members have not been shown, and the ids of all messages ever. */
export class Mailboxes {
  readonly #unread = new Map<string, TeamMessage[]>();
  readonly #ids = new Set<string>();

  /** Oldest first. */
  unread(name: string): readonly TeamMessage[] {
    return this.#unread.get(name) ?? [];
  }

  /** Whether there ever was such a message. */
  knows(id: string): boolean {
    return this.#ids.has(id);
  }

  /** A message of this id has been there. */
  note(id: string): void {
    this.#ids.add(id);
  }

  put(message: TeamMessage): void {
    const mailbox = this.#unread.get(message.to);
    if (mailbox) mailbox.push(message);
    else this.#unread.set(message.to, [message]);
  }

  /** Takes out what was shown. */
  take(name: string, ids: readonly string[]): void {
    const shown = new Set(ids);
    this.#unread.set(
      name,
      this.unread(name).filter((message) => !shown.has(message.id)),
    );
  }

  remove(name: string): void {
    this.#unread.delete(name);
  }

  ids(): string[] {
    return [...this.#ids];
  }

  /** All that is unread, in an order of its own, whatever order the mailboxes were first used in. */
  all(): TeamMessage[] {
    return [...this.#unread.keys()].sort().flatMap((name) => this.unread(name));
  }
}
