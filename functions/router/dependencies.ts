import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { createLambdaHealth } from '../platform/aws/health.ts';
import { createLambdaInvoke } from '../platform/aws/invoke.ts';
import { createDynamoKeys } from '../platform/aws/keys.ts';
import { watchErrors, withCallMetrics } from '../platform/aws/lambda/emf.ts';
import { createDynamoLimiter } from '../platform/aws/limits.ts';
import { createS3Storage } from '../platform/aws/s3-storage.ts';
import { createDynamoUsage } from '../platform/aws/usage.ts';
import { createLog } from '../shared/log.ts';
import { demoSettings, keyLimitSettings, logSettings } from '../shared/settings/accounts.ts';
import { numberSetting, textSetting } from '../shared/settings/environment.ts';
import { limitSettings } from '../shared/settings/limits.ts';
import { metricsNamespace } from '../shared/settings/metrics.ts';
import { TIMEOUTS } from '../shared/settings/timeouts.ts';
import { MAX_URL_LIFETIME } from '../shared/settings/url-lifetime.ts';
import * as tools from '../tools.ts';
import { createCoalescer } from './coalesce.ts';
import type { Dependencies } from './route.ts';

/** Time limits of a request to DynamoDB, in milliseconds. One usually takes a few, and the SDK repeats those that fail. */
const QUICK = {
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;

/** Builds the router's dependencies on AWS from the settings that the stack writes into its environment. */
export function readDependencies(): Dependencies {
  const functions = JSON.parse(textSetting('TOOL_FUNCTIONS', '{}')) as Record<string, string>;
  const lambda = new LambdaClient({
    // The SDK would also retry errors after which the conversion may be running.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 5000, socketTimeout: TIMEOUTS.wait },
  });
  const isolated = textSetting('TENANT_ISOLATION', 'off') === 'on';
  const log = createLog((line) => process.stdout.write(`${line}\n`), logSettings('json'));
  const metrics = metricsNamespace();
  const accounts = { client: new DynamoDBClient(QUICK), table: textSetting('KEY_TABLE', '') };
  return {
    tools: Object.values(tools),
    keys: watchErrors(createDynamoKeys(accounts), log, metrics),
    limiter: watchErrors(createDynamoLimiter(accounts), log, metrics),
    usage: watchErrors(createDynamoUsage({ ...accounts, tools: Object.keys(tools) }), log, metrics),
    defaultLimits: keyLimitSettings({ perMinute: 3000, perMonth: 1_000_000, concurrent: 50 }),
    storage: createS3Storage({
      // Without checksum parameters a presigned URL stays short and works with any client.
      client: new S3Client({
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
      }),
      bucket: textSetting('RESULTS_BUCKET', ''),
      urlLifetime: numberSetting('URL_LIFETIME', 3600, { min: 1, max: MAX_URL_LIFETIME }),
    }),
    invoke: createLambdaInvoke({
      client: lambda,
      functionName: (tool) => functions[tool] ?? tool,
      isolated,
    }),
    health: createLambdaHealth({ client: lambda, functions, isolated }),
    version: deployedVersion(),
    coalesce: createCoalescer(),
    limits: limitSettings({ longest: 240 }),
    demo: demoSettings(),
    contact: { accountUrl: textSetting('ACCOUNT_URL', ''), supportUrl: textSetting('SUPPORT_URL', '') },
    log: withCallMetrics(log, metrics),
  };
}

/** The versions that were deployed, with the Node.js that runs them: that of the managed runtime. */
function deployedVersion(): object {
  const version = JSON.parse(textSetting('VERSION', '{}')) as { readonly engines?: object };
  return { ...version, engines: { ...version.engines, node: process.version.slice(1) } };
}
