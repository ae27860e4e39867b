/** What an operator may choose; everything optional is off. */
export interface Settings {
  /** Name of the stack. */
  readonly name: string;
  /** Where a caller gets a key and support; both stand in the answer to a missing or wrong key. */
  readonly accountUrl: string;
  readonly supportUrl: string;
  /** Seconds an address of a result lives; never longer than the router's credentials, which last some hours. */
  readonly addressLife: number;
  /** Days after which results are deleted. */
  readonly resultDays: number;
  /** Days logs are kept. */
  readonly logDays: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 180 | 365;
  /** Bounds of one conversion; seconds at most 240. */
  readonly limits: {
    readonly sourceMegabytes: number;
    readonly resultMegabytes: number;
    readonly seconds: number;
  };
  /** MiB by tool, instead of what its `tool.ts` says; at least 1769 for a whole core. */
  readonly memory: Readonly<Record<string, number>>;
  /** Requests a second the gateway lets through, and how many at once. */
  readonly throttle: { readonly rate: number; readonly burst: number };
  /** A domain of your own, with a certificate in the stack's region. */
  readonly domain?: { readonly name: string; readonly certificateArn: string };
  /** CloudFront before the gateway, so that plain http works too; `timeout` above 60 s needs a quota of your account. */
  readonly front?: {
    readonly timeout: number;
    readonly domain?: { readonly name: string; readonly certificateArn: string };
  };
  /** WAF: requests in five minutes from one address, above which it is refused. */
  readonly wafRate?: number;
  /** Puts tools into your VPC; they download sources, so its subnets need a way out (NAT). */
  readonly network?: {
    readonly tools: readonly string[];
    readonly vpcId: string;
    readonly availabilityZones: readonly string[];
    readonly subnetIds: readonly string[];
    readonly securityGroupIds: readonly string[];
  };
  /** Executions at the same time by function (`router` or a tool); reserving fails in accounts with the initial quota of 10. */
  readonly reserved: Readonly<Record<string, number>>;
  /** Executions kept warm, by function; billed by the hour. */
  readonly provisioned: Readonly<Record<string, number>>;
}

/** The settings of this deployment: edit here. */
export const settings: Settings = {
  name: 'docmill',
  accountUrl: 'https://example.com/account',
  supportUrl: 'https://example.com/support',
  addressLife: 3600,
  resultDays: 1,
  logDays: 14,
  limits: { sourceMegabytes: 50, resultMegabytes: 250, seconds: 240 },
  memory: {},
  throttle: { rate: 50, burst: 100 },
  reserved: {},
  provisioned: {},
};
