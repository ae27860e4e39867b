export { PRICES } from '../../../functions/shared/usage/prices.ts';

/** Assumptions about AWS that cannot be measured on one machine. */
export const ASSUMPTIONS = {
  /** How much slower a Lambda CPU is than this machine's. */
  slowdown: 1.3,
  /** Milliseconds until the code starts in a new sandbox. */
  sandbox: 250,
  /**
   * Milliseconds for the gateway, the invocation of one function by another, the download of a source and the upload of a
   * result.
   */
  gateway: 10,
  invoke: 10,
  source: 80,
  store: 40,
  /** Milliseconds that a sandbox stays alive after its last call. */
  idleLife: 8 * 60_000,
  /** Default quota of concurrent sandboxes of an account. */
  concurrency: 1000,
  logBytes: 1500,
} as const;
