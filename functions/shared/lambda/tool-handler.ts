import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { createHandler } from '../conversion/handler.ts';
import { createEgress } from '../egress/guard.ts';
import type { Invocation, InvocationResult } from '../invoke/invoke.ts';
import { describe, jsonLog } from '../log.ts';
import { listSetting } from '../settings/environment.ts';
import { sandboxSetting } from '../settings/sandbox.ts';
import { downloadSource } from '../source/download.ts';
import { putToS3 } from '../storage/s3-put.ts';
import type { CreateEngine, Tool } from '../tool.ts';
import { unfoldLayers } from './inflate-layers.ts';
import { reportSandbox } from './sandbox-report.ts';

/** What Lambda tells with an event; only this of it is used. */
interface Context {
  getRemainingTimeInMillis(): number;
}

/** Milliseconds that the init phase waits for the engine. */
const WARM_TIME = 5000;
/** Milliseconds before Lambda's own limit at which a conversion is given up, so that the caller gets an answer. */
const RESERVE = 5000;

/** Makes the Lambda handler of a tool, with its engine started and everything inflated that it will need. */
export async function createToolHandler<T extends Tool>(
  tool: T,
  createEngine: CreateEngine<T>,
): Promise<(invocation: Invocation, context: Context) => Promise<InvocationResult>> {
  const log = jsonLog((line) => process.stdout.write(`${line}\n`));
  const { layers, whole } = await unfoldLayers('/opt', '/tmp/layers');
  // Not beside the layers: engines may write here.
  const temporary = '/tmp/conversions';
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  // No exceptions: on Lambda only public addresses may be reached, whoever sets what.
  const egress = createEgress({ ownHosts: listSetting('OWN_HOSTS') });
  const sandbox = sandboxSetting('best-effort');
  if (tool.sizing.layers.includes('sandbox')) reportSandbox(log, tool.name, layers, sandbox);
  const engine = createEngine({
    layers,
    sandbox,
    code: ['/var/task', '/opt'],
    temporary,
    egress,
    size: availableParallelism(),
  });
  const handle = createHandler(tool, engine, {
    download: (address, options) => downloadSource(address, { ...options, egress }),
    put: putToS3,
    temporary,
    log,
  });
  // In the init phase, which has the whole processor but ends after 10 s; an engine that did not start does when asked.
  const warm = engine
    .warm?.()
    .catch((error: unknown) => log('engine not started', { cause: describe(error) }));
  await Promise.all([whole, Promise.race([warm, setTimeout(WARM_TIME)])]);

  return (invocation, context) => {
    const remaining = context.getRemainingTimeInMillis() - RESERVE;
    return handle(invocation, AbortSignal.timeout(Math.max(1, remaining)));
  };
}
