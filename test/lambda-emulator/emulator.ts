import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { createDynamoTable } from '../../functions/platform/aws/table.ts';
import { createKeys } from '../../functions/platform/key-store.ts';
import { parseSettings, type Settings } from '../../infra/aws/settings.ts';
import { startDynalite } from '../aws-servers/dynalite.ts';
import { type Ending, Refusal, startLambdaEndpoint } from '../aws-servers/lambda-endpoint.ts';
import { type RadosGateway, startRadosGateway } from '../aws-servers/radosgw.ts';
import { Account, metricLine, type Report } from './account.ts';
import { GATEWAY, ROLES, type Role, readDeployment } from './deployment.ts';
import { DurableService } from './durable.ts';
import { FunctionPool } from './function-pool.ts';
import { startFront } from './gateway.ts';
import { DYNAMODB, LAMBDA, S3, type Service, SSM, startGuard } from './iam.ts';
import { publicAddress } from './network.ts';
import { buildHost, Ended, type FunctionDefinition, type Host } from './sandbox.ts';

const defaults = parseSettings({});

/** As long as Lambda's session tokens, and with the same alphabet. It becomes part of every presigned URL. */
const SESSION_TOKEN = `IQoJb3JpZ2luX2Vj${'aB3/+xYz9'.repeat(96)}==`;

/** How much shorter the pauses of durable executions are than on AWS. */
const PAUSE_SCALE = 0.1;

/** Maximum number of characters of each function's log that are kept, in whole lines. */
const MAX_LOG = 100_000;

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/**
 * Runs everything that the stack deploys on this machine: the built bundles and layers in sandboxes, a real
 * S3, a DynamoDB.
 */
