import * as z from 'zod';
import type { TranscriptRecord } from '../agent/transcript';
import { HUMAN, LEAD, shorten, type TeamMessage } from '../protocol';
import type { ConversationEntry } from './messages';

/** Longest tool input or result that the Conversation shows; the transcript has the whole. */
const DETAIL_LIMIT = 20_000;
const SUMMARY_LIMIT = 200;

/** Begins the ids of what the lead said in the history. */
const HISTORY = 'turn:';

type ToolEntry = Extract<ConversationEntry, { kind: 'tool' }>;

/** The fields that say best what a call is about, best first. */
const TELLING_FIELDS = ['command', 'path', 'pattern', 'teammate', 'to', 'name', 'request_id', 'task_id'];

const fields = z.record(z.string(), z.unknown());

/** One line on what a tool call is about: the command, the path, the teammate. Empty where nothing says so. */
export function toolSummary(input: unknown): string {
  const parsed = fields.safeParse(input);
  if (!parsed.success) return typeof input === 'string' ? oneLine(input) : '';
  const values = parsed.data;
  for (const field of TELLING_FIELDS) {
    const value = values[field];
    if (typeof value !== 'string' || value === '') continue;
    return oneLine(`${value}${qualifier(field, values)}`);
  }
  const first = Object.values(values).find((value) => typeof value === 'string' && value !== '');
  return typeof first === 'string' ? oneLine(first) : '';
}

function qualifier(field: string, values: Readonly<Record<string, unknown>>): string {
  if (field === 'to' && typeof values.content === 'string') return `: ${values.content}`;
  if (field === 'name' && typeof values.role === 'string') return ` (${values.role})`;
  if (field === 'request_id' && typeof values.approve === 'boolean') {
    return values.approve ? ' approve' : ' reject';
  }
  return '';
}

function oneLine(text: string): string {
  return shorten(text.replace(/\s+/g, ' ').trim(), SUMMARY_LIMIT);
}

/** The arguments of a call, one field after the other, with texts of several lines as they are. */
export function toolInput(input: unknown): string {
  const parsed = fields.safeParse(input);
  if (!parsed.success) return limited(typeof input === 'string' ? input : JSON.stringify(input ?? null));
  const lines = Object.entries(parsed.data).map(([key, value]) => {
    if (typeof value !== 'string') return `${key}: ${JSON.stringify(value)}`;
    return value.includes('\n') ? `${key}:\n${value}` : `${key}: ${value}`;
  });
  return limited(lines.join('\n'));
}

export function limited(text: string): string {
  return shorten(text, DETAIL_LIMIT);
}

export function toolEntry(id: string, name: string, input: unknown, state: ToolEntry['state']): ToolEntry {
  return {
    kind: 'tool',
    id: toolId(id),
    name,
    summary: toolSummary(input),
    input: toolInput(input),
    state,
  };
}

export function toolId(toolUseId: string): string {
  return `tool:${toolUseId}`;
}

/** True for the human's own words to the lead, which are the conversation itself and not mail in it. */
export function isHumanWords(message: TeamMessage): boolean {
  return (
    message.from === HUMAN && message.to === LEAD && message.type === 'message' && message.external !== true
  );
}

/** Whether a message stands in the Conversation; that somebody is idle is seen in the Team view. */
export function isNews(message: TeamMessage): boolean {
  return message.type !== 'idle_notification';
}

export function mailEntry(message: TeamMessage): ConversationEntry {
  const id = `mail:${message.id}`;
  if (isHumanWords(message)) return { kind: 'human', id, text: message.content };
  return {
    kind: 'mail',
    id,
    from: message.from,
    type: message.type,
    text: limited(message.content),
    external: message.external === true,
  };
}

/**
 * The lead's transcript as entries. A call without a result is `running`; whoever knows what runs now
 * corrects it.
 */
export function entriesOf(records: readonly TranscriptRecord[]): ConversationEntry[] {
  const entries = new Map<string, ConversationEntry>();
  const put = (entry: ConversationEntry) => void entries.set(entry.id, entry);
  records.forEach((record, index) => {
    for (const message of record.mail ?? []) if (isNews(message)) put(mailEntry(message));
    if (record.turn.role === 'user') {
      // Text of a user turn is the mail above in the model's wrapping; only results are news.
      for (const block of record.turn.content) {
        if (block.type !== 'tool_result') continue;
        const call = entries.get(toolId(block.tool_use_id));
        if (call?.kind !== 'tool') continue;
        put({ ...call, state: block.is_error ? 'error' : 'done', result: limited(block.content) });
      }
      return;
    }
    const text = assistantText(record);
    if (text !== '') {
      const demo = record.demo === true;
      put({ kind: 'assistant', id: `${HISTORY}${index}`, text, streaming: false, demo });
    }
    for (const block of record.turn.content) {
      if (block.type === 'tool_use') put(toolEntry(block.id, block.name, block.input, 'running'));
    }
  });
  return [...entries.values()];
}

/** All that the assistant said in a turn, joined as the core joins it in its events. */
export function assistantText(record: TranscriptRecord): string {
  if (record.turn.role !== 'assistant') return '';
  const texts = record.turn.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.join('\n').trim();
}
