/** Other APIs than the Messages API, known by the shape of what they answer. */

import { isObject } from '../endpoint';

const OPENAI = 'It looks like the OpenAI API (chat completions).';
const TRANSLATE =
  'Handshake needs an endpoint that speaks the Anthropic Messages API: many services have one at another path, and gateways translate.';

/**
 * @param body the parsed JSON of an answer, or its text
 * @returns which API it is and what to do, in two sentences, or undefined where it is not known
 */
export function nameForeignApi(body: unknown): string | undefined {
  const value = typeof body === 'string' ? parsed(body) : body;
  if (!isObject(value)) return undefined;
  return isOpenAi(value) ? `${OPENAI} ${TRANSLATE}` : undefined;
}

function isOpenAi(body: { [key: string]: unknown }): boolean {
  if (Array.isArray(body.choices)) return true;
  if (typeof body.object === 'string' && /^(chat\.completion|response$|error$)/.test(body.object))
    return true;
  // An error has the same inner shape as the Messages API's, without the type around it, and with a code or param.
  return body.type === undefined && isObject(body.error) && ('param' in body.error || 'code' in body.error);
}

/** The JSON of an answer, or of the first event of a stream. */
function parsed(text: string): unknown {
  const event = /^data:\s*(\{.*)$/m.exec(text)?.[1];
  try {
    return JSON.parse(event ?? text);
  } catch {
    return undefined;
  }
}
