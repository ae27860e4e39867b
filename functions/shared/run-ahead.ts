/**
 * Runs work for each item, up to `count` at a time, and yields the results in order. Waits for everything that was started
 * when the caller stops iterating, or when an item fails.
 */
export async function* runAhead<Item, Result>(
  items: readonly Item[],
  count: number,
  run: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const started: Array<Promise<Result>> = [];
  try {
    for (const index of items.keys()) {
      for (const item of items.slice(started.length, index + count)) {
        const result = run(item);
        // Reported in its turn.
        result.catch(() => {});
        started.push(result);
      }
      yield await started[index]!;
    }
  } finally {
    await Promise.allSettled(started);
  }
}
