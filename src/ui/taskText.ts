import type { Task } from '../team/task';
import { completedIds, phaseOf, stateText } from './boardModel';
import { l10n } from './l10n';
import { plainLine } from './plainText';

/** A task with all that is known of it, as a markdown document. */
export function taskMarkdown(task: Task, tasks: readonly Task[]): string {
  const done = completedIds(tasks);
  const title = (id: string): string => {
    const other = tasks.find((each) => each.id === id);
    if (other === undefined) return id;
    return `${id} ${plainLine(other.subject, 120)}${done.has(id) ? ` (${l10n.t('done')})` : ''}`;
  };
  const facts = [
    l10n.t('State: {0}', stateText(task, phaseOf(task, done))),
    ...(task.blockedReason === undefined ? [] : [l10n.t('Reason: {0}', task.blockedReason)]),
    ...(task.owner === undefined ? [] : [l10n.t('Owner: {0}', task.owner)]),
    l10n.t('Priority: {0}', task.priority),
    ...task.blockedBy.map((id) => l10n.t('After: {0}', title(id))),
    ...tasks
      .filter(({ blockedBy }) => blockedBy.includes(task.id))
      .map(({ id }) => l10n.t('Before: {0}', title(id))),
    ...(task.worktree === undefined ? [] : [l10n.t('Branch: {0}', task.worktree.branch)]),
    l10n.t('Created by {0}, {1}', task.createdBy, new Date(task.createdAt).toISOString()),
  ];
  const parts = [
    `# ${task.id} · ${plainLine(task.subject, 200)}`,
    facts.map((fact) => `- ${fact}`).join('\n'),
  ];
  if (task.description !== '') parts.push(task.description);
  if (task.result) parts.push(`## ${l10n.t('Result')}\n\n${task.result}`);
  if (task.notes.length > 0) {
    const notes = task.notes.map(({ at, by, text }) => `- ${new Date(at).toISOString()} · ${by}: ${text}`);
    parts.push(`## ${l10n.t('Notes')}\n\n${notes.join('\n')}`);
  }
  return `${parts.join('\n\n')}\n`;
}
