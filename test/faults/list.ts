import { aws } from './list/aws.ts';
import { egress } from './list/egress.ts';
import { engines } from './list/engines.ts';
import { keysAndLimits } from './list/keys-and-limits.ts';
import { options } from './list/options.ts';
import { routerAndReplies } from './list/router-and-replies.ts';
import { sandbox } from './list/sandbox.ts';
import { storage } from './list/storage.ts';

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

interface Area {
  readonly faults: readonly Fault[];
  /** Number of faults that the first ring did not notice when this was last measured. It must not grow. */
  readonly unnoticed: number;
}

export const AREAS: Readonly<Record<string, Area>> = {
  options: { faults: options, unnoticed: 0 },
  egress: { faults: egress, unnoticed: 0 },
  sandbox: { faults: sandbox, unnoticed: 0 },
  'keys-and-limits': { faults: keysAndLimits, unnoticed: 0 },
  'router-and-replies': { faults: routerAndReplies, unnoticed: 0 },
  engines: { faults: engines, unnoticed: 0 },
  storage: { faults: storage, unnoticed: 0 },
  aws: { faults: aws, unnoticed: 0 },
};
