import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CfnOutput, Duration, Stack, Tags } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Metric, type MetricProps } from 'aws-cdk-lib/aws-cloudwatch';
import { type ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Architecture, Code, type IFunction, type ILayerVersion, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type {
  FunctionEnvironment,
  HeartbeatEnvironment,
  RouterEnvironment,
  SharedEnvironment,
  SiteEnvironment,
  ToolEnvironment,
} from '../../functions/platform/aws/environment.ts';
import { CACHE_PREFIX } from '../../functions/platform/result-cache.ts';
import { DEMO_PREFIX, ONCE_PREFIX, SAMPLE_PREFIX, UPLOAD_PREFIX } from '../../functions/platform/storage.ts';
import { defaultSizes, type Sizes } from '../../functions/platform/usage-report.ts';
import { ROUTER_MEMORY, SITE_PATH, TIMEOUTS } from '../../functions/shared/settings/aws.ts';
import { type RouterSettings, withoutZeros } from '../../functions/shared/settings/service.ts';
import type { Layer, Tool } from '../../functions/shared/tool.ts';
import * as tools from '../../functions/tools.ts';
import { Alarms, Queries } from './constructs/alarms.ts';
import { Endpoint } from './constructs/endpoint.ts';
import { Front } from './constructs/front.ts';
import { HEARTBEAT } from './constructs/heartbeat.ts';
import { LoginPool } from './constructs/login-pool.ts';
import { RateRule } from './constructs/rate-rule.ts';
import { placementOf, ServiceFunction, type ServiceFunctionProps } from './constructs/service-function.ts';
import { FailedObjects, KeyTable, ResultsBucket } from './constructs/storage.ts';
import { VERSION_FILE } from './outputs.ts';
import { checkRegion, type Settings } from './settings.ts';

export interface DocmillProps {
  /** Folder of the built functions and layers. */
  readonly artifacts: string;
  readonly settings: Settings;
}

const TOOLS: readonly Tool[] = Object.values(tools);

/** Prefixes of the objects that the router deletes, and of those that only expire. Results begin with 32 hexadecimal digits. */
const DELETED = [`${'?'.repeat(32)}/`, ONCE_PREFIX, UPLOAD_PREFIX];
const EXPIRING = [CACHE_PREFIX, DEMO_PREFIX, SAMPLE_PREFIX];

/** How much longer than a job a tool's function may run, in milliseconds. */
const TOOL_RESERVE = 30_000;

/** Demo conversions at the same time, as a share of the account's concurrency. Each takes two executions. */
const DEMO_SHARE = 0.1;

/** The whole service: endpoint → router → one function per tool → bucket. */
export class Docmill extends Construct {
  /** URL of the service, to which callers append `/api/`. */
  readonly url: string;
  /** Name of the metrics and the API, which CloudWatch would add up if two services had the same. */
  readonly #name: string;
  readonly #settings: Settings;
  readonly #artifacts: string;
  readonly #sizes: Sizes;
  readonly #key: IKey | undefined;
  readonly #layers = new Map<Layer, ILayerVersion>();
  readonly #tools: ReadonlyMap<string, ServiceFunction>;

  constructor(scope: Construct, id: string, { artifacts, settings }: DocmillProps) {
    super(scope, id);
    const stack = Stack.of(this);
    checkRegion(settings, stack.region);
    const version = readVersion(artifacts);
    const name = nameOf(this);
    this.#name = name;
    this.#settings = settings;
    this.#artifacts = artifacts;
    this.#sizes = sizesOf(settings);
    const key = settings.kmsKey === undefined ? undefined : Key.fromKeyArn(this, 'Key', settings.kmsKey);
    this.#key = key;
    const { resultDays: days, corsOrigins, site } = settings;
    const bucket = new ResultsBucket(this, 'Results', { days, key });
    const table =
      settings.keyTable === undefined
        ? new KeyTable(this, 'Keys', { isProtected: settings.production, key })
        : Table.fromTableName(this, 'Keys', settings.keyTable);
    const endpoint = new Endpoint(this, 'Endpoint', { ...settings, name, key });
    const gateway = `${endpoint.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`;
    const host = settings.domain?.name ?? gateway;
    const front =
      settings.front && new Front(this, 'Front', { host, hasSite: site !== null, ...settings.front });
    // Sessions and forms belong to one origin, which is that of the outermost host name.
    const origin = `https://${settings.front?.domain?.name ?? front?.distributionDomainName ?? host}`;
    this.url = origin;
    const siteUrl = `${origin}${SITE_PATH}`;
    const defaultSiteUrl = site ? siteUrl : 'https://example.com';
    bucket.allowUploads([...new Set([...corsOrigins, ...(site ? [origin] : [])])]);

    const ownHosts = [
      gateway,
      settings.domain?.name,
      front?.distributionDomainName,
      settings.front?.domain?.name,
    ].filter((name) => name !== undefined);
    const reach = { ownHosts, resultsUrl: `https://${bucket.bucketRegionalDomainName}/` };
    const functions = new Map(TOOLS.map((tool) => [tool.name, this.#addTool(tool, reach)] as const));
    this.#tools = functions;
    // Versions instead of aliases, so that during an update, and after a rollback, a router invokes the tools that it
    // was deployed with.
    const arns = Object.fromEntries([...functions].map(([name, { version }]) => [name, version.functionArn]));
    const shared: SharedEnvironment = {
      keyTable: table.tableName,
      ...(settings.showCosts && { sizes: this.#sizes }),
      ...(front && { frontSecret: front.secret }),
      version,
      ...this.#commonEnvironment(),
    };
    const environment: RouterEnvironment = {
      ...shared,
      resultsBucket: bucket.bucketName,
      toolFunctions: arns,
      isolated: settings.tenantIsolation,
      urlLifetime: settings.urlLifetime,
      settings: this.#routerSettings(defaultSiteUrl),
      ownHosts,
    };
    const jobs = settings.jobs && this.#addJobs(settings.jobs, environment);
    const router = this.#addFunction('router', {
      description: 'Reads requests, invokes tools, signs URLs.',
      timeout: TIMEOUTS.router,
      environment: {
        ...environment,
        ...(jobs && { jobs: { ...jobs.times, functionName: jobs.function.version.functionArn } }),
        ...(settings.traces && { traces: settings.traces }),
      } satisfies RouterEnvironment,
    });
    this.#allowSecrets(router, [settings.traces?.parameter]);
    this.#allowConversions(router, { bucket, table });
    router.allowInvoke([...functions.values()]);
    if (jobs) {
      this.#allowConversions(jobs.function, { bucket, table }, 'webhook#*');
      // It runs no job of an account that was disabled.
      jobs.function.allow(['dynamodb:GetItem'], [table.tableArn], leadingKeys('account#*'));
      jobs.function.allowInvoke([...functions.values()]);
      router.allowInvoke([jobs.function]);
    }
    const pages = site && this.#addSite(site, { origin, bucket, table, router, shared });
    // Under `exactOptionalPropertyTypes` the CDK's classes do not match its own interfaces.
    endpoint.connect(router.live as IFunction, {
      hasCors: corsOrigins.length > 0,
      site: pages?.live as IFunction | undefined,
    });
    const own = new Map([
      ['router', router],
      ...(jobs ? [['jobs', jobs.function] as const] : []),
      ...(pages ? [['site', pages] as const] : []),
      ...functions,
    ]);
    const watched = [...own].map(
      ([name, { live, logGroup }]) => [name, { functionName: live.lambda.functionName, logGroup }] as const,
    );
    new Alarms(this, 'Alarms', {
      functions: new Map(watched),
      tools: [...functions.keys()],
      apiName: endpoint.restApiName,
      namespace: name,
      key,
      settings,
    });
    const { monthlyBudget, alarmEmail } = settings;
    Tags.of(this).add('stack', name);
    if (monthlyBudget !== undefined && alarmEmail !== undefined) {
      new CfnBudget(this, 'Budget', {
        budget: {
          budgetType: 'COST',
          timeUnit: 'MONTHLY',
          budgetLimit: { amount: monthlyBudget, unit: 'USD' },
          // A tag that only this stack has. Several tags would be alternatives.
          costFilters: { TagKeyValue: [`user:stack$${name}`] },
        },
        notificationsWithSubscribers: [
          {
            notification: { notificationType: 'ACTUAL', comparisonOperator: 'GREATER_THAN', threshold: 100 },
            subscribers: [{ subscriptionType: 'EMAIL', address: alarmEmail }],
          },
        ],
      });
    }
    const minutes = settings.heartbeatMinutes;
    if (minutes !== null) this.#addHeartbeat(minutes, `${origin}/api/health`);
    const accessLog = endpoint.accessLog ? [endpoint.accessLog] : [];
    const logs = [...[...own.values()].map(({ logGroup }) => logGroup), ...accessLog];
    new Queries(this, 'Queries', { folder: name, logs });
    if (settings.wafRate !== null) {
      const { stageArn } = endpoint.deploymentStage;
      new RateRule(this, 'RateRule', { rate: settings.wafRate, stageArn, frontSecret: front?.secret });
    }

    this.#output('BaseUrl', origin, 'Base URL. Send conversion requests to this URL followed by /api/.');
    if (site) this.#output('SiteUrl', siteUrl, 'Pages to try a conversion, and for accounts.');
    if (front) {
      const scheme = settings.front?.acceptUnencryptedHttp ? 'http' : 'https';
      this.#output('FrontUrl', `${scheme}://${front.distributionDomainName}`, 'URL of CloudFront.');
    }
    if (endpoint.domainTarget !== undefined)
      this.#output('DomainTarget', endpoint.domainTarget, 'Target of the DNS record of your domain.');
    this.#output('ResultsBucket', bucket.bucketName, 'Stores the results.');
    this.#output('ResultsUrl', reach.resultsUrl, 'URL of the bucket.');
    this.#output('KeyTable', table.tableName, 'Stores the hashes of the API keys.');
    this.#output('Sizes', JSON.stringify(this.#sizes), 'Memory of the functions, for the prices of usage.');
    for (const [name, { live, logGroup }] of own) {
      this.#output(`${name}Log`, logGroup.logGroupName, `Log group of ${name}.`);
      if (functions.has(name))
        this.#output(`${name}Function`, live.functionArn, `Alias for direct invocations of ${name}.`);
    }
    this.#output(
      'CreateKey',
      `npm run keys -- create --name first --table ${table.tableName} --region ${stack.region}`,
      'Creates an API key.',
    );
  }

  /** Allows `principal` to invoke every tool directly, without an API key. */
  grantConvert(principal: IGrantable): void {
    for (const tool of this.#tools.keys()) this.grantInvoke(principal, tool);
  }

  /** Allows `principal` to invoke a tool directly. It may name only the alias: versions trust their caller. */
  grantInvoke(grantee: IGrantable, tool: string): Grant {
    const found = this.#tools.get(tool);
    if (!found)
      throw new Error(`There is no tool '${tool}'. The tools are ${[...this.#tools.keys()].join(', ')}.`);
    const resourceArns = [found.live.functionArn];
    return Grant.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns });
  }

  /** Returns a metric of the service, such as `Calls` with the dimensions `tool` and `code`. */
  metric(metricName: string, props: Partial<MetricProps> = {}): Metric {
    return new Metric({ namespace: this.#name, metricName, ...props });
  }

  /** Adds the function of the site, which alone reads and writes accounts, sessions and the audit log. */
  #addSite(
    { signUp, mail, openId, cognito }: NonNullable<Settings['site']>,
    { origin, bucket, table, router, shared }: SiteParts,
  ): ServiceFunction {
    const { rateLimits, supportUrl, resultDays } = this.#settings;
    const provider =
      cognito && new LoginPool(this, 'Login', { ...cognito, signUp, url: `${origin}${SITE_PATH}` }).settings;
    const site = this.#addFunction('site', {
      description: 'Serves the pages.',
      timeout: TIMEOUTS.site,
      environment: {
        ...shared,
        router: router.version.functionArn,
        defaultLimits: withoutZeros(rateLimits),
        supportUrl,
        origin,
        resultsOrigin: `https://${bucket.bucketRegionalDomainName}`,
        resultHours: 24 * resultDays,
        signUp,
        ...(mail && { mail }),
        ...((provider ?? openId) && { openId: provider ?? openId }),
      } satisfies SiteEnvironment,
    });
    const actions = ['GetItem', 'BatchGetItem', 'UpdateItem', 'PutItem', 'DeleteItem', 'Scan'];
    site.allow(
      actions.map((action) => `dynamodb:${action}`),
      [table.tableArn],
    );
    this.#allowKey(site);
    this.#allowSecrets(site, [mail?.parameter, openId?.secretParameter]);
    // Conversions of members run in the router.
    site.allowInvoke([router]);
    return site;
  }

  /** Adds the function that runs jobs, with the permissions of the router to convert. */
  #addJobs({ seconds }: NonNullable<Settings['jobs']>, environment: RouterEnvironment) {
    const times = { conversionTime: 1000 * seconds };
    const { work } = this.#settings;
    const failures = work.length > 0 ? new FailedObjects(this, 'ObjectFailures', this.#key) : undefined;
    const added = this.#addFunction('jobs', {
      failures,
      description: 'Runs jobs and delivers webhooks.',
      timeout: TIMEOUTS.jobs,
      // A job may be queued for a day, and its webhook is delivered for another one.
      durableDays: 3,
      environment: {
        ...environment,
        jobs: times,
        ...(work.length > 0 && { work }),
      } satisfies RouterEnvironment,
    });
    for (const [index, { bucket, prefix, suffix }] of work.entries())
      new Rule(this, `Work${index}`, {
        eventPattern: {
          source: ['aws.s3'],
          detailType: ['Object Created'],
          detail: { bucket: { name: [bucket] }, object: { key: [{ wildcard: `${prefix}*${suffix}` }] } },
        },
        targets: [new LambdaTarget(added.live as IFunction, { deadLetterQueue: failures! })],
      });
    if (failures)
      this.#output('FailedObjects', failures.queueUrl, 'Queue of objects that were not converted.');
    return { function: added, times };
  }

  /** Allows a function to convert as the router does, and to use items with further prefixes. */
  #allowConversions(
    user: ServiceFunction,
    { bucket, table }: Pick<SiteParts, 'bucket' | 'table'>,
    ...others: readonly string[]
  ): void {
    // The router signs with its own permissions: forms that store results, and URLs that read them. It cannot list the
    // bucket, so it finds only objects whose names it knows. It deletes uploads whose conversion has ended, and results
    // at their owner's request.
    const objects = (prefixes: string[]) => prefixes.map((prefix) => bucket.arnForObjects(`${prefix}*`));
    user.allow(['s3:PutObject', 's3:GetObject', 's3:DeleteObject'], objects(DELETED));
    user.allow(['s3:PutObject', 's3:GetObject'], objects(EXPIRING));
    for (const prefix of [...DELETED, ...EXPIRING]) {
      const id = Stack.of(this).getLogicalId(bucket.node.defaultChild as CfnBucket);
      user.acknowledgeStar(`<${id}.Arn>/${prefix}*`, 'All objects with a prefix.');
    }
    // The router finds keys by their hash, and counts. It cannot scan, so it finds no other items.
    const counted = [
      'limits#*',
      'usage#*',
      'idempotent#*',
      'job#*',
      'jobs#*',
      'health',
      'health-check',
      ...others,
    ];
    const keyRows = [table.tableArn];
    user.allow(
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem'],
      keyRows,
      leadingKeys('key_*', 'buckets#*', ...counted),
    );
    user.allow(['dynamodb:UpdateItem'], keyRows, leadingKeys('failed#*', 'total#*', 'counted', ...counted));
    user.allow(['dynamodb:UpdateItem'], keyRows, {
      ...leadingKeys('key_*'),
      // It notes when a key was last used, and can neither create a key nor change its limits.
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['id', 'created', 'lastUsed'] },
    });
    this.#allowPrefixes(user, 's3:GetObject', this.#settings.buckets.read);
    this.#allowPrefixes(user, 's3:PutObject', this.#settings.buckets.write);
    this.#allowKey(user);
  }

  /** Allows a function an action below prefixes in the operator's own buckets. */
  #allowPrefixes(user: ServiceFunction, action: string, urls: readonly string[]): void {
    const { partition, account } = Stack.of(this);
    const objects = urls.map((url) => `:s3:::${url.slice('s3://'.length)}*`);
    const arns = objects.map((path) => `arn:${partition}${path}`);
    // Somebody else could create a bucket with the name of one that was deleted.
    const isOwn = { StringEquals: { 'aws:ResourceAccount': account } };
    if (arns.length > 0) user.allow([action], arns, isOwn);
    for (const path of objects)
      user.acknowledgeStar(`arn:<AWS::Partition>${path}`, 'All objects with a prefix.');
  }

  /** Allows a function to use the bucket and the table that a key of the operator encrypts. */
  #allowKey(user: ServiceFunction): void {
    const actions = ['Encrypt', 'Decrypt', 'ReEncryptFrom', 'ReEncryptTo', 'GenerateDataKey', 'DescribeKey'];
    if (this.#key)
      user.allow(
        actions.map((action) => `kms:${action}`),
        [this.#key.keyArn],
      );
  }

  /** Checks the health of the service through its public URL, so that an outage is noticed without any caller. */
  #addHeartbeat(minutes: number, url: string): void {
    const { live } = this.#addFunction('heartbeat', {
      description: 'Checks the health of the service.',
      code: HEARTBEAT,
      memory: 128,
      timeout: 120_000,
      environment: { url, metricsNamespace: this.#name } satisfies HeartbeatEnvironment,
    });
    // A late call would say nothing about that time.
    const once = { retryAttempts: 0, maxEventAge: Duration.minutes(1) };
    new Rule(this, 'HeartbeatRule', {
      schedule: Schedule.rate(Duration.minutes(minutes)),
      targets: [new LambdaTarget(live as IFunction, once)],
    });
  }

  #allowSecrets(reader: ServiceFunction, names: ReadonlyArray<string | undefined>): void {
    const parameters = names.filter((name) => name !== undefined);
    if (parameters.length === 0) return;
    const arnOf = (name: string) =>
      Stack.of(this).formatArn({ service: 'ssm', resource: `parameter${name}` });
    reader.allow(['ssm:GetParameters'], parameters.map(arnOf));
  }

  #addTool(tool: Tool, reach: Pick<ToolEnvironment, 'ownHosts' | 'resultsUrl'>): ServiceFunction {
    return this.#addFunction(tool.name, {
      description: tool.summary,
      // The layers are built for this architecture.
      architecture: Architecture.X86_64,
      // The sandbox is uploaded with the fonts.
      layers: tool.sizing.layers.filter((layer) => layer !== 'sandbox').map((layer) => this.#layer(layer)),
      // Enough for a source, inflated layers and all results of one conversion.
      temporaryMegabytes: 2048,
      timeout: Math.max(TIMEOUTS.tool, 1000 * (this.#settings.jobs?.seconds ?? 0) + TOOL_RESERVE),
      isolated: this.#settings.tenantIsolation,
      environment: {
        ...reach,
        isolated: this.#settings.tenantIsolation,
        ...this.#commonEnvironment(),
      } satisfies ToolEnvironment,
      destinations: this.#settings.destinations,
    });
  }

  #addFunction(
    name: string,
    props: Pick<ServiceFunctionProps, 'description' | 'timeout' | 'environment'> &
      Partial<ServiceFunctionProps>,
  ): ServiceFunction {
    const { logDays, memory, reserved, provisioned, network } = this.#settings;
    const isTool = TOOLS.some((tool) => tool.name === name);
    const isInNetwork = isTool ? network?.tools.includes(name) : network?.router;
    return new ServiceFunction(this, name, {
      // Functions without native code run on the cheaper architecture.
      architecture: Architecture.ARM_64,
      layers: [],
      temporaryMegabytes: 512,
      isolated: false,
      ...(network && isInNetwork && { placement: placementOf(this, network) }),
      key: this.#key,
      logDays,
      reserved: reserved[name],
      provisioned: provisioned[name],
      memory: this.#sizes.memory[name] ?? memory[name] ?? ROUTER_MEMORY,
      ...props,
      code: props.code ?? Code.fromAsset(join(this.#artifacts, 'functions', name)),
    });
  }

  #routerSettings(siteUrl: string): RouterSettings {
    const { accountUrl, supportUrl, corsOrigins, demo, rateLimits, logIp, accountConcurrency } =
      this.#settings;
    const concurrent = Math.max(1, Math.floor(DEMO_SHARE * accountConcurrency));
    return {
      contact: {
        accountUrl: accountUrl ?? `${siteUrl}/account`,
        supportUrl: supportUrl ?? `${siteUrl}/support`,
        hasDemo: demo !== null,
      },
      defaultLimits: withoutZeros(rateLimits),
      ...(demo && { demo: { ...demo, concurrent } }),
      corsOrigins,
      logsIp: logIp,
    };
  }

  #commonEnvironment(): FunctionEnvironment {
    const { sourceMegabytes, resultMegabytes, seconds } = this.#settings.conversionLimits;
    return {
      metricsNamespace: this.#name,
      conversionLimits: {
        sourceBytes: 1e6 * sourceMegabytes,
        resultBytes: 1e6 * resultMegabytes,
        conversionTime: 1000 * seconds,
      },
    };
  }

  #layer(name: Layer): ILayerVersion {
    const layer =
      this.#layers.get(name) ??
      new LayerVersion(this, `${name}Layer`, {
        code: this.#layerCode(name),
        compatibleArchitectures: [Architecture.X86_64],
        description: `The contents of /opt/${name}.`,
      });
    this.#layers.set(name, layer);
    return layer;
  }

  /**
   * Returns the code of a layer. A build in a container has added an archive, because file permissions get lost on
   * the way to Windows.
   */
  #layerCode(name: Layer): Code {
    const folder = join(this.#artifacts, 'layers', name);
    const archive = `${folder}.zip`;
    const path = existsSync(archive) ? archive : folder;
    // The CDK prints the name when it starts and ends the upload, which takes minutes for the largest.
    const displayName = `layer ${name}, ${Math.ceil(bytesOf(folder) / 1e6)} MB unzipped`;
    return Code.fromAsset(path, { exclude: ['.recipe'], displayName });
  }

  #output(id: string, value: string, description: string): void {
    new CfnOutput(this, id, { value, description });
  }
}

