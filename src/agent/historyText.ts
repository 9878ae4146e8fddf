import type { ConversationTurn } from '../model/port';

/** Of one call's input or result, in characters. */
const MAX_PART = 1500;

/** A conversation as text to be summarised, cut in its middle to so many characters. */
export function historyText(turns: readonly ConversationTurn[], maxLength: number): string {
  const parts: string[] = [];
  for (const { role, content } of turns) {
    for (const block of content) {
      if (block.type === 'text') parts.push(`${role === 'user' ? 'To you' : 'You'}: ${block.text}`);
      else if (block.type === 'tool_use')
        parts.push(`You called ${block.name}: ${cut(JSON.stringify(block.input) ?? '', MAX_PART)}`);
      else if (block.type === 'tool_result')
        parts.push(`${block.is_error ? 'It failed' : 'Result'}: ${cut(block.content, MAX_PART)}`);
    }
  }
  return cut(parts.join('\n\n'), maxLength);
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
}
