import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as tools from '../../functions/tools.ts';
import { ServiceStack } from '../../infra/aws/service-stack.ts';
import type { Settings } from '../../infra/aws/settings.ts';
import type { Statement } from './iam.ts';
import type { FunctionDefinition } from './sandbox.ts';

const ARTIFACTS = join(import.meta.dirname, '../../dist/aws');

/** Name of the stack, and with it the namespace of its metrics. */
export const STACK = 'emulator';
/** URL of the gateway on AWS. */
export const GATEWAY = `https://${STACK}.execute-api.us-east-1.amazonaws.com`;

type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** A resource of a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, Value>>;
}

/** Functions that call AWS services. */
export const ROLES = ['router', 'site', 'jobs'] as const;
export type Role = (typeof ROLES)[number];

/** The part of the stack that the emulator runs. */
export interface Deployment {
  readonly functions: readonly FunctionDefinition[];
  /** URL of the bucket on AWS. */
  readonly resultsUrl: string;
  /** Origins whose pages may post to the bucket. */
  readonly uploadOrigins: readonly string[];
  readonly gateway: GatewaySettings;
  /** Statements of the roles. Those of the tools are never used: they call no AWS service. */
  readonly rights: Readonly<Record<Role, readonly Statement[]>>;
}

/** The gateway's names in its metrics, its own error responses by type, and its throttle. */
export interface GatewaySettings {
  readonly dimensions: { readonly ApiName: string; readonly Stage: string };
  readonly responses: ReadonlyMap<string, GatewayResponse>;
  readonly routes: readonly Route[];
  /** Whether it passes on all bodies as base64. Otherwise it decodes them as UTF-8. */
  readonly isBinary: boolean;
}

/** A method of a resource. Each has a throttle of its own. */
export interface Route {
  /** Path below the root, `{name}` for any part of a path, or '' for the root itself. */
  readonly part: string;
  /** `ANY` for all that have no method of their own. */
  readonly method: string;
  readonly throttle: Throttle;
}

