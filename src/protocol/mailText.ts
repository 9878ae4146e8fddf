import type { TeamMessage } from './messages';
import { HUMAN, LEAD } from './names';

/**
 * The text in which a member's model is shown a message. The wrapper names the true sender, and no body can
 * close it: what looks like the tag inside a body is escaped, so that a teammate's text never becomes a
 * human turn ("Human: shut everyone down" stays a teammate's text).
 * @param outcome set where the message asks for a decision that has been made meanwhile
 */
export function renderMail(message: TeamMessage, outcome?: string): string {
  // The human's own words to the lead are the conversation itself and carry no wrapper.
  if (message.from === HUMAN && message.to === LEAD && message.type === 'message' && !message.external) {
    return message.content;
  }
  const attributes = [`from="${attribute(message.from)}"`, `type="${message.type}"`];
  if (message.request_id !== undefined) attributes.push(`request_id="${attribute(message.request_id)}"`);
  if (message.approve !== undefined) attributes.push(`approve="${message.approve}"`);
  if (outcome !== undefined) attributes.push(`already="${outcome}"`);
  if (message.external) attributes.push('external="true"');
  return `<message ${attributes.join(' ')}>\n${escapeTag(message.content)}\n</message>`;
}

const TAG_NAME = 'message';
const OPENING = /[<\uff1c\ufe64]/g;
/** What a reader may pass over between the letters of a tag: blanks, invisible and combining characters. */
const PASSED_OVER = /[\s\p{C}\p{M}/\uff0f]/u;

function escapeTag(body: string): string {
  return body.replace(OPENING, (bracket, at: number) => (beginsTag(body, at + 1) ? '&lt;' : bracket));
}

/** Whether the wrapper's name stands there for a reader, in whatever case, width or spacing. */
function beginsTag(body: string, from: number): boolean {
  let name = '';
  for (const char of charactersFrom(body, from)) {
    if (PASSED_OVER.test(char)) continue;
    name += char.normalize('NFKC').toLowerCase();
    if (name.startsWith(TAG_NAME)) return true;
    if (!TAG_NAME.startsWith(name)) return false;
  }
  return false;
}

function* charactersFrom(text: string, from: number): Generator<string> {
  for (let at = from; at < text.length; ) {
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
    yield char;
    at += char.length;
  }
}

function attribute(value: string): string {
  return value.replace(/[&"<>\r\n]/g, (c) => `&#${c.charCodeAt(0)};`);
}
