import { join } from 'node:path';
import { createDynamoKeys } from '../../../../functions/shared/keys/dynamodb.ts';
import { settings as defaults, type Settings } from '../../../../infra/aws/settings.ts';
import { startDynalite } from '../dynalite.ts';
import { type Ending, Refusal, startLambdaEndpoint } from '../lambda-endpoint.ts';
import { startRadosGateway } from '../radosgw.ts';
import { buildBase } from './base.ts';
import { readDeployment } from './deployment.ts';
import { startFront } from './front.ts';
import { FunctionPool } from './function-pool.ts';
import { publicAddress } from './network.ts';
import { Ended, type FunctionShape, type Host } from './sandbox.ts';

const NODE = join(import.meta.dirname, '../../../../node_modules/node/bin/node');

export type Shape = Awaited<ReturnType<typeof startShape>>;

/** Everything the stack deploys, on this machine: the built bundles and layers in sandboxes, a real S3, a DynamoDB. */
export async function startShape({
  log,
  settings = defaults,
  runtimeApi,
}: Pick<Host, 'log' | 'runtimeApi'> & { readonly settings?: Settings }) {
  const gateway = await startRadosGateway('results');
  const storage = publicAddress(Number(new URL(gateway.endpoint).port));
  const table = await startDynalite('keys');
  const host = { base: await buildBase(log), node: NODE, log, ...(runtimeApi && { runtimeApi }) };

  const functions = new Map<string, FunctionPool>();
  const shapes = new Map<string, FunctionShape>();
  const lambda = await startLambdaEndpoint((name, event) =>
    run(functions.get(name.split(':').at(-1)!), event),
  );
  for (const shape of readDeployment(settings, { bucket: 'results', table: 'keys' })) {
    const reach = shape.name === 'router' && {
      AWS_ENDPOINT_URL_S3: storage,
      AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint,
      AWS_ACCESS_KEY_ID: gateway.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: gateway.credentials.secretAccessKey,
      AWS_SESSION_TOKEN: '',
    };
    const reaching = { ...shape, environment: { ...shape.environment, ...reach } };
    shapes.set(shape.name, reaching);
    functions.set(shape.name, new FunctionPool(reaching, host));
  }

  const front = await startFront(functions.get('router')!);
  return {
    base: front.base,
    apiKey: await createDynamoKeys({ client: table.client, table: 'keys' }).create(),
    functions,
    shapes,
    host,
    storage: gateway,
    table,
    close: async () => {
      front.close();
      for (const pool of functions.values()) pool.cool();
      await Promise.all([lambda.close(), table.close(), gateway.close()]);
    },
  };
}

/** Tells the caller of a function what came of it, in the words of the Invoke API. */
async function run(pool: FunctionPool | undefined, event: unknown): Promise<Ending> {
  try {
    const { kind, body } = await pool!.invoke(event);
    const payload = JSON.parse(body.toString()) as unknown;
    return kind === 'error' ? { payload, functionError: 'Unhandled' } : { payload };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const errorType = error instanceof Ended ? error.errorType : 'Runtime.Unknown';
    return { payload: { errorType, errorMessage: errorType }, functionError: 'Unhandled' };
  }
}
