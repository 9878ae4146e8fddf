import { ModelError } from '../model/port';
import type { TurnError } from '../team/events';
import type { Spender } from '../team/spending';
import type { Team } from '../team/team';

/** What a member waits for that only the human can give: more tokens, access to a model, or a word after a restart. */
export type HoldKind = 'budget' | 'no_access' | 'restart';

export interface Hold extends TurnError {
  kind: HoldKind;
}

/** With work from before a restart: a message, or an answer, is word enough for one; Go On is for all. */
export const AFTER_RESTART: Hold = {
  kind: 'restart',
  text: 'It had work left when the window was closed, and waits for your word to go on.',
};

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
