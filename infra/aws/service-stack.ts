import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Architecture, Code, type IFunction, type ILayerVersion, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type {
  FunctionEnvironment,
  RouterEnvironment,
  SiteEnvironment,
  ToolEnvironment,
} from '../../functions/platform/aws/environment.ts';
import { defaultSizes, type Sizes } from '../../functions/platform/usage-report.ts';
import { SITE_PATH, TIMEOUTS } from '../../functions/shared/settings/aws.ts';
import { type RouterSettings, withoutZeros } from '../../functions/shared/settings/service.ts';
import type { Layer, Tool } from '../../functions/shared/tool.ts';
import { readVersion } from '../version.ts';
import { Alarms, Queries } from './constructs/alarms.ts';
import { Endpoint } from './constructs/endpoint.ts';
import { Front } from './constructs/front.ts';
import { LoginPool } from './constructs/login-pool.ts';
import { RateRule } from './constructs/rate-rule.ts';
import { placementOf, ServiceFunction, type ServiceFunctionProps } from './constructs/service-function.ts';
import { KeyTable, ResultsBucket } from './constructs/storage.ts';
import type { Settings } from './settings.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: Settings;
  readonly tools: readonly Tool[];
  /** Folder of the built `functions/` and `layers/`. */
  readonly artifacts: string;
}

/** Demo conversions at the same time, as a share of the account's concurrency. Each takes two executions. */
const DEMO_SHARE = 0.1;

/** The whole service: endpoint → router → one function per tool → bucket. */
export class ServiceStack extends Stack {
  readonly #settings: Settings;
  readonly #artifacts: string;
  readonly #sizes: Sizes;
  readonly #layers = new Map<Layer, ILayerVersion>();

