import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import * as tools from '../../../functions/tools.ts';
import { checkContext } from '../../../infra/aws/context.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { parseSettings } from '../../../infra/aws/settings.ts';
import { createArtifacts } from './artifacts.ts';
import { createApp } from './create-app.ts';

const { context } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../cdk.json'), 'utf8'));
const KEY = 'arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef';

/** Settings for a landing zone: nothing public, with keys, boundary and networks of the customer. */
const STRICT = parseSettings({
  tenantIsolation: false,
  acceptSharedTenants: true,
  privateApi: { vpcEndpointIds: ['vpce-0123456789abcdef0'] },
  network: {
    tools: Object.keys(tools),
    router: true,
    acceptBrowser: true,
    subnetIds: ['subnet-0123456789abcdef0'],
    securityGroupIds: ['sg-0123456789abcdef0'],
  },
  kmsKey: KEY,
  alarmEmail: 'operator@example.com',
  accessLog: { role: 'create' },
});

const { artifacts, remove } = createArtifacts();
const boundary = { '@aws-cdk/core:permissionsBoundary': 'landing-zone' };
const app = createApp({ context: { ...context, ...boundary } });
checkContext(app.node);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
const stack = new ServiceStack(app, 'strict', {
  settings: STRICT,
  artifacts,
  env: { account: '123456789012', region: 'us-gov-west-1' },
  tags: { team: 'documents' },
});
app.synth();
remove();
const template = Template.fromStack(stack);
const all = (type: string) => Object.values(template.findResources(type)).map(({ Properties }) => Properties);

it('passes cdk-nag without a warning', () => {
  expect(Annotations.fromStack(stack).findWarning('*', Match.anyValue())).toEqual([]);
});

it('offers the API only through the endpoints of the VPC', () => {
  const [api, ...others] = all('AWS::ApiGateway::RestApi');

  expect(others).toEqual([]);
  expect(api!.EndpointConfiguration).toEqual({
    Types: ['PRIVATE'],
    VpcEndpointIds: ['vpce-0123456789abcdef0'],
  });
  const everyone = {
    Principal: { AWS: '*' },
    Action: 'execute-api:Invoke',
    Resource: 'execute-api:/*',
  };
  expect(api!.Policy.Statement).toEqual([
    {
      Effect: 'Deny',
      ...everyone,
      Condition: { StringNotEquals: { 'aws:SourceVpce': ['vpce-0123456789abcdef0'] } },
    },
    { Effect: 'Allow', ...everyone },
  ]);
  for (const type of ['AWS::CloudFront::Distribution', 'AWS::Lambda::Url', 'AWS::ApiGateway::DomainName'])
    template.resourceCountIs(type, 0);
});

it('runs every function in the VPC', () => {
  const functions = all('AWS::Lambda::Function');

  expect(functions).toHaveLength(Object.keys(tools).length + 4);
  for (const { VpcConfig } of functions) expect(VpcConfig.SubnetIds).toEqual(['subnet-0123456789abcdef0']);
});

it('bounds the permissions of every role', () => {
  const roles = all('AWS::IAM::Role');

  expect(roles.length).toBeGreaterThan(Object.keys(tools).length + 2);
  for (const { PermissionsBoundary } of roles)
    expect(JSON.stringify(PermissionsBoundary)).toContain(':iam::123456789012:policy/landing-zone');
});

it("encrypts results, table, logs and alarms with the customer's key", () => {
  const logs = all('AWS::Logs::LogGroup');

  expect(all('AWS::S3::Bucket')[0]!.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
    {
      BucketKeyEnabled: true,
      ServerSideEncryptionByDefault: { KMSMasterKeyID: KEY, SSEAlgorithm: 'aws:kms' },
    },
  ]);
  expect(all('AWS::DynamoDB::Table')[0]!.SSESpecification).toMatchObject({
    KMSMasterKeyId: KEY,
    SSEType: 'KMS',
  });
  expect(all('AWS::SNS::Topic')[0]!.KmsMasterKeyId).toContain('01234567-89ab');
  expect(logs).toHaveLength(Object.keys(tools).length + 5);
  for (const { KmsKeyId } of logs) expect(KmsKeyId).toBe(KEY);
  // Only the functions that use the bucket or the table may use the key.
  const users = all('AWS::IAM::Policy').filter((policy) => JSON.stringify(policy).includes('kms:'));
  expect(users.map(({ Roles }) => Roles[0].Ref.replace(/Role.*/, '')).sort()).toEqual([
    'jobs',
    'router',
    'site',
  ]);
});

it('names no other partition, and tags what can be tagged', () => {
  const text = JSON.stringify(template.toJSON());

  expect(text).not.toMatch(/arn:aws:|\.amazonaws\.com(?!["\\])/);
  for (const { Tags } of all('AWS::Lambda::Function'))
    expect(Tags).toEqual(expect.arrayContaining([{ Key: 'stack', Value: 'strict' }]));
});
