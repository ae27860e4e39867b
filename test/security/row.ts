import type { Canary } from './checks/canary.ts';
import type { Deployment } from './deployment/deployment.ts';

/** What one row of the table reached. */
export interface Reached {
  /** Printed beside the target. */
  readonly figure: string;
  /** One line for each case that was not as it must be. */
  readonly failures: readonly string[];
  /** Worth reading, and no failure. */
  readonly notes?: readonly string[];
  /** Why it could not run on this machine: printed loudly, and never counted as reached. */
  readonly skipped?: string;
}

/** How much of a row is run, and who looks on. */
export interface Effort {
  /** Chooses a number of repetitions: the whole of the target, or CI's share of it. */
  times(whole: number, share: number): number;
  progress(done: number, total: number): void;
  /** Looks for API keys in everything that is shown to it. */
  readonly canary: Canary;
  /** What is attacked. */
  readonly deployment: Deployment;
}

/** One line of the table: what is attacked, what must come out, and the attack. */
export interface Row {
  /** Short, for the command line. */
  readonly name: string;
  readonly title: string;
  readonly target: string;
  run(effort: Effort): Promise<Reached>;
}
