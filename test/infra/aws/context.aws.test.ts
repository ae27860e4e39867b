import { type App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { expect, it } from 'vitest';
import { checkContext } from '../../../infra/aws/context.ts';
import { createApp } from './create-app.ts';

const BOUNDARY = '@aws-cdk/core:permissionsBoundary';

/** Returns the boundary of a role in an app with this context. */
function boundaryOf(context: Readonly<Record<string, unknown>>): string {
  const app: App = createApp({ context });
  checkContext(app.node);
  const stack = new Stack(app, 'test');
  new Role(stack, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  const [role] = Object.values(Template.fromStack(stack).findResources('AWS::IAM::Role'));
  return JSON.stringify(role!.Properties.PermissionsBoundary);
}

it.each([
  ['landing-zone', ':policy/landing-zone'],
  ['{"name":"landing-zone"}', ':policy/landing-zone'],
  ['arn:aws:iam::123456789012:policy/zone', 'arn:aws:iam::123456789012:policy/zone'],
  [{ name: 'landing-zone' }, ':policy/landing-zone'],
])('applies a permissions boundary in each form: %j', (given, expected) => {
  expect(boundaryOf({ [BOUNDARY]: given })).toContain(expected);
});

it.each(['stagee', 'tenantIsolation', '@aws-cdk/core:permissionBoundary', 'setting'])(
  'refuses an unknown name: %s',
  (name) => {
    expect(() => boundaryOf({ [name]: 'x' })).toThrow(`Unknown context ${name}. Settings belong into`);
  },
);

it.each([
  'stage',
  'settings',
  'aws:cdk:bundling-stacks',
  '@aws-cdk/core:enablePartitionLiterals',
  '@aws-cdk/core:failSynthOnValidationErrors',
])('accepts %s', (name) => {
  const app = createApp({ context: { [name]: 'x' } });

  expect(() => checkContext(app.node)).not.toThrow();
});
