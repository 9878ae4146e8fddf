/**
 * The journal on disk. A folder holds segments `000001.jsonl`, `000002.jsonl`, …, each a header line and
 * then one line for every append:
 *
 *     {"journal":2,"seq":12,"segment":2,"after":11,"prev":"…","epoch":3,"snapshot":null,
 *      "previous":{"segment":1,"bytes":4711},"gap":null,"mac":"…"}                (one line)
 *     {"seq":13,"segment":2,"after":11,"prev":"…","record":{…},"mac":"…"}        one record
 *     {"seq":14,"segment":2,"after":11,"prev":"…","batch":[{…},{…}],"mac":"…"}   together or not at all
 *     {"seq":15,"segment":2,"after":11,"prev":"…","state":{…},"mac":"…"}         one record of a snapshot
 *
 * Every line, headers too, has the next `seq`, the `mac` of the line before as `prev`, and as its own `mac`
 * the code (see `journalKey.ts`) of its bytes before `,"mac":`. So each line is verified alone, and each
 * vouches for the one before. `segment` keeps a line in its file; `after` is the last number that counts of
 * the segments before it, so that every line tells it and not the header alone. A line counts when its
 * newline is there.
 *
 * `previous` says how far the segment before is valid: what stands behind that offset was refused to its
 * caller and is never replayed. Segments between the two were never used. `epoch` counts the owners; a
 * segment of an earlier owner behind one of a later owner was written too late and does not count.
 * `snapshot` is the number of lines behind the header that hold the whole state: reading starts there, if
 * they are all there or the header of the next segment names their end.
 * `gap` keeps what was found wrong before this segment was begun.
 *
 * Version 1 had no codes: `{"journal":1,"segment":1,"previous":null}`, then `{"seq":1,…record}` or
 * `{"seq":2,"batch":[…]}`, in which a batch took as many numbers as it has records.
 */
import * as z from 'zod';
import { type JournalKey, MAC_LENGTH } from './journalKey';
import { isJsonObject, type JsonObject } from './lines';

/** Why a part of a journal is not there, or cannot be relied on. */
export type GapCause = 'damage' | 'rollback' | 'lost_key' | 'foreign_key';

export interface GapMark {
  cause: GapCause;
  /** A sentence for the user. */
  text: string;
}

/** Where the valid part of a segment ends. */
export interface SegmentEnd {
  segment: number;
  /** Byte offset. */
  bytes: number;
}

const end = z.object({ segment: z.int().positive(), bytes: z.int().nonnegative() }).nullable();
const headerV1 = z.object({ journal: z.literal(1), segment: z.int().positive(), previous: end });
const headerV2 = z.object({
  journal: z.literal(2),
  segment: z.int().positive(),
  epoch: z.int().nonnegative(),
  snapshot: z.int().nonnegative().nullable(),
  previous: end,
  gap: z
    .object({ cause: z.enum(['damage', 'rollback', 'lost_key', 'foreign_key']), text: z.string() })
    .nullable(),
});

export interface SegmentHeader {
  segment: number;
  epoch: number;
  /** How many lines behind the header hold the whole state; null for a segment that goes on from the last. */
  snapshot: number | null;
  previous: SegmentEnd | null;
  gap: GapMark | null;
}

export const FORMAT_VERSION = 2;
const SEGMENT_NAME = /^(\d{6,})\.jsonl$/;
const MAC_BEGIN = ',"mac":"';
const MAC_END = '"}';
const TAIL_LENGTH = MAC_BEGIN.length + MAC_LENGTH + MAC_END.length;

export function segmentName(segment: number): string {
  return `${String(segment).padStart(6, '0')}.jsonl`;
}

