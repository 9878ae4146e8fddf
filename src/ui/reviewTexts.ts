import type { AcceptOutcome, CheckOutcome, WorktreeReport } from '../agent/reviewApi';
import { l10n } from './l10n';
import { plainLine } from './plainText';

/** What became of an acceptance, in a sentence or two. */
export function outcomeSentence(taskId: string, into: string, outcome: AcceptOutcome): string {
  const branch = into === '' ? l10n.t('your detached HEAD') : plainLine(into, 60);
  if (outcome.outcome === 'conflicts') {
    return outcome.conflicts.length === 1
      ? l10n.t(
          '{0} is in {1}, except for a conflict in {2}. Resolve it in the merge editor, then commit.',
          taskId,
          branch,
          plainLine(outcome.conflicts[0] ?? '', 80),
        )
      : l10n.t(
          '{0} is in {1}, except for conflicts in {2} files. Resolve them in the merge editor, then commit.',
          taskId,
          branch,
          outcome.conflicts.length,
        );
  }
  const done =
    outcome.mode === 'commit' && outcome.commit !== undefined
      ? l10n.t(
          '{0} is in {1}: {2}, commit {3}.',
          taskId,
          branch,
          filesText(outcome.files.length),
          outcome.commit.slice(0, 8),
        )
      : l10n.t('{0} is in {1}: {2}, not committed.', taskId, branch, filesText(outcome.files.length));
  const rest = outcome.remaining > 0 ? l10n.t('{0} left to review.', filesText(outcome.remaining)) : '';
  const check = outcome.check === undefined ? '' : checkSentence(outcome.check);
  return [done, check, rest].filter((part) => part !== '').join(' ');
}

export function checkSentence({ command, passed, exitCode, timedOut, cancelled }: CheckOutcome): string {
  const name = plainLine(command, 60);
  if (passed) return l10n.t('The check passed: {0}.', name);
  if (cancelled) return l10n.t('The check was cancelled: {0}.', name);
  if (timedOut) return l10n.t('The check took too long: {0}.', name);
  return exitCode === null
    ? l10n.t('The check failed: {0}.', name)
    : l10n.t('The check failed: {0} (exit code {1}).', name, exitCode);
}

/** What stands in the way of removing a worktree, and what would be lost: one line each. */
export function lossLines(report: WorktreeReport): string[] {
  const lines: string[] = [];
  if (report.boundTo !== undefined) lines.push(l10n.t('{0} works in it now.', report.boundTo));
  if (report.uncommitted.length > 0) {
    lines.push(l10n.t('Not committed: {0}', pathList(report.uncommitted)));
  }
  if (report.inSubmodules.length > 0) {
    lines.push(l10n.t('Not committed in a submodule: {0}', pathList(report.inSubmodules)));
  }
  if (report.unmerged.length > 0) lines.push(l10n.t('Not in your branch: {0}', pathList(report.unmerged)));
  const { commits, ignored } = report;
  if (commits.length === 1) lines.push(l10n.t('1 commit is on no other branch: {0}', pathList(commits)));
  if (commits.length > 1) {
    lines.push(l10n.t('{0} commits are on no other branch: {1}', commits.length, pathList(commits)));
  }
  if (ignored.length > 0) lines.push(l10n.t('Ignored by git, and nowhere else: {0}', pathList(ignored)));
  if (report.broken !== undefined) lines.push(plainLine(report.broken, 200));
  return lines;
}

/** What a review does not show. */
export function submodulesLine(paths: readonly string[]): string {
  return l10n.t('Changes inside of submodules are not part of it: {0}.', pathList(paths));
}

function pathList(paths: readonly string[]): string {
  const shown = paths
    .slice(0, 5)
    .map((path) => plainLine(path, 80))
    .join(', ');
  return paths.length <= 5 ? shown : l10n.t('{0} and {1} more', shown, paths.length - 5);
}

function filesText(count: number): string {
  return count === 1 ? l10n.t('1 file') : l10n.t('{0} files', count);
}