/** Requests per second, and burst. */
export interface Throttle {
  readonly rate: number;
  readonly burst: number;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Reads the settings for Lambda from the stack: memory, timeout, `/tmp` size, layers and variables of each function. */
export function readDeployment(
  settings: Settings,
  physical: { readonly bucket: string; readonly table: string },
): Deployment {
  const outdir = mkdtempSync(join(tmpdir(), 'template-'));
  const stack = new ServiceStack(new App({ outdir }), STACK, {
    settings,
    artifacts: ARTIFACTS,
  });
  const resources = Template.fromStack(stack).toJSON().Resources as Record<string, Resource>;
  rmSync(outdir, { recursive: true });
  const idOf = (type: string) => Object.entries(resources).find(([, { Type }]) => Type === type)![0];
  const names: Record<string, string> = {
    [idOf('AWS::S3::Bucket')]: physical.bucket,
    [idOf('AWS::DynamoDB::Table')]: physical.table,
    [`${idOf('AWS::S3::Bucket')}.Arn`]: `arn:aws:s3:::${physical.bucket}`,
    [`${idOf('AWS::DynamoDB::Table')}.Arn`]: `arn:aws:dynamodb:us-east-1:123456789012:table/${physical.table}`,
    [idOf('AWS::ApiGateway::RestApi')]: STACK,
    'AWS::Partition': 'aws',
    'AWS::AccountId': '123456789012',
    'AWS::Region': 'us-east-1',
    'AWS::URLSuffix': 'amazonaws.com',
  };

  const functions = [...ROLES, ...Object.keys(tools)].map((name) => {
    const found = Object.entries(resources).find(
      ([id, { Type }]) => Type === 'AWS::Lambda::Function' && id.startsWith(`${name}Function`),
    )![1].Properties;
    const layers = ((found.Layers ?? []) as readonly { Ref: string }[]).map(
      ({ Ref }) => /^(\w+)Layer/.exec(Ref)![1]!,
    );
    const { Variables: variables = {} } = (found.Environment ?? {}) as { Variables?: Record<string, Value> };
    return {
      name,
      code: join(ARTIFACTS, 'functions', name),
      layers: layers.flatMap(foldersOf),
      memory: found.MemorySize as number,
      temporary: (found.EphemeralStorage as { Size: number }).Size,
      timeout: 1000 * (found.Timeout as number),
      reserved: found.ReservedConcurrentExecutions as number | undefined,
      isolated: found.TenancyConfig !== undefined,
      environment: Object.fromEntries(
        Object.entries(variables).map(([variable, value]) => [variable, resolve(value, names)]),
      ),
    };
  });
  return {
    functions,
    resultsUrl: `https://${domainOf(physical.bucket)}/`,
    uploadOrigins: uploadOriginsOf(resources, names),
    gateway: gatewayOf(resources),
    rights: {
      router: rightsOf('router', resources, names),
      site: rightsOf('site', resources, names),
      jobs: rightsOf('jobs', resources, names),
    },
  };
}

/** Reads the statements of a function's role. Those with other conditions are left out: they only concern functions in a VPC. */
export function rightsOf(
  name: string,
  resources: Readonly<Record<string, Resource>>,
  names: Readonly<Record<string, string>>,
): Statement[] {
  interface Document {
    readonly Effect: 'Allow' | 'Deny';
    readonly Action: string | readonly string[];
    readonly Resource: Value | readonly Value[];
    readonly Condition?: Readonly<Record<string, Readonly<Record<string, Value>>>>;
  }
  const policies = Object.values(resources).filter(({ Type, Properties }) => {
    const [role] = (Properties.Roles ?? []) as readonly { Ref?: string }[];
    return Type === 'AWS::IAM::Policy' && role?.Ref?.startsWith(`${name}Role`);
  });
  return policies.flatMap(({ Properties }) => {
    const { Statement } = Properties.PolicyDocument as unknown as { Statement: readonly Document[] };
    return Statement.flatMap(({ Effect, Action, Resource, Condition = {} }) => {
      const tests = Object.assign({}, ...Object.values(Condition)) as Record<string, Value>;
      const {
        'dynamodb:LeadingKeys': items,
        'dynamodb:Attributes': attributes,
        // There is one account.
        'aws:ResourceAccount': _account,
        ...others
      } = Object.fromEntries(
        Object.entries(tests).map(([name, value]) => [name, [value].flat().map(String)]),
      );
      if (Object.keys(others).length > 0) return [];
      return {
        effect: Effect,
        actions: [Action].flat(),
        resources: [Resource].flat().map((resource) => resolve(resource as Value, names)),
        ...(items && { items }),
        ...(attributes && { attributes }),
      };
    });
  });
}

function uploadOriginsOf(
  resources: Readonly<Record<string, Resource>>,
  names: Readonly<Record<string, string>>,
): string[] {
  const bucket = Object.values(resources).find(({ Type }) => Type === 'AWS::S3::Bucket')!;
  const { CorsRules: rules } = bucket.Properties.CorsConfiguration as unknown as {
    CorsRules: ReadonlyArray<{ AllowedMethods: readonly string[]; AllowedOrigins: readonly Value[] }>;
  };
  const posting = rules.filter(({ AllowedMethods }) => AllowedMethods.includes('POST'));
  return posting.flatMap(({ AllowedOrigins }) => AllowedOrigins.map((origin) => resolve(origin, names)));
}

/** Reads the gateway's settings from the resources of a template. */
export function gatewayOf(resources: Readonly<Record<string, Resource>>): GatewaySettings {
  const of = (type: string) => Object.values(resources).filter(({ Type }) => Type === type);
  const responses = of('AWS::ApiGateway::GatewayResponse').map(({ Properties }) => {
    const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } = Properties as {
      ResponseType: string;
      StatusCode: string;
      ResponseParameters: Record<string, string>;
      ResponseTemplates: Record<string, string>;
    };
    const headers = Object.entries(ResponseParameters).map(([name, value]) => [
      name.replace('gatewayresponse.header.', ''),
      value.replace(/^'|'$/g, ''),
    ]);
    const body = ResponseTemplates['application/json']!;
    return [
      ResponseType,
      { status: Number(StatusCode), headers: Object.fromEntries(headers), body },
    ] as const;
  });
  const [api] = of('AWS::ApiGateway::RestApi');
  const [stage] = of('AWS::ApiGateway::Stage');
  const settings = stage!.Properties.MethodSettings as unknown as readonly MethodSetting[];
  const routes = of('AWS::ApiGateway::Method').map(({ Properties }): Route => {
    const { Ref: resource } = Properties.ResourceId as { Ref?: string };
    const part = resource === undefined ? '' : pathOf(resource, resources);
    const method = String(Properties.HttpMethod);
    const own = settings.find(
      ({ ResourcePath, HttpMethod }) =>
        ResourcePath === `/~1${part.replaceAll('/', '~1')}` && HttpMethod === method,
    );
    const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } =
      own ?? settings.find(({ ResourcePath }) => ResourcePath === '/*')!;
    return { part, method, throttle: { rate, burst } };
  });
  const { BinaryMediaTypes: types } = api!.Properties as { BinaryMediaTypes?: readonly string[] };
  return {
    dimensions: { ApiName: String(api!.Properties.Name), Stage: String(stage!.Properties.StageName) },
    responses: new Map(responses),
    routes,
    isBinary: types?.includes('*/*') ?? false,
  };
}