export async function startEmulator({
  log,
  settings = defaults,
  runtimeApi,
  quota,
  processorShares,
  variables = {},
  parameters: secrets = {},
}: Pick<Host, 'log' | 'runtimeApi' | 'processorShares'> & {
  readonly settings?: Settings;
  /** Concurrent executions of the account. Unlimited by default. */
  readonly quota?: number;
  /** Environment variables in place of those of the deployment, by function. */
  readonly variables?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Parameters of SSM by their names. */
  readonly parameters?: Readonly<Record<string, string>>;
}) {
  const gateway = await startRadosGateway('results');
  const table = await startDynalite('keys');
  const parameters = await startParameters(secrets);
  /** Log of each function so far. */
  const logs = new Map<string, string>();
  const record = (line: string) => {
    const [name] = line.split(':', 1);
    const text = `${logs.get(name!) ?? ''}${line.slice(name!.length + 2)}\n`;
    logs.set(name!, text.length > MAX_LOG ? text.slice(text.indexOf('\n', text.length - MAX_LOG) + 1) : text);
    log(line);
  };
  const host: Host = {
    ...(await buildHost(log)),
    log: record,
    processorShares,
    ...(runtimeApi && { runtimeApi }),
  };
  const report: Report = (...metric) => log(`aws: ${metricLine(...metric)}`);
  const account = new Account(quota, report);

  const functions = new Map<string, FunctionPool>();
  const definitions = new Map<string, FunctionDefinition>();
  const invoke = async (name: string, event: unknown, account?: string) => {
    const own = functionName(name);
    const qualifier = /:function:[^:]+:([\w-]+)$/.exec(name)?.[1];
    const ending = await run(functions.get(own), event, account, qualifier);
    return { ...ending, log: logs.get(own) ?? '' };
  };
  const endFunction = (name: string) => {
    for (const sandbox of functions.get(functionName(name))!.sandboxes) sandbox.kill('Runtime.ExitError');
  };
  const durable = new DurableService(invoke, endFunction, PAUSE_SCALE);
  const lambda = await startLambdaEndpoint(invoke, (request) => durable.respond(request));
  const deployment = readDeployment(settings, { bucket: 'results', table: 'keys' });
  const calls: string[] = [];
  const denied: string[] = [];
  const guarded = async (role: Role) => {
    const start = (target: string, service: Service) =>
      startGuard(target, service, deployment.rights[role], (call, isDenied) => {
        calls.push(call);
        if (isDenied) denied.push(call);
      });
    return {
      s3: await start(gateway.endpoint, S3),
      dynamodb: await start(table.endpoint, DYNAMODB),
      lambda: await start(lambda.endpoint, LAMBDA),
      ssm: await start(parameters.endpoint, SSM),
    };
  };
  const guardsOf = {
    router: await guarded('router'),
    site: await guarded('site'),
    jobs: await guarded('jobs'),
  };
  const guards = Object.values(guardsOf).flatMap((services) => Object.values(services));
  const storage = publicAddress(guardsOf.router.s3.port);
  // Without a quota nothing is throttled, so that other tests are not affected.
  const unlimited = { rate: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY };
  const gatewaySettings = {
    ...deployment.gateway,
    routes: deployment.gateway.routes.map((route) =>
      quota === undefined ? { ...route, throttle: unlimited } : route,
    ),
  };
  const serving = (path: string) => functions.get(/^\/api\/site(\/|$)/.test(path) ? 'site' : 'router')!;
  const front = await startFront(serving, gatewaySettings, report);
  await allowUploads(
    gateway,
    deployment.uploadOrigins.map((origin) => origin.replace(GATEWAY, front.base)),
  );
  for (const definition of deployment.functions) {
    const role = ROLES.find((name) => name === definition.name);
    const guards = role && guardsOf[role];
    const reach = guards && {
      AWS_ENDPOINT_URL_S3: storage,
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${guards.dynamodb.port}`,
      AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${guards.lambda.port}`,
      AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${guards.ssm.port}`,
      AWS_ACCESS_KEY_ID: gateway.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: gateway.credentials.secretAccessKey,
      AWS_SESSION_TOKEN: SESSION_TOKEN,
    };
    const environment = Object.entries({
      ...definition.environment,
      ...reach,
      ...variables[definition.name],
    });
    const reaching = {
      ...definition,
      environment: Object.fromEntries(
        environment.map(([name, value]) => [
          name,
          value
            .replace(deployment.resultsUrl, `${storage}/results`)
            .replace(new URL(deployment.resultsUrl).origin, storage)
            .replaceAll(GATEWAY, front.base),
        ]),
      ),
    };
    definitions.set(definition.name, reaching);
    functions.set(definition.name, new FunctionPool(reaching, host, account, report));
  }

  return {
    base: front.base,
    apiKey: await createKeys(createDynamoTable({ client: table.client, table: 'keys' }))
      .create({ name: 'emulator' })
      .then((created) => created.apiKey),
    functions,
    definitions,
    account,
    /** The last lines that each function has logged. */
    logs: logs as ReadonlyMap<string, string>,
    /** Endpoint of the Invoke API. */
    lambda: lambda.endpoint,
    /** Endpoints of AWS services that allow only what the role of a function may do. */
    endpointOf: (role: Role, service: 'dynamodb' | 'lambda') =>
      `http://127.0.0.1:${guardsOf[role][service].port}`,
    durable,
    host,
    storage: gateway,
    /** Calls of functions that their roles do not allow, and that were refused. */
    denied: denied as readonly string[],
    /** All calls of functions with a role of their own, such as `dynamodb:GetItem on ARN ID`. */
    calls: calls as readonly string[],
    /** The URL of the storage that functions use, with the rights of the router. */
    storageUrl: storage,
    table,
    /** Closes the connections that routers keep to AWS, as AWS does while they are frozen. */
    closeIdleConnections: () => {
      for (const guard of guards) guard.closeIdle();
    },
    close: async () => {
      front.close();
      durable.close();
      parameters.close();
      for (const guard of guards) guard.close();
      for (const pool of functions.values()) pool.cool();
      await Promise.all([lambda.close(), table.close(), gateway.close()]);
    },
  };
}

/** Sets the CORS rules of the bucket: everyone may read. Unlike S3, the gateway reads only the first rule for an origin. */
async function allowUploads({ client, bucket }: RadosGateway, origins: readonly string[]): Promise<void> {
  const reading = ['GET', 'HEAD'];
  const rules = [
    ...(origins.length > 0 ? [{ AllowedMethods: ['POST', ...reading], AllowedOrigins: [...origins] }] : []),
    { AllowedMethods: reading, AllowedOrigins: ['*'] },
  ].map((rule) => ({ ...rule, AllowedHeaders: ['*'] }));
  await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: rules } }));
}

/** Reads the name from a function's name or ARN, with or without a version. */
function functionName(given: string): string {
  return given.split(':function:').at(-1)!.split(':')[0]!;
}

/** Returns what the Invoke API returns for one event. */
async function run(
  pool: FunctionPool | undefined,
  event: unknown,
  account: string | undefined,
  qualifier: string | undefined,
): Promise<Ending> {
  try {
    const { kind, body } = await pool!.invoke(event, account, qualifier);
    if (kind === 'stream') return { payload: body };
    const payload = JSON.parse(body.toString()) as unknown;
    return kind === 'error' ? { payload, functionError: 'Unhandled' } : { payload };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const errorType = error instanceof Ended ? error.errorType : 'Runtime.Unknown';
    return { payload: { errorType, errorMessage: errorType }, functionError: 'Unhandled' };
  }
}

/** Starts an endpoint with the action of SSM that reads parameters. */
async function startParameters(values: Readonly<Record<string, string>>) {
  const server = createServer(async (request, response) => {
    const { Names } = (await json(request)) as { Names: string[] };
    const known = Names.filter((name) => Object.hasOwn(values, name));
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(
      JSON.stringify({
        Parameters: known.map((Name) => ({ Name, Value: values[Name] })),
        InvalidParameters: Names.filter((name) => !known.includes(name)),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
