import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { readEnvironment, type SiteEnvironment, TABLE_CLIENT } from '../platform/aws/environment.ts';
import { watchErrors } from '../platform/aws/lambda/metrics.ts';
import { readParameters } from '../platform/aws/parameters.ts';
import { createDynamoTable } from '../platform/aws/table.ts';
import type { Health } from '../platform/invoke.ts';
import { createSmtp } from '../platform/smtp.ts';
import { createStores } from '../platform/stores.ts';
import { createPricing } from '../platform/usage-report.ts';
import type { GatewayEvent, Respond } from '../router/lambda/http.ts';
import { presentationOf } from '../router/reply.ts';
import { ConversionError } from '../shared/errors.ts';
import { createLog, describe, type Log } from '../shared/log.ts';
import { MAX_INLINE_BYTES, SITE_PATH, TIMEOUTS } from '../shared/settings/aws.ts';
import { logSettings } from '../shared/settings/service.ts';
import * as tools from '../tools.ts';
import { createForward, type Forward } from './forward.ts';
import { assetsOf } from './html.ts';
import { createSite, type Site } from './site.ts';

/** Builds the site's function from the settings that the stack writes into its environment. */
export function readSite() {
  const environment = readEnvironment<SiteEnvironment>();
  const log = createLog((line) => process.stdout.write(`${line}\n`), logSettings('json'));
  // The SDK would also retry errors after which the conversion may still be running.
  const lambda = new LambdaClient({ maxAttempts: 1, requestHandler: { socketTimeout: TIMEOUTS.router } });
  const forward = createForward(lambda, environment.router);
  // Emails that may be sent after the reply.
  const tasks = new Set<Promise<void>>();
  const keep = (task: Promise<void>) => {
    const ended = task.then(
      () => void tasks.delete(ended),
      () => void tasks.delete(ended),
    );
    tasks.add(ended);
    return task;
  };
  let opened: Promise<Site> | undefined;
  const open = () => {
    opened ??= openSite(environment, { log, keep, forward });
    opened.catch(() => (opened = undefined));
    return opened;
  };

  const respond: Respond = async (request, signal, event) => {
    const found = await (await open()).respond(request, environment.origin);
    if (found && !('routed' in found)) return request.method === 'HEAD' ? { ...found, body: '' } : found;
    const { path, member } = found?.routed ?? request;
    const requestContext = { ...event.requestContext, path };
    return forward({ ...event, requestContext, ...(member && { member }) }, signal).catch((thrown) => {
      log('router failed', { cause: describe(thrown) }, 'error');
      return presentationOf(request, event.requestContext.requestId).error(ConversionError.from(thrown));
    });
  };
  return { respond, idle: async () => void (await Promise.all(tasks)), frontSecret: environment.frontSecret };
}

/** Opens the site with its secrets and the files beside this script. */
async function openSite(
  environment: SiteEnvironment,
  { log, keep, forward }: { log: Log; keep: (task: Promise<void>) => Promise<void>; forward: Forward },
): Promise<Site> {
  const { origin, resultsOrigin, resultHours, signUp, mail, openId, sizes } = environment;
  const client = new DynamoDBClient(TABLE_CLIENT);
  const table = createDynamoTable({ client, table: environment.keyTable });
  const { limiter, keys, usage, failures, ...stores } = createStores(table, Object.keys(tools));
  const watched = <Store extends object>(store: Store) =>
    watchErrors(store, log, environment.metricsNamespace);
  const folder = join(import.meta.dirname, 'site');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const named = [mail?.parameter, openId?.secretParameter].filter((name) => name !== undefined);
  const secrets = await readParameters(named);
  const send = mail && createSmtp(secrets.get(mail.parameter)!, mail.from);
  const clientSecret = openId?.secretParameter && secrets.get(openId.secretParameter);
  return createSite({
    tools: Object.values(tools),
    assets: assetsOf({ script: read('app.js'), style: read('style.css') }),
    accounts: {
      ...stores,
      limiter: watched(limiter),
      keys: watched(keys),
      usage: watched(usage),
      failures: watched(failures),
      priceRows: sizes && createPricing(sizes),
      defaultLimits: environment.defaultLimits,
      operation: { health: () => readHealth(forward), version: environment.version },
      callApi: (httpMethod, path, member) =>
        forward(
          { httpMethod, headers: {}, requestContext: { path }, member } as GatewayEvent,
          AbortSignal.timeout(TIMEOUTS.router),
        ),
      log,
      signUp,
      sendMail: send && ((message) => keep(send(message))),
      openId: openId && { ...openId, clientSecret },
      origin: `${origin}${SITE_PATH}`,
    },
    supportUrl: environment.supportUrl,
    resultOrigins: [resultsOrigin],
    path: SITE_PATH,
    maxSource: environment.conversionLimits.sourceBytes,
    resultHours,
    maxBody: MAX_INLINE_BYTES,
  });
}

/** Asks the router for the state of the tools, which only it may invoke. */
async function readHealth(forward: Forward): Promise<Health> {
  const event = { httpMethod: 'GET', headers: {}, requestContext: { path: '/api/health' } };
  const { body } = await forward(event as GatewayEvent, AbortSignal.timeout(TIMEOUTS.router));
  return (JSON.parse(String(body)) as { tools: Health }).tools;
}
