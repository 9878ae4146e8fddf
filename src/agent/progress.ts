import type { ConversationTurn } from '../model/port';
import { shorten } from '../protocol';
import { describeCall } from './describeCall';

/** How far back is looked, in turns. */
const LAST_TURNS = 40;
const LAST_CALLS = 5;
const CHANGING = new Set(['bash', 'write_file', 'edit_file']);

/** How far a member came, for whoever takes its task over: what it did last, and its last words. */
export function progressOf(turns: readonly ConversationTurn[]): string {
  const calls: string[] = [];
  let words = '';
  for (const turn of turns.slice(-LAST_TURNS)) {
    if (turn.role !== 'assistant') continue;
    for (const block of turn.content) {
      if (block.type === 'text' && block.text.trim() !== '') words = block.text.trim();
      else if (block.type === 'tool_use' && CHANGING.has(block.name)) {
        calls.push(describeCall(block.name, block.input));
      }
    }
  }
  const parts: string[] = [];
  if (calls.length > 0) parts.push(`Last calls: ${calls.slice(-LAST_CALLS).join('; ')}.`);
  if (words !== '') parts.push(`Last words: ${shorten(words, 500)}`);
  return parts.join(' ');
}
