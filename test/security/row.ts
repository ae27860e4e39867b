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

/** How much of a row is run, and with which observers. */
export interface Effort {
  /** Chooses a number of repetitions: all of the target, or the share for CI. */
  times(whole: number, share: number): number;
  /**
   * Chooses a number of repetitions of a long attack: all if the row was named on its own, fewer in the
   * table, or the share for CI.
   */
  repeats(all: number, table: number, share: number): number;
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
  /** Whether the attack uses no service of the deployment, so that one for the second account runs beside it. */
  readonly beside?: true;
  run(effort: Effort): Promise<Reached>;
}

/** How much of each row is run: the share for CI, the table, or all of a row that was named. */
export type Extent = 'share' | 'table' | 'all';

/** Returns the numbers of repetitions that an extent stands for. */
export function amounts(extent: Extent): Pick<Effort, 'times' | 'repeats'> {
  return {
    times: (whole, share) => (extent === 'share' ? share : whole),
    repeats: (all, table, share) => ({ all, table, share })[extent],
  };
}
