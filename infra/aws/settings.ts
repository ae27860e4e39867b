/** What an operator can configure. Everything optional is off. */
export interface Settings {
  /** Name of the stack; a stage other than the default is appended. */
  readonly name: string;
  /** Where a caller gets a key and support; both are part of the response to a missing or wrong key. */
  readonly accountUrl: string;
  readonly supportUrl: string;
  /** Seconds until the URL of a result expires; at most 21,600, because it ends with the router's temporary credentials. */
  readonly urlLifetime: number;
  /** Days until results are deleted. */
  readonly resultDays: number;
  /** Days until logs are deleted. */
  readonly logDays: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 180 | 365;
  /** Limits of one conversion; seconds at most 240. */
  readonly limits: {
    readonly sourceMegabytes: number;
    readonly resultMegabytes: number;
    readonly seconds: number;
  };
  /**
   * Gives each account (API key owner) its own execution environments of every tool: separate virtual machines, `/tmp` and
   * Runtime API. Lambda does not combine it with provisioned concurrency, and allows 2,500 environments per 1,000 of
   * concurrency. Changing it replaces the functions.
   */
  readonly tenantIsolation: boolean;
  /** Limits of keys that have none of their own; 0 is no limit. */
  readonly keyLimits: { readonly perMinute: number; readonly perMonth: number; readonly concurrent: number };
  /** Demo conversions without a key in an hour, by IP address and in all; off if absent. */
  readonly demo?: { readonly perAddress: number; readonly perHour: number };
  /** Gets the alarms; they are only shown in CloudWatch if absent. */
  readonly alarmEmail?: string;
  /** `best-effort` starts engines without a sandbox of their own, which Lambda denies; `required` would stop three tools. */
  readonly sandbox: 'required' | 'best-effort';
  /**
   * Concurrent executions of your account and region (`aws lambda get-account-settings`); new accounts have 10. Half of them
   * is the number of conversions at once, because the router waits for each tool.
   */
  readonly accountConcurrency: number;
  /** Requests per second and burst that the gateway accepts; by default half of `accountConcurrency` each. */
  readonly throttle?: { readonly rate: number; readonly burst: number };
  /** MiB by tool, in place of the size in its `tool.ts`; at least 1769 for a whole core. */
  readonly memory: Readonly<Record<string, number>>;
  /** A custom domain, with a certificate in the stack's region. */
  readonly domain?: { readonly name: string; readonly certificateArn: string };
  /** CloudFront in front of the gateway, which also accepts plain HTTP. `timeout` above 120 s needs a higher quota. */
  readonly front?: {
    readonly timeout: number;
    readonly domain?: { readonly name: string; readonly certificateArn: string };
  };
  /** WAF: requests within five minutes above which an IP address is blocked. */
  readonly wafRate?: number;
  /** Runs tools in your VPC. They download sources, so the subnets need a route to the internet (NAT). */
  readonly network?: {
    readonly tools: readonly string[];
    readonly vpcId: string;
    readonly availabilityZones: readonly string[];
    readonly subnetIds: readonly string[];
    readonly securityGroupIds: readonly string[];
  };
  /** Reserved concurrency by function (`router` or a tool). It fails in accounts with a quota of 10. */
  readonly reserved: Readonly<Record<string, number>>;
  /** Provisioned concurrency by function, billed by the hour; tools only without `tenantIsolation`. */
  readonly provisioned: Readonly<Record<string, number>>;
}

/** The settings of this deployment: edit here. */
export const settings: Settings = {
  name: 'docmill',
  accountUrl: 'https://example.com/account',
  supportUrl: 'https://example.com/support',
  urlLifetime: 3600,
  resultDays: 1,
  logDays: 14,
  limits: { sourceMegabytes: 50, resultMegabytes: 250, seconds: 240 },
  tenantIsolation: true,
  keyLimits: { perMinute: 3000, perMonth: 1_000_000, concurrent: 50 },
  demo: { perAddress: 5, perHour: 60 },
  sandbox: 'best-effort',
  accountConcurrency: 10,
  memory: {},
  reserved: {},
  provisioned: {},
};
