/** How many sources a case is compared with. */
interface Count {
  /** Number of sources that count. */
  readonly wanted: number;
  /** Maximum number of sources to try. */
  readonly maxTries: number;
}

/**
 * Returns a function that compares sources until enough of them count, and continues where the last call ended. `compare`
 * returns whether a source counts: neither side has a result for some, such as damaged ones.
 */
export function inTurn(sources: readonly string[]) {
  let turn = 0;
  return async (
    { wanted, maxTries }: Count,
    compare: (source: string) => Promise<boolean>,
  ): Promise<void> => {
    const limit = Math.min(sources.length, maxTries);
    for (let tries = 0, compared = 0; tries < limit && compared < wanted; tries += 1) {
      if (await compare(sources[turn++ % sources.length]!)) compared += 1;
    }
  };
}
