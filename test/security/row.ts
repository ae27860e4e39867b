import type { Canary } from './checks/canary.ts';
import type { Deployment } from './deployment/deployment.ts';

/** The result of one row of the table. */
export interface Reached {
  /** Printed beside the target. */
  readonly figure: string;
  /** One line for each failed case. */
  readonly failures: readonly string[];
  /** Information that is not a failure. */
  readonly notes?: readonly string[];
  /** Why it could not run on this machine. Always printed, and never counted as reached. */
  readonly skipped?: string;
  /** Why nothing failed, but the run does not show that the target is met. Always printed, and never counted as reached. */
  readonly unproven?: string;
}

/** How much of a row is run: a few of its cases in `npm test`, the table, or all repetitions of a row that was named. */
export type Extent = 'short' | 'table' | 'all';

export interface Effort {
  readonly extent: Extent;
  progress(done: number, total: number): void;
  /** Searches for API keys in everything that it gets. */
  readonly canary: Canary;
  /** The deployment under attack. */
  readonly deployment: Deployment;
}

/** One line of the table: what is attacked, the target, and the attack. */
export interface Row {
  /** Name for the command line. */
  readonly name: string;
  /** At most 50 characters. */
  readonly title: string;
  /** Unit of the figures, if the title does not say it. */
  readonly figures?: string;
  readonly target: string;
  run(effort: Effort): Promise<Reached>;
}

/** Chooses a number, such as that of repetitions, by the extent of a run. */
export function amount(
  { extent }: Pick<Effort, 'extent'>,
  table: number,
  { short = table, all = table }: { readonly short?: number; readonly all?: number },
): number {
  return { short, table, all }[extent];
}
