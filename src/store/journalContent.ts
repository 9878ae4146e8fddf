import { join } from 'node:path';
import { type GapMark, type JournalEntry, type SegmentEnd, segmentName } from './journalFormat';
import { ItemBuilder, isBehind, type JournalItem, linesText, type Place } from './journalItems';
import type { BadLine, ReadSegment } from './journalReader';
import { isSnapshot, liveSegments } from './journalSegments';
import type { Damage } from './lines';
import { orderEntries } from './sequence';
import type { Anchor, ChainHead } from './vault';

export interface JournalContent {
  items: JournalItem[];
  /** Everything that was found wrong, in the order of the files. */
  damage: Damage[];
  /** What the next line follows; seq 0 before the first. Where the end is lost, that is the anchor. */
  head: ChainHead;
  /** Number of the last line that is there. */
  lastSeq: number;
  /** Its segment, and the last number that counts of those before; undefined where it is not the head. */
  lastPlace: { segment: number; after: number } | undefined;
  /** What the next segment has to say about the end of this content; it is the last of the items too. */
  mark: GapMark | null;
  /** Where the last segment in use ends. */
  end: SegmentEnd | null;
  /** Numbers of all segments in the folder, in use or not. */
  files: number[];
  /** The newest owner's epoch. */
  epoch: number;
  /** Segments in use, oldest first, and their size. */
  live: number[];
  liveBytes: number;
  /** Size of the snapshot that they begin with; 0 without one. */
  snapshotBytes: number;
  /** Segments from before the snapshot that is in use. */
  stale: number[];
  /** Segments with something in them that was set aside; a line that a crash cut off is nothing to look into. */
  damaged: ReadonlySet<number>;
  /** Whether no line says anything. */
  isEmpty: boolean;
  /** Whether there are lines with codes; those of version 1 have none. */
  isCoded: boolean;
  wasRolledBack: boolean;
}

interface Options {
  anchor: Anchor | null;
  isVerified: boolean;
}

/** Makes out of the segments of a folder what counts in them. */
export function contentOf(dir: string, all: readonly ReadSegment[], options: Options): JournalContent {
  const chosen = liveSegments(all);
  const { live } = chosen;
  const entries = live.flatMap((segment) => segment.entries);
  const bad = live.flatMap((segment) => segment.bad);
  // What an owner anchored when it had been followed already says nothing of what counts.
  const isLate = options.anchor?.segment !== undefined && chosen.late.has(options.anchor.segment);
  const anchor = isLate ? null : options.anchor;
  const ordered = orderEntries(entries, { anchor, isVerified: options.isVerified });
  const aside = ordered.aside.map(({ entry, reason }) => ({ ...placeOf(entry), reason }));
  const builder = new ItemBuilder(firstSeq(live[0]), [...bad, ...aside]);
  for (const entry of ordered.chain) builder.add(entry);

  const last = ordered.chain.at(-1);
  const end = endOf({ last, bad, anchor, isForked: ordered.isForked, expectedSeq: chosen.expectedSeq ?? 0 });
  if (end.mark !== null) builder.gap(end.mark);
  const misplaced = ordered.misplaced.map((entry) => ({
    ...placeOf(entry),
    reason: `the line stands in the wrong place; it was read as number ${entry.seq}`,
    counts: true,
  }));
  const findings = [...bad, ...aside, ...chosen.remarks, ...builder.missing, ...misplaced];
  const lastUsed = live.findLast((segment) => segment.bytes > 0);
  return {
    ...end,
    items: builder.items,
    damage: findings
      .sort((a, b) => a.segmentNumber - b.segmentNumber || a.line - b.line)
      .map(({ segmentNumber, line, reason, ...rest }) => ({
        file: join(dir, segmentName(segmentNumber)),
        line,
        reason,
        ...('counts' in rest ? { counts: true } : {}),
      })),
    end: lastUsed === undefined ? null : { segment: lastUsed.number, bytes: lastUsed.bytes },
    files: all.map((segment) => segment.number),
    epoch: Math.max(0, ...live.map((segment) => segment.header?.epoch ?? 0)),
    live: live.map((segment) => segment.number),
    liveBytes: live.reduce((sum, segment) => sum + segment.bytes, 0),
    snapshotBytes: isSnapshot(live[0]) ? (live[0]?.bytes ?? 0) : 0,
    stale: chosen.stale,
    damaged: new Set(
      [...bad.filter((line) => line.terminated), ...aside, ...chosen.remarks, ...misplaced].map(
        (one) => one.segmentNumber,
      ),
    ),
    isCoded: entries.some((entry) => entry.mac !== ''),
    isEmpty: entries.length === 0,
  };
}

function placeOf({ segmentNumber, line }: Place): Place {
  return { segmentNumber, line };
}

/** The number that the first segment in use begins with. */
function firstSeq(segment: ReadSegment | undefined): number {
  if (segment === undefined || !isSnapshot(segment)) return 1;
  const header = segment.entries.find((entry) => entry.header !== undefined);
  return header?.seq ?? (segment.entries[0]?.seq ?? 2) - 1;
}

interface Ending {
  last: JournalEntry | undefined;
  bad: readonly BadLine[];
  anchor: Anchor | null;
  isForked: boolean;
  /** The number that the snapshot at the end ends with, 0 for none. */
  expectedSeq: number;
}

/** Where the journal ends, and what is wrong there. */
function endOf({ last, bad, anchor, isForked, expectedSeq }: Ending) {
  const head = last === undefined ? { seq: 0, mac: '' } : { seq: last.seq + last.span - 1, mac: last.mac };
  const lost = bad.filter((line) => line.terminated && isBehind(line, last)).length;
  const missing = Math.max(0, (anchor?.seq ?? 0) - head.seq);
  const wasRolledBack = isForked || missing > lost;
  const place = last && { segment: last.segmentNumber, after: last.after };
  return {
    head: anchor !== null && missing > 0 ? { seq: anchor.seq, mac: anchor.mac } : head,
    lastSeq: head.seq,
    lastPlace: missing > 0 ? undefined : place,
    wasRolledBack,
    mark: wasRolledBack
      ? rollback(head.seq, missing, anchor?.seq ?? head.seq)
      : lost > 0 || expectedSeq > head.seq
        ? DAMAGED_END
        : null,
  };
}

const DAMAGED_END: GapMark = {
  cause: 'damage',
  text: 'The end of the journal is damaged; what stood there was left out.',
};

function rollback(lastSeq: number, missing: number, anchorSeq: number): GapMark {
  const lost = `${linesText(lastSeq + 1, lastSeq + missing)} of the journal`;
  const which =
    missing > 0
      ? `${lost}, which had been written, ${missing === 1 ? 'is' : 'are'} not there any more`
      : `line ${anchorSeq} of the journal is not the one that had been written`;
  return { cause: 'rollback', text: `The journal is older than it was: ${which}.` };
}
