/** A small fault of the product. */
export interface Fault {
  /** Path from the project's root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /**
   * Test files to try one after another if no unit test notices the fault. Each is a part of their paths, and may be
   * followed by ` -t ` and a part of the titles. Files at the path that mirrors the fault's file come first.
   */
  readonly tests: readonly string[];
}

type Change = readonly [find: string, replace: string];

/** Returns the faults of a file, all with the same tests. */
export function inFile(file: string, changes: readonly Change[], ...tests: readonly string[]): Fault[] {
  return changes.map(([find, replace]) => ({ file, find, replace, tests }));
}
