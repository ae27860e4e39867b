import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { CURRENTLY_RECOMMENDED_FLAGS } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_CACHE } from '../../../functions/conversion/request.ts';
import { FRONT_HEADER, TIMEOUTS, VIEWER_HEADER } from '../../../functions/shared/settings/aws.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { readStage } from '../../../infra/aws/outputs.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { parseSettings, type Settings } from '../../../infra/aws/settings.ts';
import { createArtifacts } from './artifacts.ts';
import { createApp } from './create-app.ts';
import { environmentOf } from './environment.ts';

const settings = parseSettings({});

const NAMES = Object.keys(tools);
const cdk = JSON.parse(readFileSync(join(import.meta.dirname, '../../../cdk.json'), 'utf8'));

/** Every option on. */
const EVERYTHING: Settings = {
  ...settings,
  domain: { name: 'convert.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/a' },
  front: { timeout: 120, acceptUnencryptedHttp: true },
  conversionLimits: { ...settings.conversionLimits, seconds: 110 },
  corsOrigins: ['https://example.com'],
  demo: { perAddress: 5, perHour: 60 },
  logIp: true,
  accessLog: { role: 'create' },
  traces: { endpoint: 'https://collector.example.com', parameter: '/docmill/collector' },
  destinations: {
    onSuccess: 'arn:aws:sqs:us-east-1:123456789012:done',
    onFailure: 'arn:aws:sns:us-east-1:123456789012:failed',
  },
  alarmEmail: 'operator@example.com',
  network: {
    tools: ['doc2any', 'imageproc'],
    router: false,
    acceptBrowser: false,
    subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
  reserved: { doc2any: 20 },
  buckets: { read: ['s3://files/in/'], write: [] },
  work: [
    {
      bucket: 'files',
      prefix: 'in/',
      suffix: '.docx',
      account: 'a',
      query: 'app=doc2any',
      outfile: '{name}.pdf',
    },
  ],
  tenantIsolation: false,
  acceptSharedTenants: true,
  provisioned: { router: 1, html2pdf: 2 },
  accountConcurrency: 1000,
  memory: { doc2any: 4096 },
  site: {
    signUp: 'open',
    mail: { from: 'docmill@example.com', parameter: '/docmill/smtp' },
    cognito: { domain: 'docmill-login' },
  },
};

const FRONTED = parseSettings({ front: { timeout: 120 }, conversionLimits: { seconds: 110 } });

const { artifacts, remove } = createArtifacts();
afterAll(remove);

const synthesized = new Map<string, Template>();
let template: Template;
beforeAll(() => {
  template = synthesize(settings);
});

/** Synthesizes a stack with these settings, once. */
function synthesize(chosen: Settings): Template {
  const key = JSON.stringify(chosen);
  const made = synthesized.get(key) ?? synthesizeAll({ test: chosen }).test!;
  synthesized.set(key, made);
  return made;
}

/**
 * Synthesizes the stacks of one app with all checks of cdk-nag and the flags of `cdk.json`; throws on a finding without a reason, and on
 * what the CDK warns of.
 */
function synthesizeAll(stacks: Readonly<Record<string, Settings>>): Readonly<Record<string, Template>> {
  const app = createApp({ context: cdk.context });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const made = Object.entries(stacks).map(([name, chosen]) => {
    const props = { settings: chosen, artifacts };
    return [name, new ServiceStack(app, name, props)] as const;
  });
  app.synth();
  for (const [, stack] of made)
    expect(Annotations.fromStack(stack).findWarning('*', Match.anyValue())).toEqual([]);
  return Object.fromEntries(made.map(([name, stack]) => [name, Template.fromStack(stack)]));
}

describe('a stack whose layers were built in a container', () => {
  const outdir = join(tmpdir(), `synthesized-${process.pid}`);
  afterAll(() => rmSync(outdir, { recursive: true, force: true }));

  it('uploads archives, which keep permissions on Windows, under names for people, and names the engines', () => {
    writeFileSync(join(artifacts, 'layers/pdf.zip'), 'an archive');
    writeFileSync(join(artifacts, 'version.json'), '{ "engines": { "pdfium": "4:25.2.3-2" } }');
    const app = createApp({ outdir });

    const stack = new ServiceStack(app, 'test', { settings, artifacts });
    app.synth();

    rmSync(join(artifacts, 'layers/pdf.zip'));
    writeFileSync(join(artifacts, 'version.json'), '{}');
    const archives = readdirSync(outdir).filter((name) => /^asset\..*\.zip$/.test(name));
    expect(archives.map((name) => readFileSync(join(outdir, name), 'utf8'))).toEqual(['an archive']);
    // The CDK prints this name as progress of the upload.
    expect(readFileSync(join(outdir, 'test.assets.json'), 'utf8')).toContain('"layer pdf, 1 MB unzipped"');
    const { version } = environmentOf(Template.fromStack(stack), 'router');
    expect(version).toEqual({ engines: { pdfium: '4:25.2.3-2' } });
  });
});

describe('the stack', () => {
  it('gives each role exactly these rights', () => {
    const stored = (prefix: string) => `Results.Arn/${prefix}/*`;
    const functionsOf = (names: string[]) => names.map((name) => `${name}Function.Arn:*`).join(' ');
    const converting = [
      `Allow s3:DeleteObject,s3:GetObject,s3:PutObject on ${['?'.repeat(32), 'once', 'uploads'].map(stored).join(' ')}`,
      `Allow s3:GetObject,s3:PutObject on ${['cache', 'demo', 'samples'].map(stored).join(' ')}`,
      'Allow dynamodb:BatchGetItem,dynamodb:GetItem on Keys.Arn',
      'Allow dynamodb:UpdateItem on Keys.Arn',
      'Allow dynamodb:UpdateItem on Keys.Arn',
    ];
    expect(rightsOf(template)).toEqual({
      ...Object.fromEntries(
        NAMES.map((name) => [name, [`Allow logs:CreateLogStream,logs:PutLogEvents on ${name}Log.Arn`]]),
      ),
      router: [
        'Allow logs:CreateLogStream,logs:PutLogEvents on routerLog.Arn',
        ...converting,
        `Allow lambda:InvokeFunction on ${functionsOf([...NAMES, 'jobs'].toSorted())}`,
      ],
      jobs: [
        'Allow logs:CreateLogStream,logs:PutLogEvents on jobsLog.Arn',
        ...converting,
        'Allow dynamodb:GetItem on Keys.Arn',
        `Allow lambda:InvokeFunction on ${functionsOf(NAMES)}`,
        'Allow lambda:CheckpointDurableExecution,lambda:GetDurableExecutionState on jobsFunction.Arn:*',
      ],
      heartbeat: ['Allow logs:CreateLogStream,logs:PutLogEvents on heartbeatLog.Arn'],
      site: [
        'Allow logs:CreateLogStream,logs:PutLogEvents on siteLog.Arn',
        'Allow dynamodb:BatchGetItem,dynamodb:DeleteItem,dynamodb:GetItem,dynamodb:PutItem,dynamodb:Scan,dynamodb:UpdateItem on Keys.Arn',
        'Allow lambda:InvokeFunction on routerFunction.Arn:*',
      ],
    });
    expect(template.findResources('AWS::IAM::ManagedPolicy')).toEqual({});
    for (const role of Object.values(template.findResources('AWS::IAM::Role'))) {
      expect(role.Properties.ManagedPolicyArns).toBeUndefined();
    }
  });

  it('lets only the gateway call the router and the site', () => {
    const permissions = Object.values(template.findResources('AWS::Lambda::Permission')).filter(
      ({ Properties }) => !Properties.FunctionName.Ref.startsWith('heartbeat'),
    );

    expect(new Set(permissions.map(({ Properties }) => Properties.Principal))).toEqual(
      new Set(['apigateway.amazonaws.com']),
    );
    expect(JSON.stringify(permissions[0]!.Properties.SourceArn)).toContain('execute-api');
  });

  it('serves the root of a regional API whose stage is called api, streaming', () => {
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
      BinaryMediaTypes: ['*/*'],
    });
    template.hasResourceProperties('AWS::ApiGateway::Stage', { StageName: 'api' });
    template.resourceCountIs('AWS::ApiGateway::Method', 17);
    template.hasResourceProperties('AWS::ApiGateway::Resource', { PathPart: 'openapi.json' });
    template.hasResourceProperties('AWS::ApiGateway::Method', {
      HttpMethod: 'ANY',
      AuthorizationType: 'NONE',
      Integration: {
        Type: 'AWS_PROXY',
        ResponseTransferMode: 'STREAM',
        TimeoutInMillis: 300_000,
        Uri: { 'Fn::Join': ['', Match.arrayWith(['/response-streaming-invocations'])] },
      },
    });
  });

  it('makes each layer time out before the one above it', () => {
    const timeouts = Object.entries(template.findResources('AWS::Lambda::Function')).map(
      ([id, { Properties }]) => [id.replace(/Function[0-9A-F]{8}$/, ''), Properties.Timeout] as const,
    );

    expect(Object.fromEntries(timeouts)).toEqual({
      router: 290,
      site: 295,
      heartbeat: 120,
      jobs: 60,
      // A job may take longer than a request.
      ...Object.fromEntries(NAMES.map((name) => [name, 900])),
    });
    const chain = [
      TIMEOUTS.gateway,
      TIMEOUTS.site,
      TIMEOUTS.router,
      TIMEOUTS.wait,
      TIMEOUTS.tool,
      CONVERSION_LIMITS.conversionTime,
    ];
    expect(chain).toEqual([...chain].sort((a, b) => b - a));
    expect(new Set(chain).size).toBe(chain.length);
    expect(settings.conversionLimits.seconds * 1000).toBeLessThanOrEqual(CONVERSION_LIMITS.conversionTime);
  });

  it('stores results privately, encrypted, and for a day', () => {
    template.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: Match.anyValue(),
      LifecycleConfiguration: {
        Rules: [undefined, 'demo/', 'once/', 'uploads/', 'cache/'].map((Prefix) =>
          Match.objectLike({ ExpirationInDays: 1, Status: 'Enabled', ...(Prefix && { Prefix }) }),
        ),
      },
      CorsConfiguration: {
        CorsRules: [
          Match.objectLike({ AllowedMethods: ['GET', 'HEAD'], AllowedOrigins: ['*'] }),
          Match.objectLike({ AllowedMethods: ['POST'], AllowedOrigins: [Match.anyValue()] }),
        ],
      },
    });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ]),
      },
    });
  });

  it('retains the bucket and the key table, with on-demand capacity and point-in-time recovery', () => {
    template.hasResource('AWS::S3::Bucket', { DeletionPolicy: 'RetainExceptOnCreate' });
    synthesize(parseSettings({ production: false })).hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { DeletionProtectionEnabled: false },
    });
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        DeletionProtectionEnabled: true,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
      },
    });
  });

  it('gives each tool its own log group, memory and layers', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', NAMES.length + 4);
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: settings.logDays });
    for (const { name, sizing } of Object.values(tools)) {
      const [found] = Object.entries(template.findResources('AWS::Lambda::Function')).filter(([id]) =>
        id.startsWith(`${name}Function`),
      );
      const { MemorySize, Runtime, Architectures, Layers } = found![1].Properties;
      expect({ MemorySize, Runtime, Architectures }).toEqual({
        MemorySize: sizing.memory,
        Runtime: 'nodejs24.x',
        Architectures: ['x86_64'],
      });
      expect(Layers.map(({ Ref }: { Ref: string }) => Ref.replace(/Layer[0-9A-F]{8}$/, '')).sort()).toEqual(
        // The sandbox is part of the fonts' upload.
        [...sizing.layers].filter((layer) => layer !== 'sandbox').sort(),
      );
      expect(Layers.length).toBeLessThanOrEqual(5);
      // The limit of new accounts.
      expect(MemorySize).toBeLessThanOrEqual(3008);
    }
  });

  it.each([
    ['THROTTLED', 503, 'OVERLOADED', "'5'"],
    ['INTEGRATION_FAILURE', 503, 'OVERLOADED', "'5'"],
    ['INTEGRATION_TIMEOUT', 504, 'TIMED_OUT', undefined],
    ['WAF_FILTERED', 429, 'RATE_LIMITED', "'300'"],
    ['MISSING_AUTHENTICATION_TOKEN', 404, 'NOT_FOUND', undefined],
    ['REQUEST_TOO_LARGE', 400, 'BAD_PARAMETER', undefined],
    ['DEFAULT_4XX', 400, 'BAD_PARAMETER', undefined],
    ['DEFAULT_5XX', 500, 'INTERNAL', undefined],
  ])('responds to %s of the gateway with %i %s in text form', (type, status, code, retryAfter) => {
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseType: type,
      StatusCode: String(status),
      ResponseTemplates: { 'application/json': Match.stringLikeRegexp(`^\\[ERROR\\] .+ \\(${code}\\)$`) },
      ResponseParameters: {
        'gatewayresponse.header.Content-Type': "'text/plain; charset=utf-8'",
        'gatewayresponse.header.X-Error-Code': `'${code}'`,
        'gatewayresponse.header.Cache-Control': "'no-store'",
        ...(retryAfter === undefined ? {} : { 'gatewayresponse.header.Retry-After': retryAfter }),
      },
    });
  });

  it('uses an existing key table', () => {
    const existing = synthesize({ ...settings, keyTable: 'kept' });

    existing.resourceCountIs('AWS::DynamoDB::Table', 0);
    expect(environmentOf(existing, 'router').keyTable).toBe('kept');
    expect(JSON.stringify(existing.findResources('AWS::IAM::Policy'))).toContain(':table/kept');
  });

  it('isolates accounts on every tool and not on the router', () => {
    const isolated = Object.entries(template.findResources('AWS::Lambda::Function')).flatMap(
      ([id, { Properties }]) =>
        Properties.TenancyConfig?.TenantIsolationMode === 'PER_TENANT' ? [plain(id)] : [],
    );

    expect(isolated.sort()).toEqual(NAMES.map((name) => `${name}Function`).sort());
    expect(environmentOf(template, 'router')).toMatchObject({ isolated: true });
  });

  it.each(NAMES)('tells %s where the results are stored', (name) => {
    const [bucket] = Object.keys(template.findResources('AWS::S3::Bucket'));

    expect(environmentOf(template, name).resultsUrl).toBe(`https://${bucket}.RegionalDomainName/`);
  });

  it('publishes a version of each function, keeps it, and lets the router invoke versions', () => {
    template.resourceCountIs('AWS::Lambda::Version', NAMES.length + 4);
    template.allResources('AWS::Lambda::Version', {
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
    template.resourceCountIs('AWS::Lambda::Alias', NAMES.length + 4);
    template.allResourcesProperties('AWS::Lambda::Alias', { Name: 'live' });
    expect(environmentOf(template, 'router').toolFunctions).toEqual(
      Object.fromEntries(
        NAMES.map((name) => [name, expect.stringMatching(new RegExp(`^${name}FunctionCurrentVersion`))]),
      ),
    );
  });

  it('keeps the versions of the tools, and so their warm environments, when only other code or settings change', () => {
    const versionsOf = (of: Template) =>
      Object.keys(of.findResources('AWS::Lambda::Version')).filter((id) =>
        NAMES.some((name) => id.startsWith(name)),
      );
    const other = createArtifacts();
    for (const name of ['router', 'site'])
      writeFileSync(join(other.artifacts, 'functions', name, 'index.mjs'), 'new');
    const changed = parseSettings({
      supportUrl: 'https://example.com/help',
      rateLimits: { perMinute: 5 },
      urlLifetime: 60,
      logDays: 30,
      alarmEmail: 'a@example.com',
      site: null,
      heartbeatMinutes: null,
    });

    const stack = new ServiceStack(createApp({ context: cdk.context }), 'test', {
      settings: changed,
      artifacts: other.artifacts,
    });
    const after = Template.fromStack(stack);
    other.remove();

    expect(versionsOf(after)).toEqual(versionsOf(template));
    expect(versionsOf(after)).toHaveLength(NAMES.length);
    const routers = [template, after].map((of) =>
      Object.keys(of.findResources('AWS::Lambda::Version')).find((id) => id.startsWith('router')),
    );
    expect(new Set(routers).size).toBe(2);
  });

  it('refuses settings that do not fit into the environment of a function', () => {
    const corsOrigins = Array.from({ length: 100 }, (_, index) => `https://customer-${index}.example.com`);

    expect(() => synthesize(parseSettings({ corsOrigins }))).toThrow(
      /^The settings of jobs take \d+ of at most 3900 bytes. Shorten corsOrigins/,
    );
    expect(() => synthesize(parseSettings({ corsOrigins: corsOrigins.slice(0, 30) }))).not.toThrow();
  });

  it('leaves only an empty table behind when its creation fails, and no version that would keep a retry from publishing', () => {
    // CloudFormation keeps what has the policy Retain, even if the operation that created it is rolled back.
    const kept = [template, synthesize(EVERYTHING)].flatMap((each) =>
      Object.entries(each.toJSON().Resources as Record<string, { DeletionPolicy?: string }>).filter(
        ([, { DeletionPolicy }]) => DeletionPolicy === 'Retain',
      ),
    );

    // An empty table that is protected.
    expect(kept.map(([name]) => plain(name))).toEqual(['Keys', 'Keys']);
  });

  it('sends requests to the alias of the router', () => {
    const [method] = Object.values(template.findResources('AWS::ApiGateway::Method'));

    expect(JSON.stringify(method!.Properties.Integration.Uri)).toMatch(/"Ref":"routerFunctionAliaslive/);
    const pages = Object.entries(template.findResources('AWS::ApiGateway::Method')).filter(([id]) =>
      id.startsWith('Endpointsite'),
    );
    expect(pages).toHaveLength(2);
    expect(JSON.stringify(pages)).not.toContain('routerFunction');
    expect(environmentOf(template, 'site').router).toMatch(/^routerFunctionCurrentVersion/);
  });

  it.each([
    [10, 100],
    [1000, 4000],
    [3, 100],
  ])(
    'accepts for an account with %i executions %i requests at once and a second, more than it can convert',
    (accountConcurrency, rate) => {
      synthesize(parseSettings({ accountConcurrency })).hasResourceProperties('AWS::ApiGateway::Stage', {
        MethodSettings: Match.arrayWith([
          Match.objectLike({
            ResourcePath: '/*',
            HttpMethod: '*',
            ThrottlingRateLimit: rate,
            ThrottlingBurstLimit: rate,
          }),
          Match.objectLike({ ResourcePath: '/~1health', HttpMethod: 'GET', ThrottlingRateLimit: 10 }),
          Match.objectLike({ ResourcePath: '/~1site~1{proxy+}', HttpMethod: 'ANY', ThrottlingRateLimit: 20 }),
        ]),
      });
    },
  );

  it('prints the base URL, the names of its parts and how to create a key', () => {
    const outputs = template.findOutputs('*');

    expect(Object.keys(outputs).sort()).toEqual(
      [
        'BaseUrl',
        'CreateKey',
        'KeyTable',
        'ResultsBucket',
        'ResultsUrl',
        'SiteUrl',
        'Sizes',
        'siteLog',
        ...NAMES.flatMap((name) => [`${name}Function`, `${name}Log`]),
        'routerLog',
        'jobsLog',
      ].sort(),
    );
    expect(JSON.stringify(outputs.CreateKey!.Value)).toContain(
      'npm run keys -- create --name first --table ',
    );
  });

  it('contains no secret and logs no query string', () => {
    // The rule of WAF that looks for a key.
    const text = JSON.stringify(template.toJSON()).replace('"SearchString":"apikey="', '');

    expect(text).not.toMatch(/AccessLogSetting|"DataTraceEnabled":true|apikey|SECRET/i);
  });

  it('passes cdk-nag by default, with every option on, as two stages in one account, and in a VPC', () => {
    const shapes = {
      plain: settings,
      everything: EVERYTHING,
      dev: { ...settings, wafRate: 500 },
      prod: FRONTED,
      open: { ...settings, wafRate: null },
      private: { ...settings, network: { ...EVERYTHING.network!, tools: NAMES, acceptBrowser: true } },
    };

    const templates = synthesizeAll(shapes);

    // Names that an account can have only once.
    const named = Object.values(templates).flatMap(namesIn);
    expect(named).toContain('AWS::ApiGateway::RestApi "dev"');
    expect(named.filter((name, at) => named.indexOf(name) !== at)).toEqual([]);
    const { private: alone } = templates;
    alone!.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { VpcConfig: Match.anyValue(), TenancyConfig: Match.anyValue() },
      NAMES.length,
    );
  });

  it('refuses plain HTTP at CloudFront unless it was asked for', () => {
    const policyOf = (acceptUnencryptedHttp: boolean) => {
      const front = { timeout: 120, acceptUnencryptedHttp };
      const [found] = Object.values(
        synthesize({ ...FRONTED, front }).findResources('AWS::CloudFront::Distribution'),
      );
      return found!.Properties.DistributionConfig.DefaultCacheBehavior.ViewerProtocolPolicy;
    };

    expect([policyOf(false), policyOf(true)]).toEqual(['https-only', 'allow-all']);
  });

  it('counts viewers of CloudFront by an address that they cannot choose, and blocks requests around it', async () => {
    const fronted = synthesize(FRONTED);
    const [acl] = Object.values(fronted.findResources('AWS::WAFv2::WebACL'));
    const [direct, ...counted] = acl!.Properties.Rules;

    expect(direct.Priority).toBe(0);
    expect(direct.Statement.NotStatement.Statement.ByteMatchStatement).toMatchObject({
      FieldToMatch: { SingleHeader: { Name: FRONT_HEADER.toLowerCase() } },
      PositionalConstraint: 'EXACTLY',
      SearchString: { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] },
    });
    expect(counted).toHaveLength(2);
    for (const { Statement } of counted)
      expect(Statement.RateBasedStatement).toMatchObject({
        AggregateKeyType: 'FORWARDED_IP',
        ForwardedIPConfig: { HeaderName: VIEWER_HEADER, FallbackBehavior: 'MATCH' },
      });

    const [viewer] = Object.values(fronted.findResources('AWS::CloudFront::Function'));
    const script = `${viewer!.Properties.FunctionCode}\nexport { handler }`;
    const { handler } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
    const forged = { [VIEWER_HEADER.toLowerCase()]: { value: '10.0.0.1' } };
    expect(handler({ request: { headers: forged }, viewer: { ip: '192.0.2.1' } }).headers).toEqual({
      [VIEWER_HEADER.toLowerCase()]: { value: '192.0.2.1' },
    });
    const [{ Properties }] = Object.values(fronted.findResources('AWS::CloudFront::Distribution')) as [
      { Properties: { DistributionConfig: Record<string, object> } },
    ];
    const { DefaultCacheBehavior, CacheBehaviors } = Properties.DistributionConfig;
    for (const behavior of [DefaultCacheBehavior, ...(CacheBehaviors as object[])])
      expect(behavior).toMatchObject({ FunctionAssociations: [{ EventType: 'viewer-request' }] });
  });

  it('makes objects jobs, and keeps the events of those that fail', () => {
    const everything = synthesize(EVERYTHING);

    everything.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.s3'],
        'detail-type': ['Object Created'],
        detail: { bucket: { name: ['files'] }, object: { key: [{ wildcard: 'in/*.docx' }] } },
      },
      Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue() })],
    });
    everything.hasResourceProperties('AWS::Lambda::Function', {
      DurableConfig: Match.anyValue(),
      DeadLetterConfig: Match.anyValue(),
    });
    expect(rightsOf(everything).jobs).toContainEqual(expect.stringMatching(/^Allow sqs:SendMessage on /));
    expect(environmentOf(everything, 'jobs').work).toEqual(EVERYTHING.work);
    template.resourceCountIs('AWS::SQS::Queue', 0);
  });

  it('has as many alarms, and metrics in them, as the guide says', () => {
    const alarms = Object.values(synthesize(settings).findResources('AWS::CloudWatch::Alarm'));
    const metrics = alarms.flatMap(({ Properties }) =>
      (Properties.Metrics ?? [{ MetricStat: {} }]).filter((metric: object) => 'MetricStat' in metric),
    );

    expect(
      readFileSync(join(import.meta.dirname, '../../../infra/aws/README.md'), 'utf8').replaceAll('\n', ' '),
    ).toContain(
      `Its ${alarms.length} alarms watch ${metrics.length} metrics, of which ten are free in an account without others, so they cost $${(
        0.1 * (metrics.length - 10)
      ).toFixed(2)} a month`,
    );
  });

  it('has what each option adds', () => {
    const everything = synthesize(EVERYTHING);
    const limited = synthesize({ ...settings, wafRate: 500, monthlyBudget: 20, alarmEmail: 'a@example.com' });
    const [acl] = Object.values(limited.findResources('AWS::WAFv2::WebACL'));

    expect(
      acl!.Properties.Rules.map(({ Statement }: { Statement: Record<string, { Limit: number }> }) => {
        return Statement.RateBasedStatement!.Limit;
      }),
    ).toEqual([500, 50]);
    limited.hasResourceProperties('AWS::Budgets::Budget', {
      Budget: Match.objectLike({
        BudgetLimit: { Amount: 20, Unit: 'USD' },
        // Two stages have the same tag `service`.
        CostFilters: { TagKeyValue: ['user:stack$test'] },
      }),
    });
    limited.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { Tags: Match.arrayWith([{ Key: 'stack', Value: 'test' }]) },
      Object.keys(limited.findResources('AWS::Lambda::Function')).length,
    );

    // The key must not be logged.
    everything.hasResourceProperties('AWS::ApiGateway::Stage', {
      AccessLogSetting: { Format: Match.stringLikeRegexp('"ip":"\\$context.identity.sourceIp"') },
    });
    expect(JSON.stringify(everything.findResources('AWS::ApiGateway::Stage'))).not.toMatch(
      /querystring|context\.path\b|requestOverride/,
    );
    everything.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        DefaultCacheBehavior: Match.objectLike({ ViewerProtocolPolicy: 'allow-all', Compress: false }),
        Origins: [
          Match.objectLike({
            ConnectionAttempts: 1,
            OriginCustomHeaders: [
              {
                HeaderName: 'X-Docmill-Front',
                HeaderValue: { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] },
              },
            ],
            CustomOriginConfig: Match.objectLike({ OriginReadTimeout: 120 }),
          }),
        ],
        CustomErrorResponses: [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((status) => ({
          ErrorCode: status,
          ErrorCachingMinTTL: 0,
        })),
      },
    });
    everything.hasResourceProperties('AWS::ApiGateway::BasePathMapping', { BasePath: 'api' });
    // CloudWatch may publish alarms although the topic has a policy of its own.
    everything.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Allow',
            Action: 'sns:Publish',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          }),
        ]),
      },
    });
    expect(environmentOf(everything, 'doc2any').ownHosts).toEqual([
      expect.stringContaining('execute-api'),
      'convert.example.com',
      expect.stringMatching(/^Front[0-9A-F]+\.DomainName$/),
      ...(EVERYTHING.front?.domain ? [EVERYTHING.front.domain.name] : []),
    ]);
    limited.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
    everything.resourcePropertiesCountIs('AWS::Lambda::Function', { VpcConfig: Match.anyValue() }, 2);
    everything.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { ReservedConcurrentExecutions: 20, MemorySize: 4096 },
      1,
    );
    everything.resourcePropertiesCountIs('AWS::Lambda::Function', { TenancyConfig: Match.anyValue() }, 0);
    expect(environmentOf(everything, 'router')).toMatchObject({ isolated: false });
    everything.resourcePropertiesCountIs(
      'AWS::Lambda::Version',
      { ProvisionedConcurrencyConfig: { ProvisionedConcurrentExecutions: 2 } },
      1,
    );
    expect(Object.keys(everything.findOutputs('*'))).toEqual(
      expect.arrayContaining(['FrontUrl', 'DomainTarget']),
    );
  });

  it('has no route, permission or setting of the site without it', () => {
    const without = synthesize({ ...settings, site: null });

    without.resourceCountIs('AWS::ApiGateway::Method', 15);
    expect(Object.keys(rightsOf(without))).not.toContain('site');
    expect(environmentOf(without, 'router').settings).toMatchObject({
      contact: { accountUrl: 'https://example.com/account' },
    });
    expect(Object.keys(without.findOutputs('*'))).not.toContain('SiteUrl');
    without.hasResourceProperties('AWS::S3::Bucket', {
      CorsConfiguration: { CorsRules: [Match.objectLike({ AllowedMethods: ['GET', 'HEAD'] })] },
    });
  });

  it('leads to the site by its outermost host name', () => {
    const domain = { name: 'convert.example.com', certificateArn: EVERYTHING.domain!.certificateArn };

    const named = synthesize({ ...settings, domain });
    expect(environmentOf(named, 'router')).toMatchObject({
      settings: { contact: { accountUrl: 'https://convert.example.com/api/site/account' } },
    });
    expect(environmentOf(named, 'site')).toMatchObject({
      origin: 'https://convert.example.com',
      signUp: 'invite',
    });
    expect(environmentOf(synthesize(EVERYTHING), 'site')).toMatchObject({
      origin: expect.stringMatching(/^https:\/\/Front[0-9A-F]+\.DomainName$/),
      mail: { from: 'docmill@example.com', parameter: '/docmill/smtp' },
    });
  });

  it('creates a user pool for the site that only its client uses, without a secret', () => {
    const everything = synthesize(EVERYTHING);

    template.resourceCountIs('AWS::Cognito::UserPool', 0);
    everything.hasResource('AWS::Cognito::UserPool', { DeletionPolicy: 'RetainExceptOnCreate' });
    everything.hasResourceProperties('AWS::Cognito::UserPoolDomain', { ManagedLoginVersion: 2 });
    everything.hasResourceProperties('AWS::Cognito::ManagedLoginBranding', {
      UseCognitoProvidedValues: true,
    });
    everything.hasResourceProperties('AWS::Cognito::UserPoolClient', {
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email'],
      GenerateSecret: false,
    });
    const [client] = Object.keys(everything.findResources('AWS::Cognito::UserPoolClient'));
    const { openId } = environmentOf(everything, 'site');
    expect(openId).toMatchObject({
      issuer: expect.stringMatching(/^https:\/\/cognito-idp\.AWS::Region\.AWS::URLSuffix\/Login[0-9A-F]+$/),
      clientId: client,
    });
    expect(rightsOf(everything).site!.join('\n')).toMatch(
      /ssm:GetParameters on .*:parameter\/docmill\/smtp$/m,
    );
  });

  it('keeps no page of the site at CloudFront', () => {
    synthesize(EVERYTHING).hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        CacheBehaviors: [
          Match.objectLike({
            PathPattern: '/api/site*',
            ViewerProtocolPolicy: 'redirect-to-https',
            // AWS's policy that keeps nothing.
            CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
          }),
        ],
      },
    });
  });

  it('keeps responses at CloudFront by the whole query, the key and the origin, for as long as they allow', () => {
    const everything = synthesize(EVERYTHING);

    everything.hasResourceProperties('AWS::CloudFront::CachePolicy', {
      CachePolicyConfig: Match.objectLike({
        MinTTL: 0,
        DefaultTTL: 0,
        MaxTTL: MAX_CACHE,
        ParametersInCacheKeyAndForwardedToOrigin: Match.objectLike({
          QueryStringsConfig: { QueryStringBehavior: 'all' },
          HeadersConfig: {
            HeaderBehavior: 'whitelist',
            Headers: ['Origin', 'Authorization', 'X-Api-Key'],
          },
        }),
      }),
    });
    const [policy] = Object.keys(everything.findResources('AWS::CloudFront::CachePolicy'));
    everything.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: { DefaultCacheBehavior: Match.objectLike({ CachePolicyId: { Ref: policy } }) },
    });
  });

  it("lets web pages read the gateway's own errors only with CORS", () => {
    const types = (of: Template) =>
      Object.values(of.findResources('AWS::ApiGateway::GatewayResponse')).map(
        ({ Properties }) =>
          Properties.ResponseParameters['gatewayresponse.header.Access-Control-Allow-Origin'],
      );

    expect(new Set(types(template))).toEqual(new Set([undefined]));
    expect(new Set(types(synthesize(EVERYTHING)))).toEqual(new Set(["'*'"]));
  });

  it('never repeats an asynchronous invocation, and tells its result where the operator wants it', () => {
    const { onSuccess, onFailure } = EVERYTHING.destinations;
    const everything = synthesize(EVERYTHING);

    template.allResourcesProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 0,
      DestinationConfig: Match.absent(),
    });
    everything.resourcePropertiesCountIs(
      'AWS::Lambda::EventInvokeConfig',
      {
        MaximumRetryAttempts: 0,
        DestinationConfig: {
          OnSuccess: { Destination: onSuccess },
          OnFailure: { Destination: onFailure },
        },
      },
      NAMES.length,
    );
    const rights = rightsOf(everything);
    for (const name of NAMES)
      expect(rights[name]).toEqual(
        expect.arrayContaining([
          `Allow sqs:SendMessage on ${onSuccess}`,
          `Allow sns:Publish on ${onFailure}`,
        ]),
      );
    expect(rights.router!.join()).not.toMatch(/sqs|sns/);
  });

  it('denies code in a VPC the permissions that Lambda needs there', () => {
    const [allow, deny] = rightsOf(synthesize(EVERYTHING)).doc2any!.filter((right) => right.includes('ec2:'));

    expect(allow).toMatch(/^Allow ec2:.* on \*$/);
    expect(deny).toBe(allow!.replace('Allow', 'Deny'));
  });
});

