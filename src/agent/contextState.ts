import type { ConversationTurn, ModelError, TokenUsage, UserBlock } from '../model/port';

/** Where neither the model's adapter nor the endpoint has said how much a model takes; in tokens. */
const USUAL_WINDOW = 200_000;
/** From here on the next answer may not fit any more. */
const NEARLY_FULL = 0.8;
/** Letters of common text in a token; where the endpoint has counted, that counts. */
const LETTERS_PER_TOKEN = 4;
/** What a picture takes at most, whatever its bytes. */
const IMAGE_TOKENS = 1600;
/** A conversation that could not be made shorter is left alone until it has so many more turns. */
const PATIENCE = 10;

/** How full a member's conversation is. */
export class ContextState {
  /** What the last call took, by the endpoint's own count; 0 where it does not count. */
  #used = 0;
  #learned: number | undefined;
  #hopelessUntil = 0;

  counted({ input, output, cacheRead, cacheWrite }: TokenUsage): void {
    this.#used = input + output + cacheRead + cacheWrite;
  }

  /** The endpoint has refused a conversation, and may have said how much it takes. */
  learn({ contextWindow }: ModelError): void {
    if (contextWindow !== undefined) this.#learned = contextWindow;
  }

  window(told: number | undefined): number {
    return this.#learned ?? told ?? USUAL_WINDOW;
  }

  isNearlyFull(window: number, turns: number): boolean {
    return this.#used > window * NEARLY_FULL && turns >= this.#hopelessUntil;
  }

  /** It was made shorter: what was counted before says nothing any more. */
  shortened(): void {
    this.#used = 0;
  }

  /** Nothing could be taken out of it. */
  notShortened(turns: number): void {
    this.#hopelessUntil = turns + PATIENCE;
  }
}

/** About how many tokens these take. */
export function tokensOf(turns: readonly ConversationTurn[]): number {
  let tokens = 0;
  for (const { content } of turns) for (const block of content) tokens += tokensOfBlock(block);
  return tokens;
}

export function tokensOfBlock(block: ConversationTurn['content'][number]): number {
  switch (block.type) {
    case 'text':
      return tokensOfText(block.text);
    case 'tool_result':
      return tokensOfResult(block);
    case 'tool_use':
      return tokensOfText(JSON.stringify(block.input) ?? '');
    case 'opaque':
      return tokensOfText(JSON.stringify(block.raw));
  }
}

export function tokensOfResult({
  content,
  images = [],
}: Extract<UserBlock, { type: 'tool_result' }>): number {
  return tokensOfText(content) + images.length * IMAGE_TOKENS;
}

export function tokensOfText(text: string): number {
  return Math.ceil(text.length / LETTERS_PER_TOKEN);
}

export function lettersOf(tokens: number): number {
  return Math.floor(tokens * LETTERS_PER_TOKEN);
}
