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

/**
 * MiB of the router's function, which waits while the tool runs. Half of 1024 costs half and stretches its 13.5 ms of CPU
 * per request to 47 ms instead of 23. The memory of a tool's function is in its `tool.ts`.
 */
export const ROUTER_MEMORY = 512;

/** Maximum lifetime of a presigned URL in seconds: it expires together with the role's temporary credentials. */
export const MAX_URL_LIFETIME = 6 * 3600;

/** Name of the alias of each function that points at the version in use. */
export const LIVE_ALIAS = 'live';

/** Path of the site. Everything that API Gateway serves is below the name of its stage, which is `api`. */
export const SITE_PATH = '/api/site';

/** Bytes of a file that a request may contain: its bytes are part of the router's event. */
export const MAX_BODY = 4_500_000;
