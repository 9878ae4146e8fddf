import { HUMAN, shorten } from '../protocol';
import type { Task } from './task';

/**
 * What is said of tasks. The answers of the board's tools stand here, so that a call that was cut off after it
 * took effect is answered with the very words it would have had.
 */

export function createdText(id: string, subject: string): string {
  return `Created ${id}: ${subject}`;
}

export function editedText(id: string): string {
  return `Updated ${id}`;
}

/** What the lead is answered that has given a task to somebody. */
export function givenAwayText(task: Pick<Task, 'id'>, owner: string): string {
  return `${task.id} is ${owner}'s now.`;
}

export function claimedText(task: Pick<Task, 'id' | 'subject'>): string {
  return `Claimed ${task.id}: ${task.subject}`;
}

export function completedText(task: Pick<Task, 'id'>, ready: readonly Task[]): string {
  const next = ready.length === 0 ? '' : ` Ready now: ${ready.map(({ id }) => id).join(', ')}.`;
  return `Completed ${task.id}.${next}`;
}

/** A task that was given to a member, as the member is told of it. */
export function givenText(task: Task, by: string): string {
  const who = by === 'runtime' ? 'You have taken' : `${by} has given you`;
  return [`${who} task ${task.id} from the board.`, fullText(task), closingText(task.id)].join('\n\n');
}

/** A task that a member has claimed, with all it needs to know. */
export function claimedReply(task: Task): string {
  return [claimedText(task), ...detailLines(task), closingText(task.id)].join('\n\n');
}

/** What a member is told whose task is not its own any more. */
export function takenText(task: Task, by: string, why: string): string {
  return `${by} ${why} task ${task.id} (${task.subject}). It is not yours any more: stop working on it.`;
}

/** What the member is told whose work was reviewed and not accepted as it is. */
export function sentBackText(task: Task, by: string, comments: string, isYours: boolean): string {
  const who = by === HUMAN ? 'The human' : by;
  const next = isYours
    ? `It is yours again, in the same worktree. ${closingText(task.id)}`
    : `Claim it again (claim_task ${task.id}) when you have finished what you are at.`;
  return `${who} has reviewed ${task.id} (${task.subject}) and sends it back:\n\n${comments}\n\n${next}`;
}

/** What the lead is told of a task that came with the order to make its worktree. */
export function noPlaceText({ id, subject, keptFor }: Task, reason: string): string {
  const who = keptFor?.member;
  const waits =
    who === undefined
      ? 'Nobody can take it until create_worktree has made it.'
      : `${who}, who was to begin with it, has not begun: ${who} gets it once create_worktree has made the worktree, or begins without it when you send a message.`;
  return `Task ${id} (${subject}) has no worktree. ${reason}\n\n${waits}`;
}

/** One task with all that somebody needs to know who works on it. */
export function fullText(task: Task): string {
  return [`${task.id}: ${task.subject}`, ...detailLines(task)].join('\n\n');
}

/**
 * One task with everything, as `get_task` shows it.
 * @param line its line in the list of tasks
 */
export function taskPage(task: Task, line: string): string {
  const result = task.result === undefined || task.result === '' ? [] : [`Result: ${task.result}`];
  return [line, ...detailLines(task), ...result].join('\n\n');
}

function closingText(id: string): string {
  return `When it is done, call complete_task with task_id ${id} and the result.`;
}

function detailLines(task: Task): string[] {
  const lines: string[] = [];
  if (task.description !== '') lines.push(task.description);
  if (task.worktree !== undefined) {
    lines.push(
      `It is done in a git worktree of its own, ${task.worktree.path} (branch ${task.worktree.branch}). While you have it, all your tools work there, and paths are relative to it. Leave the work in its files, committed or not; the human merges it.`,
    );
  }
  if (task.notes.length > 0) {
    const notes = task.notes.slice(-10).map((note) => `- ${note.by}: ${shorten(note.text, 1000)}`);
    lines.push(['Notes:', ...notes].join('\n'));
  }
  return lines;
}
