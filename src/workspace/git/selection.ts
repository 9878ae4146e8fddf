import type { FileChange, Hunk, TreeEntry } from './diff';
import { bytesOf } from './names';
import { git, gitLine } from './run';
import { type Index, onIndex, withScratchIndex, writeTree } from './snapshot';

/** What of a file's change is taken: all of it, or some of its hunks. */
export interface Taken {
  readonly change: FileChange;
  /** Undefined: the whole change. */
  readonly hunks?: readonly Hunk[];
}

/** An entry of an index: stage 0, or 1 to 3 of a conflict; without an entry the path is taken out. */
export interface IndexLine {
  readonly path: string;
  readonly entry?: TreeEntry;
  readonly stage?: number;
}

/**
 * The tree that a part of the changes makes of their base.
 * @throws {GitError} where they cannot stand without the others, such as a file in the place of a folder
 */
export function treeWith(root: string, base: string, taken: readonly Taken[]): Promise<string> {
  return withScratchIndex(root, async (index) => {
    await git(root, ['read-tree', base], onIndex(index));
    const gone: IndexLine[] = [];
    const come: IndexLine[] = [];
    for (const { change, hunks } of taken) {
      if (change.oldPath !== undefined) gone.push({ path: change.oldPath });
      if (change.after === undefined && hunks === undefined) gone.push({ path: change.path });
      else come.push({ path: change.path, entry: await entryOf(root, change, hunks) });
    }
    await writeIndex(index, [...gone, ...come]);
    return writeTree(index);
  });
}

/** Sets entries of an index, as they are. */
export async function writeIndex(index: Index, lines: readonly IndexLine[]): Promise<void> {
  const { root } = index;
  const isLong = (await gitLine(root, ['rev-parse', '--show-object-format'])) === 'sha256';
  const none = '0'.repeat(isLong ? 64 : 40);
  const input = bytesOf(
    lines
      .map(({ path, entry, stage }) =>
        entry === undefined
          ? `0 ${none}\t${path}\0`
          : `${entry.mode} ${entry.object} ${stage ?? 0}\t${path}\0`,
      )
      .join(''),
  );
  if (input.length > 0) await git(root, ['update-index', '-z', '--index-info'], { ...onIndex(index), input });
}

async function entryOf(
  root: string,
  change: FileChange,
  hunks: readonly Hunk[] | undefined,
): Promise<TreeEntry> {
  const { before, after, path } = change;
  if (hunks === undefined && after !== undefined) return after;
  const old = before === undefined ? '' : (await blob(root, before.object)).toString('latin1');
  const text = applyHunks(old, hunks ?? []);
  const input = Buffer.from(text, 'latin1');
  // Without filters: this is what git keeps, not what stands in a working file.
  const object = await gitLine(root, ['hash-object', '-w', '--no-filters', '--stdin'], { input });
  const mode = after?.mode ?? before?.mode;
  if (mode === undefined) throw new Error(`The change of ${path} has neither a before nor an after.`);
  return { mode, object };
}

/** The content of a file as git keeps it. */
export async function blob(root: string, object: string): Promise<Buffer> {
  return (await git(root, ['cat-file', 'blob', object])).stdout;
}

/** @param text a character a byte */
export function applyHunks(text: string, hunks: readonly Hunk[]): string {
  const lines = text === '' ? [] : text.split(/(?<=\n)/);
  const result: string[] = [];
  let at = 0;
  for (const hunk of [...hunks].sort((a, b) => a.oldStart - b.oldStart)) {
    // Of a stretch that only adds, the number is that of the line before it.
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    result.push(...lines.slice(at, start), ...newLines(hunk));
    at = start + hunk.oldLines;
  }
  return [...result, ...lines.slice(at)].join('');
}

function newLines({ raw }: Hunk): string[] {
  return raw.flatMap((line, index) => {
    if (!line.startsWith('+') && !line.startsWith(' ')) return [];
    const isUnended = raw[index + 1]?.startsWith('\\') === true;
    return [line.slice(1) + (isUnended ? '' : '\n')];
  });
}
