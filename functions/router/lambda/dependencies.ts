import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { createAwsClient } from '../../buckets/s3.ts';
import { createDurableQueue } from '../../jobs/durable/queue.ts';
import { checkWebhook } from '../../jobs/webhooks/attempt.ts';
import { type RouterEnvironment, readEnvironment, TABLE_CLIENT } from '../../platform/aws/environment.ts';
import { createLambdaHealth, createLambdaInvoke } from '../../platform/aws/invoke.ts';
import { logEngineAge, watchErrors, withCallMetrics } from '../../platform/aws/lambda/metrics.ts';
import { loadParameters } from '../../platform/aws/load-parameters.ts';
import { createS3Cache, createS3Samples, createS3Storage, createS3Uploads } from '../../platform/aws/s3.ts';
import { createDynamoTable } from '../../platform/aws/table.ts';
import { createStores, type Stores } from '../../platform/stores.ts';
import { createPricing } from '../../platform/usage-report.ts';
import { createEgressGuard } from '../../shared/egress/guard.ts';
import { createLog } from '../../shared/log.ts';
import { TIMEOUTS } from '../../shared/settings/aws.ts';
import { logSettings } from '../../shared/settings/service.ts';
import { CONVERSION_LIMITS } from '../../shared/tool.ts';
import * as tools from '../../tools.ts';
import { createTraces } from '../call.ts';
import type { Dependencies } from '../dependencies.ts';
import { createCoalescer } from '../reuse.ts';

/** Maximum milliseconds for sending the traces of a call. The router waits for that after its response. */
const TRACE_TIME = 1000;

/** Builds the router's dependencies on AWS from the settings that the stack writes into its environment. */
export function readDependencies(): Dependencies & {
  readonly frontSecret?: string | undefined;
  readonly stores: Stores;
} {
  const environment = readEnvironment<RouterEnvironment>();
  const { isolated, metricsNamespace, toolFunctions, settings } = environment;
  const lambda = new LambdaClient({
    // The SDK would also retry errors after which the conversion may still be running.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 5000, socketTimeout: TIMEOUTS.wait },
  });
  const log = createLog((line) => process.stdout.write(`${line}\n`), logSettings('json'));
  // Without checksum parameters, a presigned URL is short and works with any client.
  const s3 = new S3Client({
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  // Once per execution environment, so at least daily in a service that is used.
  logEngineAge(log, metricsNamespace, environment.version.built);
  const results = { client: s3, bucket: environment.resultsBucket };
  const table = createDynamoTable({
    client: new DynamoDBClient(TABLE_CLIENT),
    table: environment.keyTable,
  });
  const stores = createStores(table, Object.keys(tools));
  const watched = <Store extends object>(store: Store) => watchErrors(store, log, metricsNamespace);
  const { traces, frontSecret } = environment;
  const functionName = environment.jobs?.functionName;
  const guard = createEgressGuard({ ownHosts: environment.ownHosts });
  const queue =
    functionName === undefined
      ? undefined
      : createDurableQueue({
          jobs: stores.jobs,
          client: lambda,
          functionName,
          checkWebhook: (url, account, signal) =>
            checkWebhook(url, account, { guard, isInsecureAllowed: () => false }, signal),
        });
  const storage = createS3Storage({ ...results, urlLifetime: environment.urlLifetime });
  const dependencies: Dependencies = {
    tools: Object.values(tools),
    keys: watched(stores.keys),
    limiter: watched(stores.limiter),
    usage: watched(stores.usage),
    failures: watched(stores.failures),
    idempotency: watched(stores.idempotency),
    queue,
    priceRows: environment.sizes && createPricing(environment.sizes),
    ...settings,
    storage,
    sampleUrl: createS3Samples(results, storage, join(import.meta.dirname, 'samples')),
    resultCache: createS3Cache(results),
    uploads: createS3Uploads(results),
    buckets: {
      prefixes: stores.prefixes,
      client: async () => createAwsClient(s3, environment.resultsBucket),
    },
    invoke: createLambdaInvoke({
      client: lambda,
      functionName: (tool) => toolFunctions[tool] ?? tool,
      isolated,
    }),
    health: createLambdaHealth({ client: lambda, functions: toolFunctions, isolated, table }),
    version: withNode(environment.version),
    coalesce: createCoalescer(),
    limits: { ...CONVERSION_LIMITS, ...environment.conversionLimits },
    log: withCallMetrics(log, metricsNamespace),
    traces:
      traces &&
      createTraces({
        endpoint: traces.endpoint,
        ...(traces.parameter !== undefined && { headers: () => readSecret(traces.parameter!) }),
        timeout: TRACE_TIME,
        log,
      }),
  };
  return { ...dependencies, frontSecret, stores };
}

/** Reads one SSM parameter. */
async function readSecret(name: string): Promise<string | undefined> {
  const { readParameters } = await loadParameters();
  return (await readParameters([name])).get(name);
}

/** Adds the version of Node.js that runs this code, which is that of the managed runtime. */
function withNode(version: RouterEnvironment['version']): object {
  return { ...version, engines: { ...version.engines, node: process.version.slice(1) } };
}
