import { needsKey } from '../model/port';
import { LEAD, type TeamMessage } from '../protocol';
import type { TeamEvent, TurnError } from '../team/events';
import { messageOf } from '../team/ledger';
import { isGone } from '../team/member';
import type { Team } from '../team/team';
import type { Hold } from './hold';
import type { TurnEnd } from './turn';

export type Ended =
  | TurnEnd
  | { type: 'failed'; error: TurnError }
  /** The human has to give something first; `again` where the turn before ended in the same way. */
  | { type: 'held'; error: Hold; again: boolean };

/** What follows a teammate's turn: its report to the lead, and the status it is left in. */
export async function afterTeammateTurn(
  team: Team,
  name: string,
  incarnation: number,
  end: Ended,
  runner: { readonly hasMail: boolean; progress(): string },
  emit: (event: TeamEvent) => void,
): Promise<void> {
  const member = team.state.member(name);
  if (!member || isGone(member) || member.incarnation !== incarnation || end.type === 'left') return;
  if (team.isFenced(name, incarnation)) return;
  if (end.type === 'failed') {
    // Only the human can give another key; the member then goes on where it was.
    if (needsKey(end.error.kind)) {
      team.setStatus(name, 'waiting');
      return;
    }
    const task = team.board.book.underWay(name);
    await team.end(name, incarnation, 'failed', end.error.text, [], runner.progress());
    const freed = task === undefined ? '' : ` ${task.id} is free again.`;
    await team.send(name, LEAD, `${name} could not go on: ${end.error.text}${freed}`, { type: 'error' });
    return;
  }
  if (end.type === 'held') {
    team.setStatus(name, 'waiting');
    // Where the whole team's budget is used up, the lead could do nothing with the news.
    if (end.again || team.budgets.exhausted({ name: LEAD, incarnation: 0 }) !== undefined) return;
    const text = `${name} waits for the human before it can go on: ${end.error.text}`;
    await team.send(name, LEAD, text, { type: 'error' });
    return;
  }
  const waits = team.decisions.gateOf(name) === 'pending';
  team.setStatus(name, waits ? 'waiting' : 'idle');
  if (waits && end.type !== 'limit') return;
  // At the limit the work is not finished: what comes next goes on with the same task and its plan.
  if (end.type === 'limit') {
    const text = `${name} stopped after ${end.calls} model calls in one turn (setting handshake.maxTurns). Its work is not finished; send it a message to go on.`;
    emit({ type: 'notice', level: 'warning', text, member: name });
    await team.send(name, LEAD, text, { type: 'error' });
    return;
  }
  if (!team.isAssigned(name)) return;
  team.endAssignment(name, runner.hasMail);
  if (end.type === 'done') {
    await team.report(name, reportText(team, name, end.text));
  } else {
    await team.send(name, LEAD, `${name} was interrupted by the human and is idle.`, {
      type: 'idle_notification',
    });
  }
}

/** What the lead is told at the end of an assignment. */
function reportText(team: Team, name: string, text: string): string {
  const task = team.board.book.underWay(name);
  const open =
    task === undefined ? '' : `\n\n(${task.id} is still under way with ${name}: it is not completed.)`;
  return `${text === '' ? '(ended without a report)' : text}${open}`;
}

/** Tells the human what the lead's turn left open. */
export class LeadAftercare {
  readonly #told = new Set<string>();

  constructor(
    private readonly team: Team,
    private readonly unshown: () => readonly TeamMessage[],
    private readonly emit: (event: TeamEvent) => void,
  ) {}

  after(end: Ended): void {
    if (end.type === 'limit') {
      const text = `The lead stopped after ${end.calls} model calls in one turn (setting handshake.maxTurns). Say "continue" to go on.`;
      this.emit({ type: 'notice', level: 'warning', text, member: LEAD });
      return;
    }
    if (end.type !== 'done') return;
    const unread = new Set(this.unshown().map((message) => message.request_id));
    for (const request of this.team.decisions.registry.pending()) {
      const { requestId, kind, from } = request;
      if (kind !== 'plan_approval' || unread.has(requestId) || this.#told.has(requestId)) continue;
      this.#told.add(requestId);
      const text = `The lead ended its turn without deciding the plan ${requestId} of ${from}. It waits in Requests for you or the lead.`;
      this.emit({ type: 'notice', level: 'info', text, member: LEAD });
    }
  }
}

/** Tries until it works or the member's owner is gone; each failure is told once. */
export async function untilDone(
  work: () => Promise<void>,
  tell: (text: string) => void,
  isOver: () => boolean,
): Promise<void> {
  for (let wait = 500; !isOver(); wait = Math.min(wait * 2, 10_000)) {
    try {
      await work();
      return;
    } catch (error) {
      tell(messageOf(error));
      await new Promise<void>((resolve) => setTimeout(resolve, wait).unref());
    }
  }
}
