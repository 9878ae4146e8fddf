/** What keeps a text from being sent, said before it leaves the input; undefined where nothing does. */
export function tooLong(text: string, longest: number, strings: { tooLong: string }): string | undefined {
  if (text.length <= longest) return undefined;
  const numbers = [text.length, longest].map((number) =>
    number.toLocaleString(document.documentElement.lang),
  );
  return strings.tooLong.replace(/\{([01])\}/g, (_, index) => numbers[Number(index)] ?? '');
}
