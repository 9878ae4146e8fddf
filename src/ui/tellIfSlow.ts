/** Passes an answer on; tells once when it has not come after so many milliseconds. */
export async function tellIfSlow<T>(
  answer: Promise<T>,
  ms: number,
  tell: (answer: Promise<unknown>) => void,
): Promise<T> {
  const timer = setTimeout(() => tell(answer), ms);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}
