/** Who can take part: the lead, the human, the runtime itself, and teammates by name. */

export const LEAD = 'lead';
export const HUMAN = 'human';
export const RUNTIME = 'runtime';

/** Names no teammate may have: each of them already means somebody, or everybody. */
export const RESERVED_NAMES: readonly string[] = [LEAD, HUMAN, RUNTIME, 'agent', 'system', 'team', 'all'];

const NAME_PATTERN = /^[a-z][a-z0-9_-]{0,31}$/;

export type NameCheck = { ok: true; name: string } | { ok: false; problem: string };

/**
 * Reads a teammate's name as a model or a person typed it: lower-cased and trimmed.
 * @returns the canonical name, or a sentence that says what is wrong and what a name looks like
 */
export function parseMemberName(raw: unknown): NameCheck {
  if (typeof raw !== 'string' || raw.trim() === '') {
    return { ok: false, problem: 'A teammate needs a name, such as alice.' };
  }
  const name = raw.trim().toLowerCase();
  const shown = shorten(raw.trim(), 40);
  if (!NAME_PATTERN.test(name)) {
    return {
      ok: false,
      problem: `'${shown}' is not a teammate's name. A name starts with a letter and holds up to 32 letters, digits, '-' or '_'.`,
    };
  }
  if (RESERVED_NAMES.includes(name)) {
    return {
      ok: false,
      problem: `'${shown}' is reserved (${RESERVED_NAMES.join(', ')}). Choose another name.`,
    };
  }
  return { ok: true, name };
}

/** Cuts `text` to `max` UTF-16 units at most, never inside a surrogate pair, and marks the cut. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  const whole = /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
  return `${whole}…`;
}
