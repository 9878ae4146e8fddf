import { messageOf } from '../team/ledger';
import type { Member } from '../team/member';
import type { Team } from '../team/team';
import { untilDone } from './afterTurn';
import { endsWithin } from './endsWithin';
import type { Runner } from './runner';

/** Nobody waits longer for a loop that does not end. */
const WAIT_MS = 1000;

/**
 * Ends an incarnation without its consent: from this tick on nothing of it counts.
 * @param tell of what did not work; what can be tried again is
 * @returns when the roster says so
 */
export async function forceStop(
  team: Team,
  { name, incarnation }: Member,
  runner: Runner | undefined,
  tell: (text: string) => void,
): Promise<void> {
  // Fenced before anything is written.
  team.fence(name, incarnation);
  // Nobody waits for a handler or a stream that does not end: it is fenced, and what it says later is void.
  if (runner && !(await endsWithin(runner.stop(), WAIT_MS))) {
    await runner
      .abandon('Cut off: the member was force stopped. It may have run.')
      .catch((error: unknown) => tell(messageOf(error)));
  }
  const end = () => {
    const [shown, progress] = [runner?.shownUnread() ?? [], runner?.progress() ?? ''];
    return team.end(name, incarnation, 'shutdown', 'force stopped by the human', shown, progress);
  };
  await untilDone(end, tell, () => false);
}
