import { setTimeout as delay } from 'node:timers/promises';
import type { Locator } from 'playwright-core';

/**
 * Milliseconds until a state that does not come is given up. Generous: a state that comes is seen at once,
 * and a machine that builds several things at a time can take long to draw a window.
 */
export const patience = 60_000;

/**
 * Reads again until the value is accepted: for what a window shows, which announces no event.
 * @returns the accepted value
 * @throws when it does not come, with what was read last
 */
export async function eventually<T, S extends T>(
  read: () => Promise<T>,
  accept: (value: T) => value is S,
  what: string,
): Promise<S>;
export async function eventually<T>(
  read: () => Promise<T>,
  accept: (value: T) => boolean,
  what: string,
): Promise<T>;
export async function eventually<T>(
  read: () => Promise<T>,
  accept: (value: T) => boolean,
  what: string,
): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    const value = await read();
    if (accept(value)) return value;
    if (performance.now() > end) {
      throw new Error(`Waited ${patience / 1000} s for ${what}; last seen: ${JSON.stringify(value)}`);
    }
    await delay(50);
  }
}

/** Resolves when a field holds this text: one of the toolkit draws it a moment after it was set. */
export async function holds(field: Locator, text: string): Promise<void> {
  await eventually(
    () => field.inputValue(),
    (value) => value === text,
    `the field to hold '${text}'`,
  );
}
