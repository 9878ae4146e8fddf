import * as z from 'zod';
import { at } from './recordParts';

const tokens = z.number().int().nonnegative();

/**
 * Lines about tokens. They hold totals, not differences: one that could not be written costs nothing once the
 * next one is, and a snapshot repeats them as they are.
 */
export const usageRecords = [
  /** What one start of one member has used of one model so far. */
  z.object({
    t: z.literal('usage'),
    name: z.string(),
    incarnation: z.number().int().nonnegative(),
    model: z.string(),
    calls: z.number().int().nonnegative(),
    input: tokens,
    output: tokens,
    cache_read: tokens,
    cache_write: tokens,
    estimated: z.boolean().optional(),
    at,
  }),
  /** The human allowed more than the settings do: to one start of one member, or to the whole team. */
  z.object({
    t: z.literal('budget'),
    name: z.string().optional(),
    incarnation: z.number().int().nonnegative().optional(),
    /** Tokens in all; null is without an end. */
    limit: tokens.nullable(),
    at,
  }),
] as const;
