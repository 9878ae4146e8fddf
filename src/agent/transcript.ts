import * as z from 'zod';
import type { ConversationTurn } from '../model/port';
import { teamMessage } from '../protocol';
import type { Shortening } from './shortenTurns';

const text = z.object({ type: z.literal('text'), text: z.string() });
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
  inputError: z.string().optional(),
});
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.string(),
  images: z
    .array(
      z.object({
        mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
        data: z.string(),
      }),
    )
    .optional(),
  is_error: z.boolean().optional(),
});
const opaque = z.object({ type: z.literal('opaque'), raw: z.record(z.string(), z.unknown()) });

const turn = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.array(z.discriminatedUnion('type', [text, toolResult])) }),
  z.object({
    role: z.literal('assistant'),
    content: z.array(z.discriminatedUnion('type', [text, toolUse, opaque])),
  }),
]);

/** One line of a member's transcript. */
export const transcriptRecord = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  turn,
  /** The messages this turn shows to the member; a message counts as delivered once such a line is durable. */
  mail: z.array(teamMessage).optional(),
  /** Set where the runtime asks once more for what an answer in prose left open, and with which tool. */
  nudge: z.object({ key: z.string(), forceTool: z.string().optional() }).optional(),
  /** The key of the nudge that this turn answers. */
  nudged: z.string().optional(),
  /** Set where this line takes something out of the conversation before it; the lines themselves stay. */
  shortens: z
    .object({ what: z.enum(['outputs', 'images', 'history']), turns: z.number().int().positive() })
    .optional(),
  /** True where the scripted demo spoke. */
  demo: z.boolean().optional(),
  /** True where the model only paused: the next turn of the model goes on with this one. */
  paused: z.boolean().optional(),
});

/** What a member was asked for once more. */
export interface OpenNudge {
  /** Of a request, or another name of what is open. */
  key: string;
  forceTool?: string;
}

export interface TranscriptRecord {
  at: number;
  turn: ConversationTurn;
  mail?: z.infer<typeof teamMessage>[];
  nudge?: OpenNudge;
  nudged?: string;
  shortens?: Shortening;
  demo?: boolean;
  paused?: boolean;
}