/** The number in a segment's file name, or undefined for any other name. */
export function segmentNumber(name: string): number | undefined {
  const digits = SEGMENT_NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Where a new line stands. */
export interface LinePlace {
  seq: number;
  segment: number;
  /** The last number that counts of the segments before this one. */
  after: number;
  /** The code of the line before, '' for the first of a journal. */
  prev: string;
}

export interface SealedLine {
  /** With its newline. */
  text: string;
  mac: string;
}

export function sealHeader(place: LinePlace, header: SegmentHeader, key: JournalKey): SealedLine {
  const { seq, segment, after, prev } = place;
  const { epoch, snapshot, previous, gap } = header;
  const object = { journal: FORMAT_VERSION, seq, segment, after, prev, epoch, snapshot, previous, gap };
  return seal(JSON.stringify(object), key);
}

/** What a line holds: the texts of the records of one append, at least one; or one record of a snapshot. */
export type LineContent = readonly string[] | { state: string };

export function sealLine(place: LinePlace, line: LineContent, key: JournalKey): SealedLine {
  const { seq, segment, after, prev } = place;
  const content = contentText(line);
  return seal(`{"seq":${seq},"segment":${segment},"after":${after},"prev":"${prev}",${content}}`, key);
}

function contentText(line: LineContent): string {
  if ('state' in line) return `"state":${line.state}`;
  return line.length === 1 ? `"record":${line[0]}` : `"batch":[${line.join(',')}]`;
}

function seal(object: string, key: JournalKey): SealedLine {
  const body = object.slice(0, -1);
  const mac = key.code(Buffer.from(body, 'utf8'));
  return { text: `${body}${MAC_BEGIN}${mac}${MAC_END}\n`, mac };
}

/** Whether the line ends with the code that the key gives for the rest of it. */
export function isAuthentic(line: Buffer, key: JournalKey): boolean {
  const at = line.length - TAIL_LENGTH;
  if (at < 1) return false;
  const tail = line.toString('latin1', at);
  if (!tail.startsWith(MAC_BEGIN) || !tail.endsWith(MAC_END)) return false;
  return tail.slice(MAC_BEGIN.length, -MAC_END.length) === key.code(line.subarray(0, at));
}

/** Where a line stands. */
export interface LinePosition {
  /** Number of the segment's file. */
  segmentNumber: number;
  /** Line in it, from 1. */
  line: number;
  /** Byte offset behind the line. */
  end: number;
}

/** What one line says, and where it stands. */
export interface JournalEntry extends LinePosition {
  seq: number;
  /** How many numbers the line takes: 1 since version 2. */
  span: number;
  /** The last number that counts of the segments before. */
  after: number;
  prev: string;
  mac: string;
  header: SegmentHeader | undefined;
  /** Whether it is a line of a snapshot. */
  isState: boolean;
  records: readonly JsonObject[];
}

/** What stands in a line behind its numbers. */
interface LineBody {
  header?: SegmentHeader;
  isState?: boolean;
  records?: readonly JsonObject[];
}

/** All entries have one shape: there may be a hundred thousand of them. */
function entryAt(
  { segmentNumber, line, end }: LinePosition,
  { seq, span, after, prev, mac }: Pick<JournalEntry, 'seq' | 'span' | 'after' | 'prev' | 'mac'>,
  { header, isState = false, records = [] }: LineBody,
): JournalEntry {
  return { segmentNumber, line, end, seq, span, after, prev, mac, header, isState, records };
}

/**
 * What a line says.
 * @returns the entry, or the reason why there is none
 */
export function parseEntry(value: JsonObject, at: LinePosition): JournalEntry | string {
  if (value.journal !== undefined) return parseHeader(value, at);
  const { seq, segment, after, prev, mac, record, state } = value;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1) {
    return 'the line has no sequence number';
  }
  if (segment === undefined && prev === undefined) return parseVersion1(value, seq, at);
  if (typeof after !== 'number' || typeof prev !== 'string' || typeof mac !== 'string') {
    return 'the line is not chained to another';
  }
  if (segment !== at.segmentNumber) return `the line belongs to segment ${String(segment)}`;
  const chained = { seq, span: 1, after, prev, mac };
  if (isJsonObject(record)) return entryAt(at, chained, { records: [record] });
  if (isJsonObject(state)) return entryAt(at, chained, { isState: true, records: [state] });
  const records = batchOf(value.batch);
  return typeof records === 'string' ? records : entryAt(at, chained, { records });
}

function parseHeader(value: JsonObject, at: LinePosition): JournalEntry | string {
  const { seq, after, prev, mac } = value;
  const old = headerV1.safeParse(value).data;
  if (old?.segment === at.segmentNumber) {
    const header = { ...old, epoch: 0, snapshot: null, gap: null };
    return entryAt(at, { seq: 0, span: 0, after: 0, prev: '', mac: '' }, { header });
  }
  const header = headerV2.safeParse(value).data;
  const isNumbered = typeof seq === 'number' && typeof after === 'number';
  const isChained = typeof prev === 'string' && typeof mac === 'string';
  if (header === undefined || !isNumbered || !isChained) return 'the line is no header of a segment';
  if (header.segment !== at.segmentNumber) return `the line belongs to segment ${header.segment}`;
  return entryAt(at, { seq, span: 1, after, prev, mac }, { header });
}

function parseVersion1(value: JsonObject, seq: number, at: LinePosition): JournalEntry | string {
  const { seq: _seq, batch, mac: _mac, ...record } = value;
  const records = batch === undefined ? [record] : batchOf(batch);
  if (typeof records === 'string') return records;
  return entryAt(at, { seq, span: records.length, after: seq - 1, prev: '', mac: '' }, { records });
}

function batchOf(batch: unknown): JsonObject[] | string {
  if (!Array.isArray(batch) || batch.length === 0) return 'the line holds no record';
  const members: readonly unknown[] = batch;
  const records = members.filter(isJsonObject);
  if (records.length === members.length) return records;
  return 'the line holds a batch with something that is no record';
}
