/**
 * Which members the human has just acted on. VS Code asks for access to its models only in answer to such an
 * action; a call that follows from mail or a restart must not open a question.
 */
export class Attention {
  readonly #members = new Set<string>();

  /** The human did something that the member's next call follows from. */
  mark(member: string): void {
    this.#members.add(member);
  }

  /** Whether the present call of the member follows from an action of the human; holds for one call. */
  take(member: string): boolean {
    return this.#members.delete(member);
  }
}
