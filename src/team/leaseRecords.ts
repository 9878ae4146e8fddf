import * as z from 'zod';
import { at } from './recordParts';

/** Who changes which file, as it stands in the journal. */

const holder = {
  member: z.string(),
  /** 0 for the lead. */
  incarnation: z.number().int().nonnegative(),
  /** The board's task or the assignment; `lead` for a turn of the lead. */
  task: z.string(),
};

export const leaseShape = z.object({
  /** The file, whatever name it goes by. */
  key: z.string(),
  /** As it is named to people, from the folder that the member works in. */
  path: z.string(),
  ...holder,
  /** Since when; milliseconds since the epoch. */
  at,
});
export type Lease = Readonly<z.infer<typeof leaseShape>>;

/** A member was told that others change the file. */
export const overlapShape = z.object({
  key: z.string(),
  path: z.string(),
  ...holder,
  others: z.array(leaseShape),
  at,
});
export type Overlap = Readonly<z.infer<typeof overlapShape>>;

export const leaseRecords = [
  z.object({ t: z.literal('lease'), lease: leaseShape }),
  z.object({ t: z.literal('overlap'), overlap: overlapShape }),
  /** The lead's turn has ended. */
  z.object({ t: z.literal('leases_freed'), member: z.string(), at }),
  z.object({ t: z.literal('kept_lease'), lease: leaseShape, told: z.array(z.string()) }),
] as const;

const leaseRecord = z.discriminatedUnion('t', leaseRecords);
export type LeaseRecord = z.infer<typeof leaseRecord>;
