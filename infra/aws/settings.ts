import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isPrefix } from '../../functions/buckets/places.ts';
import { MAX_URL_LIFETIME } from '../../functions/shared/settings/aws.ts';
import { isOrigin } from '../../functions/shared/settings/environment.ts';
import { COUNTS, MEGABYTES } from '../../functions/shared/settings/service.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import * as tools from '../../functions/tools.ts';

const TOOLS: readonly string[] = Object.keys(tools);
const BROWSERS: readonly string[] = Object.values<Tool>(tools)
  .filter(({ sizing }) => sizing.layers.includes('chromium'))
  .map(({ name }) => name);
const FUNCTIONS: readonly string[] = ['router', 'jobs', 'site', ...TOOLS];
/** Lambda's maximum for a function, less the time that a tool needs to respond. */
const MAX_JOB_SECONDS = 870;

const integer = ({ min, max }: { min: number; max: number }) => z.int().min(min).max(max);
const count = integer(COUNTS);
const byFunction = (max: number) => z.partialRecord(z.enum(FUNCTIONS), integer({ min: 1, max })).prefault({});

/** Seconds that the router and the start of a tool need in addition to a conversion. */
const FRONT_RESERVE = 10;

/** Environments of functions with tenant isolation that Lambda allows for each concurrent execution. */
export const TENANTS_PER_EXECUTION = 2.5;

/** Requests of one IP address in five minutes that WAF can count to. */
export const WAF_RATES = { min: 10, max: 2_000_000_000 };

/** Requests of one IP address per minute that WAF accepts if accounts have no such limit. */
const UNLIMITED_PER_MINUTE = 3000;

const parameter = z
  .string()
  .regex(/^\/[\w.-]+(\/[\w.-]+)*$/, 'Must be the name of an SSM parameter such as /docmill/smtp');

/** Start or end of a key. In a pattern of EventBridge, the excluded characters would be wildcards. */
const affix = z.string().regex(/^[^*\\]*$/, 'Must not contain * or a backslash');

/** In a policy, the excluded characters would be wildcards and variables. */
const prefix = z
  .string()
  .refine(
    (url) => isPrefix(url) && !/[*?$]/.test(url),
    'Must be s3://BUCKET/ or s3://BUCKET/PREFIX/, without *, ? and $',
  );

/** IDs of one kind of resource of a VPC. */
const idsOf = (kind: string) =>
  z
    .array(
      z
        .string()
        .regex(
          new RegExp(`^${kind}-([0-9a-f]{8}|[0-9a-f]{17})$`),
          `Must be an ID such as ${kind}-0123456789abcdef0`,
        ),
    )
    .min(1)
    .transform((ids) => [...new Set(ids)]);

const domain = z.strictObject({
  name: z.string(),
  certificateArn: z.string(),
});

const destination = z
  .string()
  .regex(/^arn:[\w-]+:(sqs|sns):[\w-]+:\d{12}:[\w-]+$/, 'Must be the ARN of an SQS queue or an SNS topic');

