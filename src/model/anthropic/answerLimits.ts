import { APIError } from '@anthropic-ai/sdk';

/** How the API names the longest answer of a model that was asked for a longer one. */
const TOO_MANY = /max_tokens: (\d+) > (\d+)/;

/** The longest answer to ask each model for: what is wanted, or as much as the model said it can. */
export class AnswerLimits {
  readonly #known = new Map<string, number>();

  constructor(private readonly wanted: number) {}

  /** Makes the call, and once more where the model only takes a lower limit. */
  async within<T>(model: string, call: (maxTokens: number) => Promise<T>): Promise<T> {
    const limit = this.#known.get(model) ?? this.wanted;
    try {
      return await call(limit);
    } catch (error) {
      const said = error instanceof APIError && error.status === 400 ? TOO_MANY.exec(error.message) : null;
      const lower = Number(said?.[2]);
      if (!(lower > 0 && lower < limit)) throw error;
      this.#known.set(model, lower);
      return call(lower);
    }
  }
}
