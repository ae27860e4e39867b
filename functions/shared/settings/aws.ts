/**
 * Timeouts of the layers on AWS in milliseconds. Each is shorter than that of the layer above it, and longer than
 * that of the conversion itself.
 */
export const TIMEOUTS = {
  gateway: 300_000,
  /** The site waits for the router. */
  site: 295_000,
  router: 290_000,
  /** Time that a tool has to respond to the router. */
  wait: 280_000,
  tool: 270_000,
  /** A part of an execution, which ends with each pause. The longest is an attempt to deliver a webhook. */
  jobs: 60_000,
} as const;

/**
 * MiB of the router's function, which mostly waits for the tool. 512 instead of 1024 halves the cost; the 13.5 ms of
 * CPU per request then take 47 ms instead of 23 ms. The memory of a tool's function is in its `tool.ts`.
 */
export const ROUTER_MEMORY = 512;

/** Maximum lifetime of a presigned URL in seconds: it expires together with the role's temporary credentials. */
export const MAX_URL_LIFETIME = 6 * 3600;

/** Name of the alias of each function that points at the version in use. */
export const LIVE_ALIAS = 'live';

/** Path of the site. Everything that API Gateway serves is below the name of its stage, which is `api`. */
export const SITE_PATH = '/api/site';

/** Header with a secret by which the router recognizes requests that CloudFront has passed on. */
export const FRONT_HEADER = 'X-Docmill-Front';

/** Header in which CloudFront passes on the IP address of its viewer, and nothing else. */
export const VIEWER_HEADER = 'X-Docmill-Viewer';

/** Maximum bytes of files in an event or a response of a function: base64 of them fits into Lambda's 6 MB. */
export const MAX_INLINE_BYTES = 4_500_000;
