import { ModelError } from '../model/port';
import type { TurnError } from '../team/events';
import type { Spender } from '../team/spending';
import type { Team } from '../team/team';

/** What a member waits for that only the human can give: more tokens, or access to a model. */
export type HoldKind = 'budget' | 'no_access';

export interface Hold extends TurnError {
  kind: HoldKind;
}

/** Thrown in place of a model call that must not be made now; the conversation is valid and goes on later. */
export class Held extends Error {
  override readonly name = 'Held';
  constructor(readonly hold: Hold) {
    super(hold.text);
  }
}

/** @throws {Held} when the tokens allowed are used up */
export function refuseBeyondBudget(team: Team, spender: Spender): void {
  const text = team.budgets.exhausted(spender);
  if (text !== undefined) throw new Held({ kind: 'budget', text });
}

/** Why a turn that threw is to be taken up again later, and is no failure. */
export function holdOf(error: unknown): Hold | undefined {
  if (error instanceof Held) return error.hold;
  if (error instanceof ModelError && error.kind === 'no_access') {
    return { kind: 'no_access', text: error.message };
  }
  return undefined;
}