/** Allows only items whose IDs have one of these patterns. */
function leadingKeys(...ids: string[]) {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ids } };
}

/** Returns the name of the stack with those of the constructs in it, of which `Default` has none. */
function nameOf({ node }: Construct): string {
  const scopes = node.scopes.slice(node.scopes.findLastIndex(Stack.isStack) + 1);
  const names = scopes.map((scope) => scope.node.id).filter((id) => id !== 'Default');
  return [Stack.of(scopes[0]!).stackName, ...names].join('-');
}

interface SiteParts {
  readonly origin: string;
  readonly bucket: ResultsBucket;
  readonly table: Pick<ITable, 'tableArn'>;
  readonly router: ServiceFunction;
  readonly shared: SharedEnvironment;
}

/** Returns the version that the build has written beside the functions. @throws Error if nothing was built */
function readVersion(artifacts: string): RouterEnvironment['version'] {
  const file = join(artifacts, VERSION_FILE);
  if (!existsSync(file)) throw new Error(`There are no built functions and layers in ${artifacts}.`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Returns the bytes of all files in a folder. */
function bytesOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.reduce((sum, path) => sum + lstatSync(join(folder, path)).size, 0);
}

/** Returns the sizes of all functions with these settings. */
function sizesOf({ memory, tenantIsolation }: Settings): Sizes {
  const sizes = Object.entries(defaultSizes(TOOLS).memory).map(([name, size]) => [
    name,
    memory[name] ?? size,
  ]);
  return { memory: Object.fromEntries(sizes), isolated: tenantIsolation };
}
