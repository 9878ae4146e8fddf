import * as z from 'zod';

/** When within a step: before it, in its middle or after it. */
const moment = z.enum(['before', 'half', 'after']);
export type Moment = z.infer<typeof moment>;

/** What a child process is to do, as its argument. */
export const order = z.object({
  dir: z.string(),
  life: z.string(),
  scenario: z.enum(['team', 'worktrees']),
  /** Where it is to end: at this step of its writing, or of its git commands, counted from 0. */
  kill: z.object({ step: z.number(), moment }).optional(),
});
export type Order = z.infer<typeof order>;

/** What it tells when it comes to the end of the scenario. */
export const report = z.object({
  steps: z.number(),
  said: z.array(z.string()),
  problems: z.array(z.string()),
});
export type Report = z.infer<typeof report>;
