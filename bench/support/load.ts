/** The load that both sides carry: so many members at once, each with so many tool rounds and a last word. */
export const MEMBERS = 50;
export const ROUNDS = 20;
export const CALLS = MEMBERS * (ROUNDS + 1);
export const MODEL = 'claude-test-1';
export const API_KEY = 'bench-key';

export function memberName(index: number): string {
  return `member-${index + 1}`;
}

export function promptOf(name: string): string {
  return `You are one of ${MEMBERS}, called ${name}. Read the notes until you know them by heart, then say so.`;
}
