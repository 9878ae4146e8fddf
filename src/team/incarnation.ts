/** One start of one name, as a key. */
export function incarnationKey(name: string, incarnation: number): string {
  return `${name}#${incarnation}`;
}
