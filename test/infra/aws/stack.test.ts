import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TIMEOUTS } from '../../../functions/shared/settings/timeouts.ts';
import { LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { type Settings, settings } from '../../../infra/aws/settings.ts';

const NAMES = Object.keys(tools);

/** Every option on. */
const EVERYTHING: Settings = {
  ...settings,
  domain: { name: 'convert.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/a' },
  front: { timeout: 60 },
  wafRate: 500,
  network: {
    tools: ['doc2any', 'imageproc'],
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['us-east-1a', 'us-east-1b'],
    subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
  reserved: { doc2any: 20 },
  provisioned: { router: 1, html2pdf: 2 },
  memory: { doc2any: 4096 },
};

let artefacts: string;
let template: Template;

beforeAll(() => {
  artefacts = mkdtempSync(join(tmpdir(), 'artefacts-'));
  const layers = new Set(Object.values(tools).flatMap(({ sizing }) => [...sizing.layers]));
  for (const path of [
    ...['router', ...NAMES].map((name) => `functions/${name}`),
    ...[...layers].map((name) => `layers/${name}`),
  ]) {
    mkdirSync(join(artefacts, path), { recursive: true });
    writeFileSync(join(artefacts, path, 'index.mjs'), path);
  }
  template = synthesise(settings);
});
afterAll(() => rmSync(artefacts, { recursive: true }));

/** Synthesises with every check of cdk-nag; throws on a finding that nobody has given a reason for. */
function synthesise(chosen: Settings): Template {
  const app = new App();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const stack = new ServiceStack(app, 'test', { settings: chosen, tools: Object.values(tools), artefacts });
  app.synth();
  return Template.fromStack(stack);
}

describe('the stack', () => {
  it('gives each role exactly these rights', () => {
    expect(rightsOf(template)).toEqual({
      ...Object.fromEntries(
        NAMES.map((name) => [name, [`Allow logs:CreateLogStream,logs:PutLogEvents on ${name}Log.Arn`]]),
      ),
      router: [
        'Allow logs:CreateLogStream,logs:PutLogEvents on routerLog.Arn',
        'Allow s3:PutObject,s3:GetObject on Results.Arn/*',
        'Allow dynamodb:GetItem on Keys.Arn',
        `Allow lambda:InvokeFunction on ${NAMES.map((name) => `${name}Function.Arn`).join(' ')}`,
      ],
    });
    expect(template.findResources('AWS::IAM::ManagedPolicy')).toEqual({});
    for (const role of Object.values(template.findResources('AWS::IAM::Role'))) {
      expect(role.Properties.ManagedPolicyArns).toBeUndefined();
    }
  });

  it('lets nobody but the gateway call the router', () => {
    const permissions = Object.values(template.findResources('AWS::Lambda::Permission'));

    expect(permissions.map(({ Properties }) => Properties.Principal)).toEqual(['apigateway.amazonaws.com']);
    expect(JSON.stringify(permissions[0]!.Properties.SourceArn)).toContain('execute-api');
  });

  it('answers at the root of a regional API whose stage is called api, streaming', () => {
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
    template.hasResourceProperties('AWS::ApiGateway::Stage', { StageName: 'api' });
    template.resourceCountIs('AWS::ApiGateway::Method', 1);
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

  it('lets each layer give up before the one above it', () => {
    const timeouts = Object.entries(template.findResources('AWS::Lambda::Function')).map(
      ([id, { Properties }]) => [id.replace(/Function[0-9A-F]{8}$/, ''), Properties.Timeout] as const,
    );

    expect(Object.fromEntries(timeouts)).toEqual({
      router: 290,
      ...Object.fromEntries(NAMES.map((name) => [name, 270])),
    });
    const chain = [TIMEOUTS.gateway, TIMEOUTS.router, TIMEOUTS.wait, TIMEOUTS.tool, LIMITS.conversionTime];
    expect(chain).toEqual([...chain].sort((a, b) => b - a));
    expect(new Set(chain).size).toBe(chain.length);
    expect(settings.limits.seconds * 1000).toBeLessThanOrEqual(LIMITS.conversionTime);
  });

  it('keeps results private, encrypted and for a day', () => {
    template.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: Match.anyValue(),
      LifecycleConfiguration: { Rules: [Match.objectLike({ ExpirationInDays: 1, Status: 'Enabled' })] },
      CorsConfiguration: {
        CorsRules: [Match.objectLike({ AllowedMethods: ['GET', 'HEAD'], AllowedOrigins: ['*'] })],
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

  it('keeps keys on demand, recoverable, and when the stack goes', () => {
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
      },
    });
  });

  it('gives each tool its own log, memory and layers', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', NAMES.length + 1);
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
      expect(Layers.map(({ Ref }: { Ref: string }) => Ref.replace(/Layer[0-9A-F]{8}$/, ''))).toEqual(
        sizing.layers,
      );
      expect(Layers.length).toBeLessThanOrEqual(5);
      // What a new account may have.
      expect(MemorySize).toBeLessThanOrEqual(3008);
    }
  });

  it('answers in the form of the service where the gateway answers itself', () => {
    const replies = Object.values(template.findResources('AWS::ApiGateway::GatewayResponse'));

    expect(replies.length).toBeGreaterThan(5);
    for (const { Properties } of replies) {
      expect(Properties.ResponseTemplates['application/json']).toMatch(/^\[ERROR\] .+ \([A-Z_]+\)$/);
      expect(Properties.ResponseParameters['gatewayresponse.header.Content-Type']).toBe(
        "'text/plain; charset=utf-8'",
      );
    }
  });

  it('says where it answers, where things are and how to make a key', () => {
    const outputs = template.findOutputs('*');

    expect(Object.keys(outputs).sort()).toEqual(['BaseAddress', 'CreateKey', 'KeyTable', 'ResultsBucket']);
    expect(JSON.stringify(outputs.CreateKey!.Value)).toContain('npm run key:aws -- --table ');
  });

  it('holds no secret and logs no query', () => {
    const text = JSON.stringify(template.toJSON());

    expect(text).not.toMatch(/AccessLogSetting|"DataTraceEnabled":true|apikey|SECRET/i);
  });

  it('is as clean with every option on', () => {
    const everything = synthesise(EVERYTHING);

    everything.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        DefaultCacheBehavior: Match.objectLike({ ViewerProtocolPolicy: 'allow-all', Compress: false }),
      },
    });
    everything.hasResourceProperties('AWS::ApiGateway::BasePathMapping', { BasePath: 'api' });
    everything.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
    everything.resourcePropertiesCountIs('AWS::Lambda::Function', { VpcConfig: Match.anyValue() }, 2);
    everything.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { ReservedConcurrentExecutions: 20, MemorySize: 4096 },
      1,
    );
    everything.resourceCountIs('AWS::Lambda::Alias', 2);
    expect(Object.keys(everything.findOutputs('*'))).toContain('FrontAddress');
    expect(rightsOf(everything).router).toContainEqual(
      expect.stringMatching(/InvokeFunction on .*html2pdfFunctionAliaswarm/),
    );
  });

  it('denies code in a VPC what Lambda itself needs there', () => {
    const [allow, deny] = rightsOf(synthesise(EVERYTHING)).doc2any!.slice(1);

    expect(allow).toMatch(/^Allow ec2:.* on \*$/);
    expect(deny).toBe(allow!.replace('Allow', 'Deny'));
  });
});

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Lists the statements of every role in words, by the name of its function. */
function rightsOf(of: Template): Record<string, string[]> {
  const policies = Object.values(of.findResources('AWS::IAM::Policy'));
  return Object.fromEntries(
    policies.map(({ Properties }) => [
      Properties.Roles[0].Ref.replace(/Role[0-9A-F]{8}$/, ''),
      Properties.PolicyDocument.Statement.map(
        ({ Effect, Action, Resource }: Statement) =>
          `${Effect} ${[Action].flat().join(',')} on ${[Resource].flat().map(words).join(' ')}`,
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
