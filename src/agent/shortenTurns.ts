import type { ConversationTurn, UserBlock } from '../model/port';
import { tokensOf, tokensOfResult } from './contextState';

/** What one record of a transcript takes out of the conversation before it. */
export interface Shortening {
  /**
   * `outputs`: long tool results; `images`: pictures; `history`: whole turns, for which the record's own turn
   * stands.
   */
  what: 'outputs' | 'images' | 'history';
  /** Of how many turns, from the first. */
  turns: number;
}

/** A result that takes fewer tokens is worth more than its place. */
const LONG_RESULT = 100;

/** The turns with the long results of the first ones taken out. The turns themselves are not changed. */
export function withoutOutputs(turns: readonly ConversationTurn[], count: number): ConversationTurn[] {
  return turns.map((turn, at) => {
    if (at >= count || turn.role !== 'user' || !turn.content.some(isLong)) return turn;
    return { role: 'user', content: turn.content.map((block) => (isLong(block) ? cleared(block) : block)) };
  });
}

/** The turns without any picture in the first ones. The turns themselves are not changed. */
export function withoutImages(turns: readonly ConversationTurn[], count: number): ConversationTurn[] {
  return turns.map((turn, at) => {
    if (at >= count || turn.role !== 'user' || !turn.content.some(hasImages)) return turn;
    return { role: 'user', content: turn.content.map((block) => (hasImages(block) ? unseen(block) : block)) };
  });
}

/** The turns with the first ones replaced by a user turn. */
export function withSummary(
  turns: readonly ConversationTurn[],
  count: number,
  content: UserBlock[],
): ConversationTurn[] {
  return [{ role: 'user', content }, ...turns.slice(count)];
}

/**
 * How many turns a summary may stand for, so that what is kept takes at most so many tokens and begins with a turn
 * of the model: a call and its results stay together.
 * @returns 0 where there is nothing to be summarised
 */
export function summarizable(turns: readonly ConversationTurn[], keepTokens: number): number {
  const begins = turns.flatMap(({ role }, at) => (role === 'assistant' && at > 0 ? [at] : []));
  const fitting = begins.find((at) => tokensOf(turns.slice(at)) <= keepTokens);
  return fitting ?? begins.at(-1) ?? 0;
}

type Result = Extract<UserBlock, { type: 'tool_result' }>;

function isLong(block: UserBlock): block is Result {
  return block.type === 'tool_result' && tokensOfResult(block) > LONG_RESULT;
}

export function hasImages(block: UserBlock): block is Result {
  return block.type === 'tool_result' && block.images !== undefined;
}

function unseen(block: Result): Result {
  const { images: _, ...rest } = block;
  return { ...rest, content: `${rest.content}\n[The model that is used now cannot be shown pictures.]` };
}

function cleared(block: Result): Result {
  const { images: _, ...rest } = block;
  const tokens = tokensOfResult(block);
  return {
    ...rest,
    content: `[This result (about ${tokens} tokens) was taken out to save room. If you need it, make the call again, for a smaller part where it can be asked for.]`,
  };
}
