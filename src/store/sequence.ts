import type { JournalEntry } from './journalFormat';
import type { Anchor } from './vault';

export interface OrderedEntries {
  /** What counts, by number, each number once. */
  chain: JournalEntry[];
  /** What does not count although it is authentic, and why. */
  aside: { entry: JournalEntry; reason: string }[];
  /** What counts but stood in the wrong place of its file. */
  misplaced: JournalEntry[];
  /** Whether the line at the anchor is another one than the anchor names. */
  isForked: boolean;
}

export interface OrderOptions {
  /** The newest line known to have been in the journal. */
  anchor: Anchor | null;
  /** False where codes could not be checked: then the chain proves nothing either. */
  isVerified: boolean;
}

/**
 * Puts authentic entries into the order of their numbers and takes out those that do not belong: repeated
 * lines, and lines of another branch (refused to their writer, or of a journal that was rolled back). Which
 * of two that exclude each other is right: the one in the later segment, which was begun knowing the
 * other's end; then the one that the line behind it names; then the later one.
 * @param entries in the order of the files
 */
export function orderEntries(entries: readonly JournalEntry[], options: OrderOptions): OrderedEntries {
  const { anchor, isVerified } = options;
  const aside: OrderedEntries['aside'] = [];
  if (isOneChain(entries, options)) return { chain: [...entries], aside, misplaced: [], isForked: false };
  const known = isVerified ? anchor : null;
  const current = entries.filter((entry) => !isBehindAnchor(entry, known));
  for (const entry of entries) {
    if (isBehindAnchor(entry, known)) aside.push({ entry, reason: notCounted(entry) });
  }
  const rest = withoutSuperseded(current, aside).sort((a, b) => a.seq - b.seq);
  const anchored = known === null ? rest : withoutFork(rest, known, aside);
  const chain = chosen(anchored, isVerified, aside);
  return {
    chain,
    aside,
    misplaced: misplacedOf(chain, entries),
    isForked: anchored.length < rest.length,
  };
}

/** The usual case, without a second look at anything. */
function isOneChain(entries: readonly JournalEntry[], { anchor, isVerified }: OrderOptions): boolean {
  let before: JournalEntry | undefined;
  for (const entry of entries) {
    if (before !== undefined && entry.seq !== before.seq + before.span) return false;
    if (before !== undefined && isVerified && entry.prev !== before.mac) return false;
    const isNewSegment = entry.segmentNumber !== before?.segmentNumber;
    if (before !== undefined && isNewSegment && entry.after < before.seq) return false;
    if (isVerified && isBehindAnchor(entry, anchor)) return false;
    if (isVerified && entry.seq === anchor?.seq && entry.mac !== anchor.mac) return false;
    before = entry;
  }
  return true;
}

/** Whether the anchor, in a later segment, knows that the line's number did not count in this one. */
function isBehindAnchor(entry: JournalEntry, anchor: Anchor | null): boolean {
  if (anchor?.segment === undefined || anchor.after === undefined) return false;
  return entry.segmentNumber < anchor.segment && entry.seq > anchor.after;
}

/** Each line of a later segment says up to which number the earlier ones count. */
function withoutSuperseded(entries: readonly JournalEntry[], aside: OrderedEntries['aside']): JournalEntry[] {
  const kept: JournalEntry[] = [];
  let floor = Number.POSITIVE_INFINITY;
  let lowest = Number.POSITIVE_INFINITY;
  let segment: number | undefined;
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    if (entry === undefined) continue;
    if (entry.segmentNumber !== segment) {
      floor = Math.min(floor, lowest);
      segment = entry.segmentNumber;
    }
    if (entry.seq >= floor) {
      aside.push({ entry, reason: notCounted(entry) });
      continue;
    }
    lowest = Math.min(lowest, entry.after + 1);
    kept.push(entry);
  }
  return kept.reverse();
}

function notCounted({ seq }: JournalEntry): string {
  return `sequence number ${seq} did not count when the next segment was begun`;
}

/** Takes out the line that stands at the anchor without being it, and all that follow it. */
function withoutFork(
  sorted: readonly JournalEntry[],
  anchor: Anchor,
  aside: OrderedEntries['aside'],
): JournalEntry[] {
  const off = new Set<string>();
  return sorted.filter((entry) => {
    const isOff =
      entry.seq === anchor.seq
        ? entry.mac !== anchor.mac
        : entry.seq === anchor.seq + 1
          ? entry.prev !== anchor.mac
          : off.has(entry.prev);
    if (!isOff) return true;
    off.add(entry.mac);
    aside.push({ entry, reason: `line ${anchor.seq} of the journal was another one when it was written` });
    return false;
  });
}

/** From the end backwards: each line names the one before it. */
function chosen(
  sorted: readonly JournalEntry[],
  isVerified: boolean,
  aside: OrderedEntries['aside'],
): JournalEntry[] {
  const chain: JournalEntry[] = [];
  let next: JournalEntry | undefined;
  let at = sorted.length;
  while (at > 0) {
    const seq = sorted[at - 1]?.seq;
    let from = at - 1;
    while (from > 0 && sorted[from - 1]?.seq === seq) from -= 1;
    const pick = pickOne(sorted.slice(from, at), next, sorted.slice(Math.max(0, from - 1), from), isVerified);
    for (const entry of sorted.slice(from, at)) {
      if (entry !== pick) aside.push({ entry, reason: whyNot(entry, pick) });
    }
    if (pick !== undefined) {
      chain.push(pick);
      next = pick;
    }
    at = from;
  }
  return chain.reverse();
}

function pickOne(
  candidates: readonly JournalEntry[],
  next: JournalEntry | undefined,
  before: readonly JournalEntry[],
  isVerified: boolean,
): JournalEntry | undefined {
  const [first] = candidates;
  if (first === undefined || !isVerified) return first;
  if (next !== undefined && first.seq + first.span === next.seq) {
    return candidates.find((entry) => entry.mac === next.prev);
  }
  // Nothing behind it: of several the one that fits to the line before; of one line twice the first.
  const fits = candidates.find((entry) => before.some((previous) => previous.mac === entry.prev));
  return fits ?? candidates.find((entry) => entry.mac === candidates.at(-1)?.mac);
}

function whyNot(entry: JournalEntry, pick: JournalEntry | undefined): string {
  if (pick === undefined) return `line ${entry.seq} of the journal was another one when the next was written`;
  const same = entry.mac === pick.mac && entry.mac !== '';
  return same
    ? `the line repeats line ${pick.line} (sequence number ${entry.seq})`
    : `sequence number ${entry.seq} was used before, in line ${pick.line}`;
}

function misplacedOf(chain: readonly JournalEntry[], entries: readonly JournalEntry[]): JournalEntry[] {
  const counts = new Set(chain);
  const inFiles = entries.filter((entry) => counts.has(entry));
  return inFiles.filter((entry, at) => entry !== chain[at]);
}
