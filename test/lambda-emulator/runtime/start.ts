import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { RuntimeApi } from './api.ts';
import { buildRuntimeClient } from './build.ts';

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node');

/** Variables that AWS's client requires. */
const REQUIRED_VARIABLES = {
  AWS_LAMBDA_FUNCTION_NAME: 'test',
  AWS_LAMBDA_FUNCTION_VERSION: '1',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
  AWS_LAMBDA_LOG_GROUP_NAME: '/test',
  AWS_LAMBDA_LOG_STREAM_NAME: 'test',
  _HANDLER: 'index.handler',
} as const;

/** Runs a function of this folder (`index.mjs`) in AWS's own runtime client, as an ordinary process without a sandbox. */
export async function startRuntime(taskRoot: string): Promise<{ api: RuntimeApi; child: ChildProcess }> {
  const client = await buildRuntimeClient(() => {});
  const api = new RuntimeApi();
  const address = await api.listen();
  const args = ['--import', join(import.meta.dirname, 'native-client.mjs'), join(client, 'index.mjs')];
  const child = spawn(NODE, args, {
    env: { ...REQUIRED_VARIABLES, LAMBDA_TASK_ROOT: taskRoot, AWS_LAMBDA_RUNTIME_API: address },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    api.onIdle = resolve;
    api.onInitError = (report) => reject(new Error(report));
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`The runtime ended with ${signal ?? code}.`)));
  });
  return { api, child };
}
