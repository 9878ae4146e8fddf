import type { CallRef } from './recordParts';

/** A tool call whose handler has begun. */
export interface BegunCall {
  call: CallRef;
  tool: string;
  /** Of the member's conversation, so that an id that a model uses again is another call. */
  turn: number;
  /** What is known to have come of it, as the tool would have said. */
  done: string[];
}

/**
 * The calls of each member's newest batch that have begun. Should the window die before their results are in
 * the transcript, this tells what they did; they are never begun a second time.
 */
export class BegunCalls {
  readonly #byMember = new Map<string, Map<string, BegunCall>>();

  begin(call: CallRef, tool: string, turn: number): void {
    const present = this.#byMember.get(call.member);
    const batch = present && isSameBatch(present, call, turn) ? present : new Map<string, BegunCall>();
    this.#byMember.set(call.member, batch);
    batch.set(call.id, { call, tool, turn, done: [] });
  }

  /** Notes what came of a call. */
  note(call: CallRef | undefined, outcome: string | undefined): void {
    if (call === undefined || outcome === undefined) return;
    const begun = this.#byMember.get(call.member)?.get(call.id);
    if (begun?.call.incarnation === call.incarnation) begun.done.push(outcome);
  }

  find(call: CallRef, turn: number): BegunCall | undefined {
    const begun = this.#byMember.get(call.member)?.get(call.id);
    return begun?.call.incarnation === call.incarnation && begun.turn === turn ? begun : undefined;
  }

  /** Puts back what a snapshot kept. */
  restore(begun: BegunCall): void {
    this.begin(begun.call, begun.tool, begun.turn);
    for (const outcome of begun.done) this.note(begun.call, outcome);
  }

  forget(member: string): void {
    this.#byMember.delete(member);
  }

  all(): BegunCall[] {
    return [...this.#byMember.values()].flatMap((batch) => [...batch.values()]);
  }
}

/** The name of a call on this machine, whatever else runs here. */
export function callName(teamId: string, { member, incarnation, id }: CallRef): string {
  return `${teamId}/${member}#${incarnation}/${id}`;
}

function isSameBatch(batch: ReadonlyMap<string, BegunCall>, call: CallRef, turn: number): boolean {
  const [first] = batch.values();
  return first?.turn === turn && first.call.incarnation === call.incarnation;
}
