import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ServiceStack } from '../../infra/aws/service-stack.ts';
import { parseSettings } from '../../infra/aws/settings.ts';
import { createArtifacts } from '../infra/aws/artifacts.ts';
import { type Resource, rightsOf } from '../lambda-emulator/deployment.ts';
import { type Call, isAllowed, type Statement } from '../lambda-emulator/iam.ts';
import { table } from './tables.ts';

/** The functions whose roles are compared. All tools have the same permissions. */
export const ROLES = ['pdftools', 'router', 'site'] as const;

const REGION = 'us-east-1:123456789012';
const onItem = (operation: string, item: string, ...attributes: string[]): Call => ({
  action: `dynamodb:${operation}`,
  resource: `arn:aws:dynamodb:${REGION}:table/keys`,
  items: [item],
  attributes: ['id', ...attributes],
});
const onObject = (operation: string, name: string): Call => ({
  action: `s3:${operation}`,
  resource: `arn:aws:s3:::results${name}`,
});
const invoke = (name: string): Call => ({
  action: 'lambda:InvokeFunction',
  resource: `arn:aws:lambda:${REGION}:function:${name}:1`,
});
const secret = (name: string): Call => ({
  action: 'ssm:GetParameters',
  resource: `arn:aws:ssm:${REGION}:parameter/docmill/${name}`,
});
const log = (name: string): Call => ({ action: 'logs:PutLogEvents', resource: `${name}Log.Arn` });

const RESULT = `/${'0123456789abcdef'.repeat(2)}/a.png`;

/** Lists the calls that the roles are tested with, by the verb in the table. */
export const CALLS: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  'find every key, account and session': { yes: { ...onItem('Scan', ''), items: [] } },
  'hash, signing secret and limits of a key, by its ID': {
    read: onItem('GetItem', 'key_0123456789'),
    write: onItem('UpdateItem', 'key_0123456789', 'hash'),
  },
  'day on which a key was last used': {
    write: onItem('UpdateItem', 'key_0123456789', 'created', 'lastUsed'),
  },
  'email address and role of an account': {
    read: onItem('GetItem', 'account#a'),
    write: onItem('UpdateItem', 'account#a', 'role'),
  },
  'sessions and sign-in links': {
    read: onItem('GetItem', 'site#session#a'),
    write: onItem('PutItem', 'site#session#a'),
  },
  'audit log': { read: onItem('GetItem', 'audit#1'), write: onItem('PutItem', 'audit#1') },
  'buckets that an account may use, by its ID': {
    read: onItem('GetItem', 'buckets#a'),
    write: onItem('UpdateItem', 'buckets#a', 's3://files/'),
  },
  'limits and usage of an account, by its ID': {
    read: onItem('BatchGetItem', 'usage#2026-11-01#pdftools#a'),
    write: onItem('UpdateItem', 'limits#a', 'month'),
  },
  'names of results and uploads': { read: onObject('ListBucket', '') },
  'a result or upload, by its name': {
    read: onObject('GetObject', RESULT),
    write: onObject('PutObject', RESULT),
    delete: onObject('DeleteObject', RESULT),
  },
  'invoke a tool for any account': { yes: invoke('doc2any') },
  'invoke the router for any account': { yes: invoke('router') },
  'mail server and client secret of the site': { read: secret('smtp') },
  'headers of the traces': { read: secret('collector') },
  'log of another function': { write: log('doc2any') },
};

/** Reads the permissions of each role from a stack with the site, mail and traces. */
export function readRoles(): Readonly<Record<(typeof ROLES)[number], readonly Statement[]>> {
  const { artifacts, remove } = createArtifacts();
  const outdir = mkdtempSync(join(tmpdir(), 'roles-'));
  const settings = parseSettings({
    site: { mail: { from: 'docmill@example.com', parameter: '/docmill/smtp' } },
    traces: { endpoint: 'https://collector.example.com', parameter: '/docmill/collector' },
  });
  const stack = new ServiceStack(new App({ outdir }), 'roles', { settings, artifacts });
  const resources = Template.fromStack(stack).toJSON().Resources as Record<string, Resource>;
  rmSync(outdir, { recursive: true });
  remove();
  const named = Object.entries(resources).flatMap(([id, { Type }]) => {
    if (Type === 'AWS::S3::Bucket') return [[`${id}.Arn`, 'arn:aws:s3:::results']];
    if (Type === 'AWS::DynamoDB::Table') return [[`${id}.Arn`, `arn:aws:dynamodb:${REGION}:table/keys`]];
    const log = Type === 'AWS::Logs::LogGroup' && /^(\w+Log)[0-9A-F]{8}$/.exec(id)?.[1];
    return log ? [[`${id}.Arn`, `${log}.Arn`]] : [];
  });
  const names = {
    ...Object.fromEntries(named),
    'AWS::Partition': 'aws',
    'AWS::AccountId': '123456789012',
    'AWS::Region': 'us-east-1',
  };
  const [pdftools, router, site] = ROLES.map((role) => rightsOf(role, resources, names));
  return { pdftools: pdftools!, router: router!, site: site! };
}

/** Returns what each role may do, as a table. */
export function permissionTable(): string {
  const roles = readRoles();
  const rows = Object.entries(CALLS).map(([what, calls]) => [
    what,
    ...ROLES.map((role) => {
      const verbs = Object.entries(calls).filter(([, call]) => isAllowed(roles[role], call));
      return verbs.map(([verb]) => verb).join(', ') || '–';
    }),
  ]);
  return table(['', 'a tool', 'router', 'site'], rows);
}
