import { Match, Template } from 'aws-cdk-lib/assertions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { parseSettings } from '../../../infra/aws/settings.ts';
import { createArtifacts } from './artifacts.ts';
import { createApp } from './create-app.ts';

let artifacts: ReturnType<typeof createArtifacts>;
beforeAll(() => {
  artifacts = createArtifacts();
});
afterAll(() => artifacts.remove());

function templateOf(buckets: unknown): Template {
  const settings = parseSettings({ buckets });
  const stack = new ServiceStack(createApp(), 'buckets', { settings, artifacts: artifacts.artifacts });
  return Template.fromStack(stack);
}

const arn = (path: string) => ({ 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, `:s3:::${path}`]] });
const statement = (Action: string, Resource: unknown) => ({
  Action,
  Condition: { StringEquals: { 'aws:ResourceAccount': { Ref: 'AWS::AccountId' } } },
  Effect: 'Allow',
  Resource,
});

describe('the buckets in the settings', () => {
  it('may be used only by the router and by jobs, below their prefixes and in this AWS account', () => {
    const template = templateOf({
      read: ['s3://files/in/', 's3://archive/'],
      write: ['s3://files/out/', 's3://archive/'],
    });

    const Statement = Match.arrayWith([
      statement('s3:GetObject', [arn('files/in/*'), arn('archive/*')]),
      statement('s3:PutObject', [arn('files/out/*'), arn('archive/*')]),
    ]);
    const roles = ['router', 'jobs'];
    for (const role of roles)
      template.hasResourceProperties('AWS::IAM::Policy', {
        PolicyDocument: { Statement },
        Roles: [{ Ref: Match.stringLikeRegexp(`^${role}Role`) }],
      });
    const all = Object.values(template.findResources('AWS::IAM::Policy'));
    expect(all.filter((policy) => JSON.stringify(policy).includes(':s3:::'))).toHaveLength(roles.length);
  });

  it('are none by default', () => {
    expect(JSON.stringify(templateOf({}).findResources('AWS::IAM::Policy'))).not.toContain(':s3:::');
  });

  it.each(['s3://files', 's3://files/in', 'files/in/', 's3://files/in*/', 's3://files/$a/'])(
    'are refused as %s',
    (url) => {
      expect(() => parseSettings({ buckets: { read: [url] } })).toThrow(
        'buckets.read.0: Must be s3://BUCKET/ or s3://BUCKET/PREFIX/, without *, ? and $.',
      );
    },
  );
});
