import type { JournalEntry } from './journalFormat';
import type { ReadSegment } from './journalReader';

export interface LiveSegments {
  /** Those that count, oldest first, without what stands behind their valid end. */
  live: ReadSegment[];
  /** Numbers of those that the first live one, a snapshot, replaced. */
  stale: number[];
  /** Numbers of those that an owner began when a later one had begun already. */
  late: ReadonlySet<number>;
  /** What else there is to say about single segments. */
  remarks: { segmentNumber: number; line: number; reason: string }[];
  /** The number that the snapshot in use ends with, where nothing that follows it tells. */
  expectedSeq: number | undefined;
}

/**
 * Finds out which segments count: from the newest whole snapshot on, without those that were never used
 * (the header of the next passes over them) and those of an owner that another had followed already.
 * @param all oldest first
 */
export function liveSegments(all: readonly ReadSegment[]): LiveSegments {
  const remarks: LiveSegments['remarks'] = [];
  const limits = new Map<number, Limit>();
  const live: ReadSegment[] = [];
  let upper = Number.POSITIVE_INFINITY;
  let expectedSeq: number | undefined;
  let isStarted = false;
  const stale: number[] = [];
  const owned = withoutLate(all, remarks);
  for (const [at, segment] of [...owned.entries()].reverse()) {
    const { number, header } = segment;
    if (isStarted) {
      stale.push(number);
      continue;
    }
    if (number > upper) continue;
    const isNamed = limits.has(number);
    if (header !== undefined) {
      upper = header.previous?.segment ?? 0;
      const { previous } = header;
      if (previous !== null)
        limits.set(previous.segment, { bytes: previous.bytes, seq: headerEntry(segment)?.after ?? 0 });
    }
    // A snapshot that nobody went on from may be a half-written one; then all that it was made of is still there.
    if (isSnapshot(segment) && !isNamed && !isWhole(segment) && at > 0) continue;
    live.push(cutAt(segment, limits.get(number), remarks));
    if (!isSnapshot(segment)) continue;
    isStarted = true;
    expectedSeq = isNamed ? undefined : snapshotEnd(segment);
  }
  const late = new Set(all.filter((segment) => !owned.includes(segment)).map((segment) => segment.number));
  return { live: live.reverse(), stale, late, remarks, expectedSeq };
}

/** Where a segment ends: at a byte, and with a number. */
interface Limit {
  bytes: number;
  seq: number;
}

/** Leaves out what an owner wrote when a later one had begun already. */
function withoutLate(all: readonly ReadSegment[], remarks: LiveSegments['remarks']): ReadSegment[] {
  let epoch = 0;
  return all.filter(({ number, header }) => {
    if (header !== undefined && header.epoch < epoch) {
      const reason = 'the segment was written by a window that did not own the team any more';
      remarks.push({ segmentNumber: number, line: 1, reason });
      return false;
    }
    epoch = Math.max(epoch, header?.epoch ?? 0);
    return true;
  });
}

/** Whether the segment holds the whole state; its lines tell it too, where the header is damaged. */
export function isSnapshot(segment: ReadSegment | undefined): boolean {
  return segment?.header?.snapshot != null || (segment?.entries.some((entry) => entry.isState) ?? false);
}

function headerEntry(segment: ReadSegment): JournalEntry | undefined {
  return segment.entries.find((entry) => entry.header !== undefined);
}

/** The number of the last line of a snapshot's segment; undefined for any other segment. */
function snapshotEnd(segment: ReadSegment): number | undefined {
  const count = segment.header?.snapshot ?? null;
  const seq = headerEntry(segment)?.seq;
  return count === null || seq === undefined ? undefined : seq + count;
}

function isWhole(segment: ReadSegment): boolean {
  const [first, lastSeq] = [headerEntry(segment)?.seq, snapshotEnd(segment)];
  if (first === undefined || lastSeq === undefined) return false;
  const found = new Set(
    segment.entries.map((entry) => entry.seq).filter((seq) => seq >= first && seq <= lastSeq),
  );
  return found.size === lastSeq - first + 1;
}

function cutAt(
  segment: ReadSegment,
  limit: Limit | undefined,
  remarks: LiveSegments['remarks'],
): ReadSegment {
  if (limit === undefined) return segment;
  if (segment.bytes < limit.bytes) {
    const reason = `the file ends at byte ${segment.bytes}, before byte ${limit.bytes} that the next segment names`;
    remarks.push({ segmentNumber: segment.number, line: 1, reason });
  }
  return {
    ...segment,
    // By number too: a change before them may have moved lines that count behind the byte.
    entries: segment.entries.filter((entry) => entry.end <= limit.bytes || entry.seq <= limit.seq),
    bad: segment.bad.filter((line) => line.end <= limit.bytes),
    bytes: Math.min(segment.bytes, limit.bytes),
  };
}
