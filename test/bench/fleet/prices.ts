/** US dollars, list prices of us-east-1 as published in late 2025, without free tiers and discounts. */
export const PRICES = {
  /** Per GiB and second, x86 and Arm; the init phase is billed too. */
  lambdaGibSecond: { x86: 0.0000166667, arm: 0.0000133334 },
  lambdaRequest: 0.2e-6,
  /** Per GiB and second of `/tmp` beyond the first 512 MiB. */
  lambdaTemporaryGibSecond: 0.0000000309,
  /** REST API. */
  gatewayRequest: 3.5e-6,
  s3Put: 5e-6,
  s3Get: 0.4e-6,
  s3GibMonth: 0.023,
  dynamoRead: 0.125e-6,
  logsGib: 0.5,
  outGib: 0.09,
} as const;

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
