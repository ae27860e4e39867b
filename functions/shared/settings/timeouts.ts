/**
 * Milliseconds after which each layer on AWS times out: always before the layer above it, and after the
 * conversion itself.
 */
export const TIMEOUTS = {
  gateway: 300_000,
  router: 290_000,
  /** How long the router waits for a tool. */
  wait: 280_000,
  tool: 270_000,
} as const;
