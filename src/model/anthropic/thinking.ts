import type Anthropic from '@anthropic-ai/sdk';
import type { ModelRequest } from '../port';
import type { ThinkingChoice } from '../thinkingChoice';

export type Thinking = ThinkingChoice;

/** Tokens that a model may think before it answers. */
const BUDGETS = { low: 2048, medium: 8192, high: 24_576 } as const;

/** What thinking may take beside the answer itself, in tokens. */
export function thinkingTokens(thinking: Thinking): number {
  if (thinking === 'auto' || thinking === 'off') return 0;
  return thinking === 'adaptive' ? BUDGETS.high : BUDGETS[thinking];
}

/** The request's `thinking`, or undefined to say nothing about it. */
export function thinkingParam(
  thinking: Thinking,
  request: Pick<ModelRequest, 'forceTool' | 'messages'>,
): Anthropic.ThinkingConfigParam | undefined {
  // A forced call and thinking exclude each other in the API.
  if (request.forceTool !== undefined || thinking === 'off') return { type: 'disabled' };
  if (thinking === 'auto') return undefined;
  if (thinking === 'adaptive') return { type: 'adaptive' };
  // With a budget, a turn that calls tools has to begin with a thought: one that began without ends without.
  if (isInUnthoughtTurn(request.messages)) return { type: 'disabled' };
  return { type: 'enabled', budget_tokens: BUDGETS[thinking] };
}

function isInUnthoughtTurn(messages: ModelRequest['messages']): boolean {
  const answered = messages.at(-1);
  const called = messages.at(-2);
  if (answered?.role !== 'user' || called?.role !== 'assistant') return false;
  if (!answered.content.some((block) => block.type === 'tool_result')) return false;
  const first = called.content[0];
  return first?.type !== 'opaque' || !/thinking$/.test(String(first.raw.type));
}