/** Settings of the stack: types, ranges and defaults. Everything optional is off by default. */
const schema = z
  .strictObject({
    /** Name of the stack. The name of a stage other than the default is appended. */
    name: z
      .string()
      .regex(/^[a-zA-Z][a-zA-Z0-9-]{0,99}$/)
      .default('docmill'),
    /**
     * URLs for getting a key and support. Both are part of the response to a missing or invalid key. The defaults are
     * pages of the site or, without it, of example.com.
     */
    accountUrl: z.url().optional(),
    supportUrl: z.url().optional(),
    /**
     * Pages for trying conversions, for accounts and for support. `null` removes them with their routes and
     * permissions.
     */
    site: z
      .strictObject({
        /** Who can get an account: everyone with an email address, people whom you invite, or nobody new. */
        signUp: z.enum(['open', 'invite', 'off']).default('invite'),
        /** Sender of sign-in links, and the SSM parameter with the URL of the mail server. */
        mail: z.strictObject({ from: z.email(), parameter }).optional(),
        /** OpenID Connect provider for signing in, and the SSM parameter with the client's secret. */
        openId: z
          .strictObject({
            issuer: z.url({ protocol: /^https$/ }),
            clientId: z.string().min(1),
            secretParameter: parameter.optional(),
            name: z.string().min(1).optional(),
          })
          .optional(),
        /** Creates a Cognito user pool with managed login for signing in. `domain` is the prefix of its host name. */
        cognito: z
          .strictObject({
            domain: z.string().regex(/^(?!.*(aws|amazon|cognito))[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
          })
          .optional(),
      })
      .refine(({ openId, cognito }) => !openId || !cognito, 'can have only one of openId and cognito')
      .nullable()
      .prefault({}),
    /** Origins of the web pages whose scripts may call the service, such as `https://www.example.com`, or `*` for all. */
    corsOrigins: z
      .array(z.string().refine(isOrigin, 'Must be * or an origin such as https://www.example.com'))
      .default([]),
    /** Seconds until the URL of a result expires. It also expires with the router's temporary credentials. */
    urlLifetime: integer({ min: 1, max: MAX_URL_LIFETIME }).default(3600),
    /**
     * Whether customers depend on this stage. Its stack and key table are protected against deletion, and `wafRate` and
     * `heartbeatMinutes` are on by default. True by default, and false for stages other than `prod`.
     */
    production: z.boolean().default(true),
    /** Days until results are deleted. */
    resultDays: integer({ min: 1, max: 3650 }).default(1),
    /** Days until logs are deleted. */
    logDays: z.literal([1, 3, 5, 7, 14, 30, 60, 90, 180, 365]).default(14),
    /** Limits of one conversion. */
    conversionLimits: z
      .strictObject({
        sourceMegabytes: integer(MEGABYTES).default(50),
        resultMegabytes: integer(MEGABYTES).default(250),
        seconds: integer({ min: 1, max: 240 }).default(240),
      })
      .prefault({}),
    /**
     * Conversions that nobody waits for, and their webhooks. `seconds` is how long one may run, which is less than Lambda's
     * 900 s for a function. `null` removes them, for regions in which Lambda has no durable functions.
     */
    jobs: z
      .strictObject({ seconds: integer({ min: 1, max: MAX_JOB_SECONDS }).default(MAX_JOB_SECONDS) })
      .nullable()
      .prefault({}),
    /**
     * Gives each account (API key owner) its own execution environments of every tool: separate virtual machines,
     * `/tmp` and Runtime API. Lambda does not support it together with provisioned concurrency, and allows 2,500
     * environments per 1,000 of concurrency. Changing it replaces the functions. Without it, a process that survives a
     * conversion can read the files of the next account, which `acceptSharedTenants` must accept.
     */
    tenantIsolation: z.boolean().default(true),
    acceptSharedTenants: z.boolean().default(false),
    /**
     * Limits of keys without their own limits. 0 means no limit. `concurrent` defaults to half of `accountConcurrency`,
     * but at most 50.
     */
    rateLimits: z
      .strictObject({
        perMinute: count.default(3000),
        perMonth: count.default(1_000_000),
        concurrent: count.optional(),
      })
      .prefault({}),
    /**
     * Shows callers the cost of their conversions at your list prices in `/api/usage`. `npm run keys -- usage` always
     * does.
     */
    showCosts: z.boolean().default(false),
    /**
     * Demo conversions without a key per hour, by IP address and in total. `null` turns demo mode off, and `{}` on.
     */
    demo: z
      .strictObject({ perAddress: count.default(5), perHour: count.default(60) })
      .nullable()
      .default(null),
    /** Name of an existing key table, for example from a stack that was deleted. If absent, the stack creates one. */
    keyTable: z.string().optional(),
    /** Adds the IP address of the caller to the router's log line of each call, and to the access log. */
    logIp: z.boolean().default(false),
    /**
     * Access log of the gateway, without query strings. API Gateway writes it with a role that belongs to the whole
     * AWS account and region: `create` makes it one, which stays when the stack is deleted, and `existing` uses the
     * one that the account has.
     */
    accessLog: z.strictObject({ role: z.enum(['create', 'existing']) }).optional(),
    /**
     * OpenTelemetry collector that gets the traces of calls with a key as OTLP over HTTP, and the SSM parameter with
     * further headers, such as `authorization=Bearer%20…`.
     */
    traces: z
      .strictObject({ endpoint: z.url({ protocol: /^https?$/ }), parameter: parameter.optional() })
      .optional(),
    /** Recipient of the alarms. If absent, they are only shown in CloudWatch. */
    alarmEmail: z.email().optional(),
    /**
     * Dollars a month above which AWS Budgets sends an email to `alarmEmail`, for everything with the tag of the stack.
     * Activate the tag `stack` for cost allocation first.
     */
    monthlyBudget: z.number().positive().optional(),
    /**
     * Concurrent executions of your account and region (`aws lambda get-account-settings`). New accounts have 10.
     * Half of this number of conversions can run at once, because the router waits for each tool.
     */
    accountConcurrency: integer({ min: 2, max: 1_000_000 }).default(10),
    /**
     * Requests per second and burst that the gateway accepts for each path. Each defaults to four times
     * `accountConcurrency`, but at least 100, which is more than that concurrency can convert.
     */
    throttle: z.strictObject({ rate: z.number().positive(), burst: integer(COUNTS) }).optional(),
    /** MiB by function, overriding the size in the tool's `tool.ts`. At least 1769 for a full core. */
    memory: z.partialRecord(z.enum(FUNCTIONS), integer({ min: 128, max: 10_240 })).prefault({}),
    /** A custom domain, with a certificate in the stack's region. */
    domain: domain.optional(),
    /**
     * CloudFront in front of the gateway. A `timeout` above 120 s needs a higher quota. `acceptUnencryptedHttp` also
     * accepts `http` URLs: everyone on the way can then read the key and the URL of the result.
     */
    front: z
      .strictObject({
        timeout: integer({ min: 1, max: 300 }),
        domain: domain.optional(),
        acceptUnencryptedHttp: z.boolean().default(false),
      })
      .optional(),
    /**
     * Requests in five minutes above which WAF blocks an IP address, or a tenth of that without a key. `null` turns WAF
     * off. In production, the default is what one account may send.
     */
    wafRate: integer(WAF_RATES).nullable().optional(),
    /**
     * Runs tools in your VPC, and with `router` also the router and the site. Tools download sources, so the subnets need
     * a route to the internet (NAT). A browser runs scripts of strangers there, which `acceptBrowser` must accept.
     */
    network: z
      .strictObject({
        tools: z.array(z.enum(TOOLS)),
        router: z.boolean().default(false),
        acceptBrowser: z.boolean().default(false),
        subnetIds: idsOf('subnet'),
        securityGroupIds: idsOf('sg'),
      })
      .optional(),
    /** Offers the API only inside of VPCs, through these endpoints (`vpce-…`) of `execute-api`. */
    privateApi: z.strictObject({ vpcEndpointIds: idsOf('vpce') }).optional(),
    /** Prefixes in buckets of this AWS account and region that the router may read sources from and write results to. */
    buckets: z
      .strictObject({ read: z.array(prefix).default([]), write: z.array(prefix).default([]) })
      .prefault({}),
    /**
     * Makes objects that are put into buckets jobs: those below `prefix` that end with `suffix`, for an account that may use
     * them (`npm run keys -- buckets`). `query` has the parameters, such as `app=doc2any`, `outfile` the name of the result,
     * with `{name}` for that of the object, and `to` the prefix of the result. The bucket must send its events to EventBridge.
     */
    work: z
      .array(
        z.strictObject({
          bucket: z.string().min(3),
          prefix: affix.default(''),
          suffix: affix.default(''),
          account: z.string().min(1),
          query: z.string(),
          outfile: z.string().min(1),
          to: prefix.optional(),
        }),
      )
      .default([]),
    /** KMS key (ARN) that encrypts results, the key table, logs and alarms, instead of keys of AWS. */
    kmsKey: z
      .string()
      .regex(
        /^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/(mrk-[0-9a-f]{32}|[0-9a-f-]{36})$/,
        'Must be the ARN of a KMS key',
      )
      .optional(),
    /**
     * Minutes between calls of `/api/health` through the public URL, which raise an alarm if they fail twice. `null`
     * turns them off. 15 in production by default.
     */
    heartbeatMinutes: z.literal([1, 5, 10, 15, 30, 60]).nullable().optional(),
    /**
     * Queues or topics (ARNs) that receive the outcome of asynchronous direct invocations of tools. Each tool may
     * then send messages to them.
     */
    destinations: z
      .strictObject({ onSuccess: destination.optional(), onFailure: destination.optional() })
      .prefault({}),
    /** Reserved concurrency by function. Deployment fails in accounts with a quota of 10. */
    reserved: byFunction(100_000),
    /**
     * Provisioned concurrency by function, billed by the hour. For tools, it requires `tenantIsolation` to be off.
     */
    provisioned: byFunction(100_000),
  })
  .superRefine((settings, { addIssue }) => {
    const { provisioned, tenantIsolation, front, network, privateApi, conversionLimits, rateLimits } =
      settings;
    const warm = TOOLS.filter((name) => provisioned[name] !== undefined);
    const browsers = BROWSERS.filter((name) => network?.tools.includes(name));
    const maxConcurrent = maxConcurrentOf(settings);
    const refuse = (path: string, message: string) =>
      addIssue({ code: 'custom', path: path.split('.'), message });
    if (settings.work.length > 0 && !settings.jobs) refuse('work', 'needs jobs');
    if (settings.monthlyBudget !== undefined && settings.alarmEmail === undefined)
      refuse('monthlyBudget', 'needs alarmEmail, which the email is sent to');
    if (tenantIsolation && warm.length > 0) {
      const names = warm.join(', ');
      refuse(
        'provisioned',
        `cannot name ${names} while tenantIsolation is on: Lambda offers only one of the two`,
      );
    }
    if (!tenantIsolation && !settings.acceptSharedTenants) {
      const reason = 'a process that survives a conversion can then read the files of other accounts';
      refuse('tenantIsolation', `can be off only with acceptSharedTenants: true, because ${reason}`);
    }
    if (tenantIsolation && (rateLimits.concurrent ?? 0) > maxConcurrent) {
      const reason = `Lambda allows ${maxConcurrent} environments of each tool for all accounts together`;
      const quota = `accountConcurrency ${settings.accountConcurrency}`;
      refuse('rateLimits.concurrent', `must be at most ${maxConcurrent}: with ${quota}, ${reason}`);
    }
    if (browsers.length > 0 && !network!.acceptBrowser) {
      const reason = 'their browser runs scripts of strangers in your VPC';
      refuse(
        'network.tools',
        `can name ${browsers.join(', ')} only with network.acceptBrowser: true, because ${reason}`,
      );
    }
    if (privateApi && (front ?? settings.domain))
      refuse('privateApi', 'cannot be set together with front or domain');
    if (privateApi && settings.heartbeatMinutes && !network?.router)
      refuse('heartbeatMinutes', 'needs network.router, because a private API can be called only from a VPC');
    if (front && conversionLimits.seconds + FRONT_RESERVE > front.timeout) {
      const rule = `must be at most ${front.timeout - FRONT_RESERVE}, ${FRONT_RESERVE} seconds less than front.timeout`;
      refuse('conversionLimits.seconds', `${rule}: CloudFront gives up after that`);
    }
  })
  .transform((settings) => {
    const { production, rateLimits, privateApi, network, wafRate, heartbeatMinutes } = settings;
    const perWindow = 5 * (rateLimits.perMinute || UNLIMITED_PER_MINUTE);
    const rate = production ? Math.min(WAF_RATES.max, Math.max(WAF_RATES.min, perWindow)) : null;
    const isReachable = !privateApi || network?.router === true;
    const concurrent = rateLimits.concurrent ?? Math.min(50, maxConcurrentOf(settings));
    return {
      ...settings,
      rateLimits: { ...rateLimits, concurrent },
      wafRate: wafRate === undefined ? rate : wafRate,
      heartbeatMinutes:
        heartbeatMinutes === undefined && production && isReachable ? 15 : (heartbeatMinutes ?? null),
    };
  });

/** Returns the environments that each tool can have: the account's share of tenants, which is also half of its executions. */
function maxConcurrentOf({ accountConcurrency }: { readonly accountConcurrency: number }): number {
  return Math.max(1, Math.floor((TENANTS_PER_EXECUTION * accountConcurrency) / TOOLS.length));
}

export type Settings = z.output<typeof schema>;

/** Checks settings against the region of the stack, if it is known. @throws Error */
export function checkRegion({ tenantIsolation, front, monthlyBudget, site }: Settings, region = ''): void {
  const unavailable: ReadonlyArray<readonly [unknown, RegExp, string, string]> = [
    [
      tenantIsolation,
      /^(ap-southeast-6$|us-gov-|cn-)/,
      'Lambda offers no tenant isolation',
      'Set tenantIsolation to false',
    ],
    [front, /^(us-gov-|cn-)/, 'There is no CloudFront with functions', 'Remove front'],
    [monthlyBudget, /^us-gov-/, 'There are no budgets', 'Remove monthlyBudget'],
    [site?.cognito, /^cn-/, 'Cognito offers no user pools', 'Remove site.cognito'],
  ];
  for (const [isUsed, regions, what, remedy] of unavailable) {
    if (isUsed && regions.test(region))
      throw new Error(`${what} in ${region}. ${remedy}, or deploy to another region.`);
  }
}

/** File in which operators keep their settings. It is not tracked by git. */
const SETTINGS_FILE = join(import.meta.dirname, 'settings.json');

/**
 * Checks settings. Members of `stages[stage]` override members of the same name.
 * @throws Error with one sentence for each mistake.
 */
export function parseSettings(json: unknown, stage?: string): Settings {
  if (!isRecord(json)) throw new Error('The settings must be a JSON object.');
  const { stages = {}, ...general } = json;
  if (!isRecord(stages)) throw new Error('stages must be an object with the settings of each stage.');
  if (stage !== undefined && !Object.hasOwn(stages, stage))
    throw new Error(
      `There is no stage '${stage}' in the settings. To create it, add it to stages: "stages": { "${stage}": {} }.`,
    );
  const defaults = { production: stage === undefined || stage === 'prod' };
  const chosen = merge(general, stage === undefined ? {} : stages[stage]);
  const result = schema.safeParse(merge(defaults, chosen));
  if (result.success) return result.data;
  const issues = result.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'settings'}: ${message}.`,
  );
  throw new Error(`The settings are invalid. ${issues.join(' ')}`);
}

/**
 * Reads the settings of a stage from a file. Returns the defaults if the file has the default name and does not
 * exist.
 */
export function readSettings({
  file = SETTINGS_FILE,
  stage,
}: {
  file?: string;
  stage?: string;
} = {}): Settings {
  if (file === SETTINGS_FILE && !existsSync(file)) return parseSettings({}, stage);
  try {
    return parseSettings(JSON.parse(readFileSync(file, 'utf8')), stage);
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause });
  }
}

function merge(general: unknown, own: unknown): unknown {
  if (!isRecord(general) || !isRecord(own)) return own;
  const names = new Set([...Object.keys(general), ...Object.keys(own)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      Object.hasOwn(own, name) ? merge(general[name], own[name]) : general[name],
    ]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
