import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { type RouterEnvironment, readEnvironment } from '../../platform/aws/environment.ts';
import { createLambdaHealth, createLambdaInvoke } from '../../platform/aws/invoke.ts';
import { logEngineAge, watchErrors, withCallMetrics } from '../../platform/aws/lambda/metrics.ts';
import { createS3Cache, createS3Samples, createS3Storage, createS3Uploads } from '../../platform/aws/s3.ts';
import { createDynamoTable } from '../../platform/aws/table.ts';
import { createStores } from '../../platform/stores.ts';
import { createPricing } from '../../platform/usage-report.ts';
import { createLog } from '../../shared/log.ts';
import { SITE_PATH, TIMEOUTS } from '../../shared/settings/aws.ts';
import { logSettings } from '../../shared/settings/service.ts';
import { CONVERSION_LIMITS } from '../../shared/tool.ts';
import { loadSite } from '../../site/load.ts';
import * as tools from '../../tools.ts';
import { createTraces } from '../call.ts';
import type { Dependencies } from '../dependencies.ts';
import { createCoalescer } from '../reuse.ts';
import { createSiteGateway, type SiteGateway } from './http.ts';

/**
 * Timeouts of a request to DynamoDB in milliseconds. Most take a few milliseconds, and the SDK retries failed ones.
 */
const FAST_CLIENT = {
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;

/** Maximum milliseconds for sending the traces of a call. The router waits for that after its response. */
const TRACE_TIME = 1000;

/** Builds the router's dependencies on AWS from the settings that the stack writes into its environment. */
export function readDependencies(): Dependencies & {
  readonly siteGateway?: SiteGateway;
  readonly frontSecret?: string | undefined;
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
    client: new DynamoDBClient(FAST_CLIENT),
    table: environment.keyTable,
  });
  const { audit, accounts, records, ...stores } = createStores(table, Object.keys(tools));
  const watched = <Store extends object>(store: Store) => watchErrors(store, log, metricsNamespace);
  const keys = watched(stores.keys);
  const failures = watched(stores.failures);
  const { traces, frontSecret } = environment;
  const dependencies: Dependencies = {
    tools: Object.values(tools),
    keys,
    limiter: watched(stores.limiter),
    usage: watched(stores.usage),
    failures,
    idempotency: watched(stores.idempotency),
    priceRows: environment.sizes && createPricing(environment.sizes),
    ...settings,
    storage: createS3Storage({ ...results, urlLifetime: environment.urlLifetime }),
    resultCache: createS3Cache(results),
    uploads: createS3Uploads(results),
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
  const { site } = environment;
  if (!site) return { ...dependencies, frontSecret };
  const open: Parameters<typeof createSiteGateway>[0]['open'] = async (keep) => {
    const { openSite } = await loadSite();
    const { health, version } = dependencies;
    const operation = { health, version };
    return openSite(site, {
      ...dependencies,
      keys,
      failures,
      operation,
      audit,
      accounts,
      records,
      supportUrl: settings.contact.supportUrl,
      keep,
    });
  };
  const siteGateway = createSiteGateway({ path: SITE_PATH, origin: site.origin, open });
  const sampleUrl = createS3Samples(results, dependencies.storage, join(import.meta.dirname, 'site/samples'));
  return { ...dependencies, sampleUrl, siteGateway, frontSecret };
}

/** Reads one SSM parameter, with the site's script. */
async function readSecret(name: string): Promise<string | undefined> {
  const { readParameters } = await loadSite();
  return (await readParameters([name])).get(name);
}

/** Adds the version of Node.js that runs this code, which is that of the managed runtime. */
function withNode(version: RouterEnvironment['version']): object {
  return { ...version, engines: { ...version.engines, node: process.version.slice(1) } };
}