  constructor(scope: Construct, id: string, { settings, tools, artifacts, ...props }: ServiceStackProps) {
    super(scope, id, props);
    this.#settings = settings;
    this.#artifacts = artifacts;
    this.#sizes = sizesOf(settings, tools);
    const { resultDays: days, corsOrigins, site } = settings;
    const bucket = new ResultsBucket(this, 'Results', { days });
    const table =
      settings.keyTable === undefined
        ? new KeyTable(this, 'Keys')
        : Table.fromTableName(this, 'Keys', settings.keyTable);
    const endpoint = new Endpoint(this, 'Endpoint', settings);
    const gateway = `${endpoint.restApiId}.execute-api.${this.region}.${this.urlSuffix}`;
    const host = settings.domain?.name ?? gateway;
    const front =
      settings.front && new Front(this, 'Front', { host, hasSite: site !== null, ...settings.front });
    // Sessions and forms belong to one origin, which is that of the outermost host name.
    const origin = `https://${settings.front?.domain?.name ?? front?.distributionDomainName ?? host}`;
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
    const functions = new Map(tools.map((tool) => [tool.name, this.#addTool(tool, reach)] as const));
    // Versions instead of aliases, so that during an update, and after a rollback, a router invokes the tools that it
    // was deployed with.
    const arns = Object.fromEntries([...functions].map(([name, { version }]) => [name, version.functionArn]));
    const router = this.#addFunction('router', {
      description: 'Reads requests, invokes tools, signs URLs.',
      // Functions without native code run on the cheaper architecture.
      architecture: Architecture.ARM_64,
      layers: [],
      temporaryMegabytes: 512,
      timeout: TIMEOUTS.router,
      isolated: false,
      environment: {
        resultsBucket: bucket.bucketName,
        keyTable: table.tableName,
        toolFunctions: arns,
        isolated: settings.tenantIsolation,
        ...(settings.showCosts && { sizes: this.#sizes }),
        urlLifetime: settings.urlLifetime,
        settings: this.#routerSettings(defaultSiteUrl),
        ...(site && { site: this.#siteEnvironment(site, origin, bucket) }),
        ...(settings.traces && { traces: settings.traces }),
        ...(front && { frontSecret: front.secret }),
        version: readVersion((layer) => join(artifacts, 'layers', layer, layer)),
        ...this.#commonEnvironment(),
      } satisfies RouterEnvironment,
    });
    // The router signs with its own permissions: forms that store results, and URLs that read them. It deletes uploads
    // whose conversion has ended, and results at their owner's request.
    router.allow(['s3:PutObject', 's3:GetObject', 's3:DeleteObject'], [bucket.arnForObjects('*')]);
    router.acknowledgeStar(
      `<${this.getLogicalId(bucket.node.defaultChild as CfnBucket)}.Arn>/*`,
      'All objects of one bucket.',
    );
    // Required to find keys and to count calls and usage. Without the site, only the operator creates keys.
    router.allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], [table.tableArn]);
    if (site) {
      router.allow(['dynamodb:PutItem', 'dynamodb:DeleteItem', 'dynamodb:Scan'], [table.tableArn]);
    }
    const secrets = [site?.mail?.parameter, site?.openId?.secretParameter, settings.traces?.parameter].filter(
      (name) => name !== undefined,
    );
    if (secrets.length > 0)
      router.allow(
        ['ssm:GetParameters'],
        secrets.map((name) => this.formatArn({ service: 'ssm', resource: `parameter${name}` })),
      );
    router.allowInvoke([...functions.values()]);
    // Under `exactOptionalPropertyTypes` the CDK's classes do not match its own interfaces.
    endpoint.connect(router.live as IFunction, {
      hasCors: corsOrigins.length > 0,
      hasSite: site !== null,
    });
    const watched = [['router', router] as const, ...functions].map(
      ([name, { live, logGroup }]) => [name, { functionName: live.lambda.functionName, logGroup }] as const,
    );
    new Alarms(this, 'Alarms', {
      functions: new Map(watched),
      tools: [...functions.keys()],
      apiName: endpoint.restApiName,
      namespace: this.stackName,
      accountConcurrency: settings.accountConcurrency,
      conversionSeconds: settings.conversionLimits.seconds,
      email: settings.alarmEmail,
    });
    const { monthlyBudget, alarmEmail } = settings;
    if (monthlyBudget !== undefined && alarmEmail !== undefined) {
      new CfnBudget(this, 'Budget', {
        budget: {
          budgetType: 'COST',
          timeUnit: 'MONTHLY',
          budgetLimit: { amount: monthlyBudget, unit: 'USD' },
          costFilters: { TagKeyValue: ['user:service$docmill'] },
        },
        notificationsWithSubscribers: [
          {
            notification: { notificationType: 'ACTUAL', comparisonOperator: 'GREATER_THAN', threshold: 100 },
            subscribers: [{ subscriptionType: 'EMAIL', address: alarmEmail }],
          },
        ],
      });
    }
    const accessLog = endpoint.accessLog ? [endpoint.accessLog] : [];
    const logs = [...[router, ...functions.values()].map(({ logGroup }) => logGroup), ...accessLog];
    new Queries(this, 'Queries', { folder: this.stackName, logs });
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
    this.#output('KeyTable', table.tableName, 'Stores the hashes of the API keys.');
    this.#output('Sizes', JSON.stringify(this.#sizes), 'Memory of the functions, for the prices of usage.');
    this.#output('RouterFunction', router.live.functionArn, 'Alias to move for a rollback.');
    this.#output('routerLog', router.logGroup.logGroupName, 'Log group of the router.');
    for (const [name, { live, logGroup }] of functions) {
      this.#output(`${name}Log`, logGroup.logGroupName, `Log group of ${name}.`);
      this.#output(`${name}Function`, live.functionArn, `Alias for direct invocations of ${name}.`);
    }
    this.#output(
      'CreateKey',
      `npm run keys -- create --name first --table ${table.tableName} --region ${this.region}`,
      'Creates an API key.',
    );
  }

  #siteEnvironment(
    { signUp, mail, openId, cognito }: NonNullable<Settings['site']>,
    origin: string,
    bucket: ResultsBucket,
  ): SiteEnvironment {
    const provider =
      cognito && new LoginPool(this, 'Login', { ...cognito, signUp, url: `${origin}${SITE_PATH}` }).settings;
    return {
      origin,
      resultsOrigin: `https://${bucket.bucketRegionalDomainName}`,
      resultHours: 24 * this.#settings.resultDays,
      signUp,
      ...(mail && { mail }),
      ...((provider ?? openId) && { openId: provider ?? openId }),
    };
  }

  #addTool(tool: Tool, reach: Pick<ToolEnvironment, 'ownHosts' | 'resultsUrl'>): ServiceFunction {
    const { network } = this.#settings;
    return this.#addFunction(tool.name, {
      description: tool.summary,
      // The layers are built for this architecture.
      architecture: Architecture.X86_64,
      // The sandbox is uploaded with the fonts.
      layers: tool.sizing.layers.filter((layer) => layer !== 'sandbox').map((layer) => this.#layer(layer)),
      // Enough for a source, inflated layers and all results of one conversion.
      temporaryMegabytes: 2048,
      timeout: TIMEOUTS.tool,
      isolated: this.#settings.tenantIsolation,
      environment: {
        ...reach,
        isolated: this.#settings.tenantIsolation,
        ...this.#commonEnvironment(),
      } satisfies ToolEnvironment,
      destinations: this.#settings.destinations,
      ...(network?.tools.includes(tool.name) && { placement: placementOf(this, network) }),
    });
  }

  #addFunction(
    name: string,
    props: Omit<ServiceFunctionProps, 'code' | 'memory' | 'logDays' | 'reserved' | 'provisioned'>,
  ): ServiceFunction {
    const { logDays, reserved, provisioned } = this.#settings;
    return new ServiceFunction(this, name, {
      ...props,
      code: join(this.#artifacts, 'functions', name),
      memory: this.#sizes.memory[name]!,
      logDays,
      reserved: reserved[name],
      provisioned: provisioned[name],
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
      // CloudWatch adds up the metrics of a namespace, so each stage needs its own namespace.
      metricsNamespace: this.stackName,
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

/** Returns the bytes of all files in a folder. */
function bytesOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.reduce((sum, path) => sum + lstatSync(join(folder, path)).size, 0);
}

/** Returns the sizes of all functions with these settings. */
function sizesOf({ memory, tenantIsolation }: Settings, tools: readonly Tool[]): Sizes {
  const sizes = Object.entries(defaultSizes(tools).memory).map(([name, size]) => [
    name,
    memory[name] ?? size,
  ]);
  return { memory: Object.fromEntries(sizes), isolated: tenantIsolation };
}
