import * as z from 'zod';

/** What each script of the bench reports to the process that runs it. */

export const usageReport = z.object({
  /** User and system time together. */
  cpuMs: z.number(),
  wallMs: z.number(),
  /** By how much the event loop was late for a timer. */
  delayP50Ms: z.number(),
  delayP99Ms: z.number(),
  /** Largest resident set of the process so far. */
  peakRssMb: z.number(),
  /** JavaScript heap in use when the work ended, garbage included. */
  heapMb: z.number(),
});
export type UsageReport = z.infer<typeof usageReport>;

export const loadReport = usageReport.extend({
  /** Model calls that were answered. */
  calls: z.number(),
});
export type LoadReport = z.infer<typeof loadReport>;

export const activationReport = z.object({
  /** Reading and running the bundle. */
  requireMs: z.number(),
  /** `activate()` until its promise is fulfilled. */
  activateMs: z.number(),
  /** Of the files that were read when the bundle had run. */
  bytes: z.number(),
  /** User and system time of both: what a busy machine does not stretch as far as the clock. */
  cpuMs: z.number(),
});
export type ActivationReport = z.infer<typeof activationReport>;

export const mailboxReport = z.object({ perSecond: z.number() });
export type MailboxReport = z.infer<typeof mailboxReport>;

/** For each number of handshakes begun at once, how long each time all of them took; raw appends in turns with them. */
export const handshakeReport = z.object({
  runs: z.array(z.object({ atOnce: z.number(), ms: z.array(z.number()) })),
  rawAppendMs: z.array(z.number()),
});
export type HandshakeReport = z.infer<typeof handshakeReport>;

/** Appends: one alone, 100 together, one without a journal, in turns. Openings: in turns with parsing alone. */
export const journalReport = z.object({
  aloneMs: z.array(z.number()),
  togetherMs: z.array(z.number()),
  rawAppendMs: z.array(z.number()),
  openMs: z.array(z.number()),
  parseMs: z.array(z.number()),
});
export type JournalReport = z.infer<typeof journalReport>;

/** One opening of a team that was at work, and what it keeps in memory after it. */
export const resumeReport = z.object({ openMs: z.number(), heapBytes: z.number() });
export type ResumeReport = z.infer<typeof resumeReport>;

/** A big team at rest, and how soon what waited for a completed task is taken. */
export const boardReport = z.object({
  /** User and system time while nothing happened. */
  restCpuMs: z.number(),
  /** Heap a teammate, with its transcript in memory. */
  memberBytes: z.number(),
  transcriptBytes: z.number(),
  /** From the call of complete_task. */
  claimMs: z.array(z.number()),
  /** From the moment in which its record was on the disk. */
  syncedMs: z.array(z.number()),
  rawAppendMs: z.array(z.number()),
});
export type BoardReport = z.infer<typeof boardReport>;

/** Of the characters that calls send, what the call before had sent; and of what it had sent, what is repeated. */
export const prefixReport = z.object({ calls: z.number(), share: z.number(), ofRepeatable: z.number() });
export type PrefixReport = z.infer<typeof prefixReport>;

/** User and system time together. */
export const callReport = z.object({ cpuMsPerCall: z.number() });
export type CallReport = z.infer<typeof callReport>;

export const streamReport = usageReport.extend({
  /** Pieces of text that came. */
  pieces: z.number(),
});
export type StreamReport = z.infer<typeof streamReport>;