describe('the stages', () => {
  it.each([
    [undefined, '', { service: 'docmill' }],
    ['dev', '-dev', { service: 'docmill', stage: 'dev' }],
    ['prod', '-prod', { service: 'docmill', stage: 'prod' }],
  ])('have separate names and tags: %s', (stage, suffix, tags) => {
    expect(readStage(stage)).toEqual({ ...(stage && { name: stage }), suffix, tags });
  });

  it.each(['', 'Prod', 'a-b', 3])('must be a word, not %j', (stage) => {
    expect(() => readStage(stage)).toThrow('The stage must be a word such as dev or prod');
  });
});

it("sets every flag that the CDK's library recommends", () => {
  const partitions = '@aws-cdk/core:target-partitions';
  expect(cdk.context).toEqual({
    ...CURRENTLY_RECOMMENDED_FLAGS,
    [partitions]: ['aws', 'aws-cn', 'aws-us-gov'],
  });
});

/** Types of resources whose names only count inside of another resource. */
const INNER = ['AWS::IAM::Policy', 'AWS::Lambda::Alias', 'AWS::ApiGateway::Stage'];

/** Lists the names that a stack gives to its resources, with their types. */
function namesIn(of: Template): string[] {
  const { Resources } = of.toJSON() as { Resources: Record<string, { Type: string; Properties?: object }> };
  return Object.values(Resources).flatMap(({ Type, Properties = {} }) => {
    const { CachePolicyConfig = {}, ...own } = Properties as { CachePolicyConfig?: object };
    const pairs = Object.entries({ ...own, ...CachePolicyConfig });
    const kind = Type.split('::').at(-1);
    return pairs.flatMap(([name, value]) =>
      !INNER.includes(Type) && (name === 'Name' || name === `${kind}Name`)
        ? [`${Type} ${JSON.stringify(value)}`]
        : [],
    );
  });
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Lists the statements of every role in words, by the name of its function. */
function rightsOf(of: Template): Record<string, string[]> {
  const policies = Object.values(of.findResources('AWS::IAM::Policy'));
  const byRole = Map.groupBy(policies, ({ Properties }) => Properties.Roles[0].Ref);
  return Object.fromEntries(
    [...byRole].map(([role, own]) => [
      role.replace(/Role[0-9A-F]{8}$/, ''),
      own.flatMap(({ Properties }) =>
        Properties.PolicyDocument.Statement.map(
          ({ Effect, Action, Resource }: Statement) =>
            `${Effect} ${[Action].flat().join(',')} on ${[Resource].flat().map(words).join(' ')}`,
        ),
      ),
    ]),
  );
}

function words(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = resource as Record<string, unknown>;
  if (typeof Ref === 'string') return plain(Ref);
  if (attribute) return (attribute as string[]).map(plain).join('.');
  return (join as [string, unknown[]])[1].map(words).join('');
}

function plain(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}
