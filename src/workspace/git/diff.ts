import { createHash } from 'node:crypto';
import { Patches } from './patches';
import { git, gitNames, gitText } from './run';

export type ChangeStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'type_changed' | 'submodule';

/** One stretch of changed lines, as a unified diff has it; numbers count from 1. */
export interface Hunk {
  /** Changes with what it holds. */
  readonly id: string;
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each begins with ` `, `+`, `-` or `\`. */
  readonly lines: readonly string[];
  /** The same lines byte for byte, a character a byte. */
  readonly raw: readonly string[];
}

/** An entry of a tree: a mode such as `100644`, and the id of its object. */
export interface TreeEntry {
  readonly mode: string;
  readonly object: string;
}

export interface FileChange {
  /** Changes with what it holds. */
  readonly id: string;
  /** From the checkout's root, with `/`; not always text, see `names.ts`. */
  readonly path: string;
  readonly oldPath?: string;
  readonly status: ChangeStatus;
  readonly binary: boolean;
  /** Too large to be looked at line by line. */
  readonly large?: true;
  readonly before?: TreeEntry;
  readonly after?: TreeEntry;
  /** None where it can only be taken whole. */
  readonly hunks: readonly Hunk[];
  /** Lines; 0 for a binary or large file. */
  readonly added: number;
  readonly deleted: number;
}

const SUBMODULE = '160000';
/** Above this git compares no lines: for a file of hundreds of megabytes it would need many times as much memory. */
const MAX_COMPARED_MB = 32;
const LIMIT = ['-c', `core.bigFileThreshold=${MAX_COMPARED_MB}m`];
const ABSENT = /^0+$/;
const COMMON = [
  '-r',
  '--find-renames',
  '--full-index',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '-O/dev/null',
];

/** The changes that lead from one tree to another, by path. */
export async function diffTrees(root: string, from: string, to: string): Promise<FileChange[]> {
  const entries = await rawChanges(root, from, to);
  if (entries.length === 0) return [];
  const args = [...LIMIT, 'diff-tree', '--patch', '-U3', '--inter-hunk-context=0', ...COMMON, from, to];
  const kept = new Patches();
  await git(root, args, { onOutput: (chunk) => kept.add(chunk) });
  const patches = kept.all();
  let next = 0;
  const changes = entries.map((entry) => {
    // A file that became a link, or the other way, is shown as one that goes and one that comes.
    const own = patches.slice(next, next + (entry.status === 'type_changed' ? 2 : 1));
    next += own.length;
    return changeOf(entry, own.length === 1 ? own[0] : '');
  });
  const large = await largeAmong(root, changes);
  return changes.map((change) => (large.has(change) ? { ...change, large: true } : change));
}

/** Those that git calls binary for their size alone. */
async function largeAmong(root: string, changes: readonly FileChange[]): Promise<Set<FileChange>> {
  const sides = changes
    .filter(({ binary }) => binary)
    .flatMap((change) =>
      [change.before, change.after].flatMap((entry) => (entry ? [{ change, id: entry.object }] : [])),
    );
  if (sides.length === 0) return new Set();
  const input = sides.map(({ id }) => `${id}\n`).join('');
  const sizes = (await gitText(root, ['cat-file', '--batch-check=%(objectsize)'], { input })).split('\n');
  const isLarge = (size: string | undefined) => Number(size) > MAX_COMPARED_MB * 1024 * 1024;
  return new Set(sides.filter((_, at) => isLarge(sizes[at])).map(({ change }) => change));
}

/** What stands at the paths that differ between two trees; a renamed file counts as two. */
export async function changedEntries(root: string, from: string, to: string): Promise<Map<string, Entries>> {
  const fields = await gitNames(root, ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to]);
  const changes = new Map<string, Entries>();
  for (let i = 0; i + 1 < fields.length; i += 2)
    changes.set(fields[i + 1] ?? '', entriesOf(fields[i] ?? '').entries);
  return changes;
}

type Entries = Pick<FileChange, 'before' | 'after'>;
type RawChange = Omit<FileChange, 'id' | 'binary' | 'hunks' | 'added' | 'deleted'>;

async function rawChanges(root: string, from: string, to: string): Promise<RawChange[]> {
  const fields = await gitNames(root, [...LIMIT, 'diff-tree', '--raw', '-z', ...COMMON, from, to]);
  const changes: RawChange[] = [];
  for (let i = 0; i < fields.length; ) {
    const { letter, entries } = entriesOf(fields[i++] ?? '');
    const first = fields[i++] ?? '';
    const renamed = letter.startsWith('R');
    const path = renamed ? (fields[i++] ?? '') : first;
    changes.push({
      path,
      status: statusOf(letter, entries),
      ...(renamed ? { oldPath: first } : {}),
      ...entries,
    });
  }
  return changes;
}

/** Of a line such as `:100644 100644 <old> <new> M`. */
function entriesOf(line: string): { letter: string; entries: Entries } {
  const [oldMode = '', newMode = '', oldId = '', newId = '', letter = ''] = line.slice(1).split(' ');
  return {
    letter,
    entries: {
      ...(ABSENT.test(oldId) ? {} : { before: { mode: oldMode, object: oldId } }),
      ...(ABSENT.test(newId) ? {} : { after: { mode: newMode, object: newId } }),
    },
  };
}

function statusOf(letter: string, { before, after }: Entries): ChangeStatus {
  if (letter.startsWith('T')) return 'type_changed';
  if (before?.mode === SUBMODULE || after?.mode === SUBMODULE) return 'submodule';
  if (letter.startsWith('R')) return 'renamed';
  if (letter.startsWith('A')) return 'added';
  return letter.startsWith('D') ? 'deleted' : 'modified';
}

/** @param patch undefined where it is too large to be kept */
function changeOf(entry: RawChange, patch: string | undefined): FileChange {
  const key = JSON.stringify([entry.path, entry.oldPath, entry.before, entry.after]);
  const whole = patch === undefined || entry.status === 'submodule' || entry.status === 'type_changed';
  const binary = !whole && /\nBinary files .* differ\n/.test(patch) && !patch.includes('\n@@ -');
  // What else changes in the file does not make it another stretch.
  const hunks =
    binary || whole ? [] : hunksOf(patch, JSON.stringify([entry.path, entry.oldPath, entry.before]));
  const lines = hunks.flatMap((hunk) => hunk.raw);
  return {
    ...entry,
    id: hash(key),
    binary,
    ...(patch === undefined ? { large: true } : {}),
    hunks,
    added: lines.filter((line) => line.startsWith('+')).length,
    deleted: lines.filter((line) => line.startsWith('-')).length,
  };
}

function hunksOf(patch: string, key: string): Hunk[] {
  return patch
    .split(/(?<=\n)(?=@@ -)/)
    .filter((part) => part.startsWith('@@ -'))
    .map((part) => {
      const [header = '', ...raw] = part.replace(/\n$/, '').split('\n');
      const numbers = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(header);
      const [, oldStart = '0', oldLines = '1', newStart = '0', newLines = '1'] = numbers ?? [];
      return {
        id: hash(`${key} ${oldStart} ${raw.join('\n')}`),
        oldStart: Number(oldStart),
        oldLines: Number(oldLines),
        newStart: Number(newStart),
        newLines: Number(newLines),
        lines: raw.map((line) => Buffer.from(line, 'latin1').toString('utf8')),
        raw,
      };
    });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
