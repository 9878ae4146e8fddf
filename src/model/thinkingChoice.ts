/**
 * `handshake.thinking`. `auto` leaves it to the model; `adaptive` lets models that can decide how much they think;
 * the others give a budget to those that take one.
 */
export const THINKING_CHOICES = ['auto', 'off', 'adaptive', 'low', 'medium', 'high'] as const;
export type ThinkingChoice = (typeof THINKING_CHOICES)[number];
