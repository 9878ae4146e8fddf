import * as vscode from 'vscode';
import type { Task } from '../team/task';
import { completedIds, phaseOf, priorityText, stateText } from './boardModel';
import { appendLine } from './tooltips';

const LISTED_MAX = 6;

/** Untrusted markdown: what models wrote goes in as escaped text. */
export function taskTooltip(task: Task, tasks: readonly Task[]): vscode.MarkdownString {
  const phase = phaseOf(task, completedIds(tasks));
  const tooltip = new vscode.MarkdownString();
  appendLine(tooltip, `${task.id} · ${task.subject}`);
  const facts = [stateText(task, phase)];
  if (task.owner !== undefined) facts.push(task.owner);
  if (task.priority !== 0) facts.push(priorityText(task.priority));
  appendLine(tooltip, facts.join(' · '));
  if (task.status === 'blocked' && task.blockedReason) appendLine(tooltip, task.blockedReason);
  if (task.description !== '') appendLine(tooltip, task.description);
  const before = tasks.filter(({ id }) => task.blockedBy.includes(id));
  const after = tasks.filter(({ blockedBy }) => blockedBy.includes(task.id));
  if (before.length > 0) appendLine(tooltip, vscode.l10n.t('After: {0}', named(before)));
  if (after.length > 0) appendLine(tooltip, vscode.l10n.t('Before: {0}', named(after)));
  if (task.worktree !== undefined) appendLine(tooltip, vscode.l10n.t('Branch: {0}', task.worktree.branch));
  if (task.result) appendLine(tooltip, vscode.l10n.t('Result: {0}', task.result));
  const note = task.notes.at(-1);
  if (note !== undefined) appendLine(tooltip, vscode.l10n.t('{0}: {1}', note.by, note.text));
  return tooltip;
}

function named(tasks: readonly Task[]): string {
  const names = tasks.slice(0, LISTED_MAX).map(({ id, subject }) => `${id} ${subject}`);
  if (tasks.length > LISTED_MAX) names.push(vscode.l10n.t('… and {0} more', tasks.length - LISTED_MAX));
  return names.join(', ');
}
