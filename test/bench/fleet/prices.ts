export { PRICES } from '../../../functions/shared/usage/prices.ts';

/** What a measurement on one machine cannot know of AWS. */
export const ASSUMPTIONS = {
  /** How much slower a Lambda processor is than this machine's. */
  slowdown: 1.3,
  /** Milliseconds a sandbox takes before our code starts. */
  sandbox: 250,
  /** Milliseconds: gateway, invocation of one function by another, download of a source, upload of a result. */
  gateway: 10,
  invoke: 10,
  source: 80,
  store: 40,
  /** Milliseconds a sandbox stays after its last call. */
  idleLife: 8 * 60_000,
  /** Sandboxes of an account at the same time, unless it asked for more. */
  concurrency: 1000,
  logBytes: 1500,
} as const;
