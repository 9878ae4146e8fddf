import type { Review, ReviewFile, ReviewHunk, ReviewSelection, ReviewStatus } from '../agent/reviewApi';
import { l10n } from './l10n';
import { plainLine } from './plainText';

/** What of a review is checked to be accepted. Everything is, until the human takes something out. */
export class ReviewChecks {
  /** Ids of the hunks, and of files that can only be taken whole, that stay behind. */
  readonly #left = new Set<string>();

  /** How much of a file is checked. */
  stateOf(file: ReviewFile): 'all' | 'some' | 'none' {
    const parts = partsOf(file);
    const checked = parts.filter((id) => !this.#left.has(id)).length;
    if (checked === parts.length) return 'all';
    return checked === 0 ? 'none' : 'some';
  }

  isChecked(hunk: ReviewHunk): boolean {
    return !this.#left.has(hunk.id);
  }

  setFile(file: ReviewFile, checked: boolean): void {
    for (const id of partsOf(file)) this.#set(id, checked);
  }

  setHunk(hunk: ReviewHunk, checked: boolean): void {
    this.#set(hunk.id, checked);
  }

  /** Forgets what is not in the review any more; ids change with their content, so what is new is checked. */
  keepOnly(review: Review): void {
    const present = new Set(review.files.flatMap(partsOf));
    for (const id of this.#left) if (!present.has(id)) this.#left.delete(id);
  }

  /** What is checked, as the team takes it; undefined where nothing is. */
  selection(review: Review): ReviewSelection | undefined {
    const states = review.files.map((file) => ({ file, state: this.stateOf(file) }));
    if (states.every(({ state }) => state === 'none')) return undefined;
    if (states.every(({ state }) => state === 'all')) return { everything: review.revision };
    return {
      files: states.filter(({ state }) => state === 'all').map(({ file }) => file.id),
      hunks: states
        .filter(({ state }) => state === 'some')
        .flatMap(({ file }) => file.hunks.filter((hunk) => this.isChecked(hunk)).map(({ id }) => id)),
    };
  }

  #set(id: string, checked: boolean): void {
    if (checked) this.#left.delete(id);
    else this.#left.add(id);
  }
}

/** What of a file can be taken by itself. */
function partsOf(file: ReviewFile): string[] {
  return file.hunks.length === 0 ? [file.id] : file.hunks.map(({ id }) => id);
}

export interface ReviewFileRow {
  /** The folder it is in. */
  description: string;
  spoken: string;
  /** One hunk is the file itself: nothing is to be chosen below it. */
  hasHunks: boolean;
}

export function fileRow(file: ReviewFile, checks: ReviewChecks): ReviewFileRow {
  const folder = file.path.includes('/') ? file.path.slice(0, file.path.lastIndexOf('/')) : '';
  const state = checks.stateOf(file);
  const chosen = file.hunks.filter((hunk) => checks.isChecked(hunk)).length;
  const facts = [
    folder,
    file.oldPath === undefined ? '' : l10n.t('from {0}', plainLine(file.oldPath, 80)),
    kindOf(file) ?? `+${file.added} −${file.deleted}`,
    state === 'some' ? l10n.t('{0} of {1} parts', chosen, file.hunks.length) : '',
  ];
  const kind = kindOf(file);
  const [path, what, checked] = [plainLine(file.path, 200), statusText(file.status), checkedText(state)];
  const { added, deleted } = file;
  return {
    description: facts.filter((fact) => fact !== '').join(' · '),
    spoken:
      kind === undefined
        ? l10n.t('{0}, {1}, {2} lines added, {3} removed, {4}', path, what, added, deleted, checked)
        : l10n.t('{0}, {1}, {2}, {3}', path, what, kind, checked),
    hasHunks: file.hunks.length > 1,
  };
}

/** Why its lines are not counted. */
function kindOf({ binary, large }: ReviewFile): string | undefined {
  if (large) return l10n.t('too large to compare');
  return binary ? l10n.t('binary') : undefined;
}

export interface ReviewHunkRow {
  label: string;
  description: string;
  spoken: string;
}

export function hunkRow(hunk: ReviewHunk, checks: ReviewChecks): ReviewHunkRow {
  const first = hunk.lines.find((line) => line.startsWith('+') && line.trim() !== '+') ?? changedLine(hunk);
  const added = hunk.lines.filter((line) => line.startsWith('+')).length;
  const deleted = hunk.lines.filter((line) => line.startsWith('-')).length;
  const at = firstChangedLine(hunk);
  return {
    label: l10n.t('Line {0}', at),
    description: `+${added} −${deleted} · ${plainLine(first.slice(1), 80)}`,
    spoken: l10n.t(
      'Line {0}, {1} lines added, {2} removed, {3}',
      at,
      added,
      deleted,
      checkedText(checks.isChecked(hunk) ? 'all' : 'none'),
    ),
  };
}

const changedLine = (hunk: ReviewHunk): string => hunk.lines.find((line) => /^[+-]/.test(line)) ?? ' ';

/** Where in the new text the change begins, from 1. */
export function firstChangedLine(hunk: ReviewHunk): number {
  const context = hunk.lines.findIndex((line) => /^[+-]/.test(line));
  return Math.max(1, hunk.newStart + Math.max(0, context));
}

/** The hunk that a line stands in, from 1, of the new text or of the one before. */
export function hunkAt(
  file: ReviewFile,
  line: number,
  side: 'base' | 'work' = 'work',
): ReviewHunk | undefined {
  return file.hunks.find(({ oldStart, oldLines, newStart, newLines }) => {
    const [start, lines] = side === 'work' ? [newStart, newLines] : [oldStart, oldLines];
    return line >= start && line < start + Math.max(1, lines);
  });
}

/** Where somebody who was at a line of the new text goes on: there, where it is in a change, else at the next one. */
export function lineToGoOnAt(file: ReviewFile, line: number): number | undefined {
  if (hunkAt(file, line)) return line;
  const next = file.hunks.find(({ newStart }) => newStart >= line) ?? file.hunks[0];
  return next && firstChangedLine(next);
}

export function statusText(status: ReviewStatus): string {
  switch (status) {
    case 'added':
      return l10n.t('added');
    case 'modified':
      return l10n.t('modified');
    case 'deleted':
      return l10n.t('deleted');
    case 'renamed':
      return l10n.t('renamed');
    case 'type_changed':
      return l10n.t('another kind of file');
    case 'submodule':
      return l10n.t('submodule');
  }
}

/** Whether a tab with several diffs, opened under this title, is called so: VS Code adds how many files there are. */
export function isLabelOf(label: string, title: string): boolean {
  return label === title || (label.startsWith(title) && /^\s*\D?\d+\D*$/.test(label.slice(title.length)));
}

function checkedText(state: 'all' | 'some' | 'none'): string {
  if (state === 'all') return l10n.t('to be accepted');
  return state === 'none' ? l10n.t('stays behind') : l10n.t('to be accepted in part');
}

/** One place of the change, and what the human says about it. */
export interface ReviewComment {
  path: string;
  /** From 1. */
  line: number;
  /** The line it stands at, as it reads now. */
  quoted: string;
  /** The side of the diff it was written on. */
  side: 'base' | 'work';
  text: string;
}

/** All comments as the one message that the teammate reads. The models read English. */
export function commentsMessage(overall: string, comments: readonly ReviewComment[]): string {
  const ordered = [...comments].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  const parts = ordered.map(({ path, line, quoted, side, text }) => {
    const where = side === 'work' ? `${path}:${line}` : `${path}:${line} (before the change)`;
    return `${where}\n> ${quoted.slice(0, 300)}\n${text.trim()}`;
  });
  return [overall.trim(), ...parts].filter((part) => part !== '').join('\n\n');
}
