/** What an operator can configure. Everything optional is off by default. */
export interface Settings {
  /** Name of the stack; a stage other than the default is appended. */
  readonly name: string;
  /** Where callers get a key and support. Both are part of the response to a missing or invalid key. */
  readonly accountUrl: string;
  readonly supportUrl: string;
  /** Seconds until the URL of a result expires; at most 21,600, because it ends with the router's temporary credentials. */
  readonly urlLifetime: number;
  /** Days until results are deleted. */
  readonly resultDays: number;
  /** Days until logs are deleted. */
  readonly logDays: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 180 | 365;
  /** Limits of one conversion, with at most 240 seconds. */
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
  /** Demo conversions without a key per hour, by IP address and in total. Off if absent. */
  readonly demo?: { readonly perAddress: number; readonly perHour: number };
  /** Recipient of the alarms. If absent, they are only shown in CloudWatch. */
  readonly alarmEmail?: string;
  /**
   * `best-effort` starts engines without their own sandbox, which Lambda does not allow. With `required`, no tool would
   * start.
   */
  readonly sandbox: 'required' | 'best-effort';
  /**
   * Concurrent executions of your account and region (`aws lambda get-account-settings`); new accounts have 10. Half of them
   * is the number of concurrent conversions, because the router waits for each tool.
   */
  readonly accountConcurrency: number;
  /** Requests per second and burst that the gateway accepts; by default half of `accountConcurrency` each. */
  readonly throttle?: { readonly rate: number; readonly burst: number };
  /** MiB by tool, instead of the size in its `tool.ts`. At least 1769 for a full core. */
  readonly memory: Readonly<Record<string, number>>;
  /** A custom domain, with a certificate in the stack's region. */
  readonly domain?: { readonly name: string; readonly certificateArn: string };
  /** CloudFront in front of the gateway, which also accepts plain HTTP. `timeout` above 120 s needs a higher quota. */
  readonly front?: {
    readonly timeout: number;
    readonly domain?: { readonly name: string; readonly certificateArn: string };
  };
  /**
   * WAF: requests within five minutes above which an IP address is blocked. Not together with `front`, which
   * hides addresses.
   */
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
