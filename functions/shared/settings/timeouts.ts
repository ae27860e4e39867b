/** Milliseconds after which each layer gives up on AWS: every one before the one above it, and all after the conversion's own limit. */
export const TIMEOUTS = {
  gateway: 300_000,
  router: 290_000,
  /** How long the router waits for a tool. */
  wait: 280_000,
  tool: 270_000,
} as const;
