import * as cdk from 'aws-cdk-lib/cx-api';
import type { Node } from 'constructs';

const BOUNDARY = '@aws-cdk/core:permissionsBoundary';
/** Names of the commands' own options, and those that the CDK's command and library use. */
const KNOWN = new Set<unknown>([
  'stage',
  'settings',
  BOUNDARY,
  '@aws-cdk/core:bootstrapQualifier',
  '@aws-cdk/core:validationReportJson',
  ...Object.values(cdk),
]);

/**
 * Checks the values that `cdk` was given by `-c`. They are texts, so a permissions boundary is the name or ARN of the policy,
 * or the JSON that `cdk.json` may contain.
 * @throws Error for an unknown name, because a misspelled one would have no effect
 */
export function checkContext(node: Node): void {
  const given = node.getAllContext() as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).filter((name) => !KNOWN.has(name) && !name.startsWith('aws:cdk:'));
  if (unknown.length > 0)
    throw new Error(`Unknown context ${unknown.join(', ')}. Settings belong into infra/aws/settings.json.`);
  const boundary = given[BOUNDARY];
  if (typeof boundary === 'string') node.setContext(BOUNDARY, readBoundary(boundary));
}

function readBoundary(text: string): object {
  if (text.startsWith('{')) return JSON.parse(text) as object;
  return text.startsWith('arn:') ? { arn: text } : { name: text };
}