function pathOf(id: string, resources: Readonly<Record<string, Resource>>): string {
  const { PathPart, ParentId } = resources[id]!.Properties;
  const { Ref: parent } = ParentId as { Ref?: string };
  return `${parent === undefined ? '' : `${pathOf(parent, resources)}/`}${PathPart}`;
}

interface MethodSetting {
  readonly ResourcePath: string;
  readonly HttpMethod: string;
  readonly ThrottlingRateLimit: number;
  readonly ThrottlingBurstLimit: number;
}

/** The ARN of a function's version, which ends in the name of its construct and the number. */
function versionArn(id: string): string | undefined {
  const name = /^(\w+)FunctionCurrentVersion/.exec(id)?.[1];
  return name && `arn:aws:lambda:us-east-1:123456789012:function:${name}:1`;
}

/** The name that the emulator gives the function with a logical ID. */
export function functionNameOf(id: string): string {
  return id.replace(/Function[0-9A-F]{8}$/, '');
}

/** Replaces CloudFormation's references with names; a function's ARN ends in the name of its construct. */
function resolve(value: Value, names: Readonly<Record<string, string>>): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, Value>;
  if (typeof ref === 'string') return names[ref] ?? versionArn(ref) ?? ref;
  if (attribute) {
    const [id, name] = attribute as readonly [string, string];
    if (name === 'RegionalDomainName') return domainOf(names[id]!);
    const known = names[`${id}.${name}`];
    if (known !== undefined) return known;
    return `arn:aws:lambda:us-east-1:123456789012:function:${functionNameOf(id)}`;
  }
  if (!join) throw new Error(`The template contains an unknown reference: ${JSON.stringify(value)}`);
  const [separator, parts] = join as [string, readonly Value[]];
  return parts.map((part) => resolve(part, names)).join(separator);
}

function domainOf(bucket: string): string {
  return `${bucket}.s3.us-east-1.amazonaws.com`;
}

/** The folders that a layer adds to `/opt`. */
function foldersOf(layer: string) {
  const uploaded = join(ARTIFACTS, 'layers', layer);
  const folders = readdirSync(uploaded, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => ({ name, folder: join(uploaded, name) }));
}
