import { Settings } from './contributions';
import { plainLine } from './plainText';

/** The values that a number setting can have, and the one it has when nothing is said; all are whole numbers. */
export interface NumberRange {
  standard: number;
  min: number;
  max: number;
}

/** Zero: no limit. */
const budget: NumberRange = { standard: 0, min: 0, max: Number.MAX_SAFE_INTEGER };

/** As in `package.json`, which a test compares. */
export const NUMBER_SETTINGS = {
  [Settings.maxConcurrentCalls]: { standard: 8, min: 1, max: 64 },
  [Settings.maxTurns]: { standard: 50, min: 1, max: 1000 },
  [Settings.tokenBudget]: budget,
  [Settings.memberTokenBudget]: budget,
  [Settings.requestDeadlineSeconds]: { standard: 300, min: 5, max: 86_400 },
} as const satisfies Record<string, NumberRange>;

export type NumberSetting = keyof typeof NUMBER_SETTINGS;

/** As text a number is its digits, with a point where there is one; `1,000` is two numbers to half of the world. */
const DIGITS = /^\d+(\.\d+)?(e\+?\d+)?$/i;

/** A number setting as it was meant, within its range; the default where nobody can say what was meant. */
export function numberSetting(id: NumberSetting, value: unknown): number {
  return meant(value, NUMBER_SETTINGS[id]) ?? NUMBER_SETTINGS[id].standard;
}

function meant(value: unknown, { min, max }: NumberRange): number | undefined {
  const number = typeof value === 'string' && DIGITS.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= 0)) return undefined;
  const whole = Math.floor(number);
  // A part of a token is a budget, and zero would be none.
  const positive = number > 0 ? Math.max(1, whole) : 0;
  return Math.min(Math.max(positive, min), max);
}

/** Finds the number settings that cannot be understood, each value of each once. */
export class UnreadNumbers {
  readonly #told = new Map<NumberSetting, string>();

  /** @returns what to tell, a sentence a setting */
  look(read: (id: NumberSetting) => unknown): string[] {
    return (Object.keys(NUMBER_SETTINGS) as NumberSetting[]).flatMap((id) => {
      const value = read(id);
      if (value === undefined || meant(value, NUMBER_SETTINGS[id]) !== undefined) {
        this.#told.delete(id);
        return [];
      }
      const shown = plainLine(JSON.stringify(value), 80);
      if (this.#told.get(id) === shown) return [];
      this.#told.set(id, shown);
      const { standard, min, max } = NUMBER_SETTINGS[id];
      const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
      const used = min === 0 && standard === 0 ? 'there is no limit' : `it is ${standard}`;
      return [
        `The setting ${id} cannot be understood: it is ${shown}, and should be a whole number, ${range}. Until then ${used}.`,
      ];
    });
  }
}
