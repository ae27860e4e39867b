import { median } from './statistics.ts';

/** Runs one piece of work and returns the measured milliseconds. */
export type Run<Item> = (item: Item) => Promise<number>;

export interface Timing {
  readonly items: number;
  /** Number of passes over all items within the time. */
  readonly passes: number;
  /** Median over the items in the best pass, per side. */
  readonly milliseconds: Readonly<Record<string, number>>;
  /** Medians of all passes, per side. */
  readonly medians: Readonly<Record<string, readonly number[]>>;
}

/** Maximum duration of a single run that is too short to measure, in milliseconds. */
const SHORT = 150;

/**
 * Runs every side on every item in turn, pass after pass until the time is over, so that other load on the machine
 * affects all sides equally. Short runs count as the median of three consecutive runs.
 */
export async function alternate<Item>(
  items: readonly Item[],
  sides: Readonly<Record<string, Run<Item>>>,
  { seconds, maxPasses = 25, warmUp = true }: { seconds: number; maxPasses?: number; warmUp?: boolean },
): Promise<Timing> {
  const names = Object.keys(sides);
  if (warmUp) for (const item of items) for (const name of names) await sides[name]!(item);
  const medians = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  const end = performance.now() + seconds * 1000;
  let passes = 0;
  for (let longest = 0; passes < maxPasses; passes += 1) {
    const started = performance.now();
    if (passes > 0 && started + longest > end) break;
    const times = Object.fromEntries(names.map((name) => [name, [] as number[]]));
    for (const item of items) {
      for (const name of names) times[name]!.push(await inARow(() => sides[name]!(item)));
    }
    for (const name of names) medians[name]!.push(median(times[name]!));
    longest = Math.max(longest, performance.now() - started);
  }
  const milliseconds = Object.fromEntries(names.map((name) => [name, Math.min(...medians[name]!)]));
  return { items: items.length, passes, milliseconds, medians };
}

async function inARow(run: () => Promise<number>): Promise<number> {
  const first = await run();
  return first > SHORT ? first : median([first, await run(), await run()]);
}
