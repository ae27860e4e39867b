import { existsSync } from 'node:fs';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { processTree, readStat } from '../../../functions/engines/worker/linux/proc.ts';
import * as tools from '../../../functions/tools.ts';
import { parseSettings } from '../../../infra/aws/settings.ts';
import { type Emulator, startEmulator } from '../../lambda-emulator/emulator.ts';
import type { Canary } from '../checks/canary.ts';
import { type AttackedService, callersOf, type ServiceSettings } from './deployment.ts';

const defaults = parseSettings({});

/** A service in the Lambda emulator, with its internals. */
export interface EmulatedService extends AttackedService {
  readonly emulator: Emulator;
  close(): Promise<void>;
}

/**
 * The Runtime APIs listen on a port that the guard allows, so that the address has to be blocked. Port 80 belongs to the
 * sources.
 */
export const RUNTIME_PORT = 443;

const LOOK_AROUND = 500;
const REST = 2000;
/** Sandboxes of the router under load. A call occupies one until it ends. */
const MANY = 64;
/** Gives each Runtime API its own address, across all services. */
let sandboxes = 0;

/** Number of results whose bytes the canary searches. It searches the names and headers of all. */
const SOME = 50;

/**
 * Starts the emulator with a real key. When it closes, the canary has searched logs, processes, objects and
 * the key table.
 */
export async function openEmulatedService({
  canary,
  size = 2,
  queue,
  conversionTime = 30_000,
}: ServiceSettings): Promise<EmulatedService> {
  const names = Object.keys(tools);
  // Lambda has no queue: calls above the reserved concurrency are rejected.
  const crowd = { router: MANY, ...Object.fromEntries(names.map((name) => [name, size])) };
  const emulator = await startEmulator({
    log: (line) => canary.inspect('log of a function', line),
    settings: {
      ...defaults,
      conversionLimits: { ...defaults.conversionLimits, seconds: conversionTime / 1000 },
      reserved: queue === undefined ? {} : crowd,
    },
    runtimeApi: () => {
      sandboxes += 1;
      return { host: `127.1.${sandboxes >> 8}.${sandboxes & 255}`, port: RUNTIME_PORT };
    },
  });
  canary.watch(emulator.apiKey);
  const sandboxesOf = (name: string) => emulator.functions.get(name)!.sandboxes;
  const watching = setInterval(() => {
    canary.inspectProcesses(['router', ...names].flatMap(sandboxesOf).flatMap(({ root }) => root ?? []));
  }, LOOK_AROUND);
  return {
    ...callersOf(emulator.base, emulator.apiKey, canary),
    emulator,
    logOf: (requestId) =>
      [...emulator.logs].flatMap(([name, text]) => {
        const lines = text.split('\n').filter((line) => line.includes(requestId));
        return lines.map((line) => `${name}: ${line}`);
      }),
    rest: async () => {
      await Promise.all(['router', ...names].flatMap(sandboxesOf).map((sandbox) => sandbox.rest(REST)));
    },
    residents: () =>
      ['router', ...names].flatMap((tool) =>
        sandboxesOf(tool).flatMap(({ root }) => {
          const runtime = runtimeOf(root);
          if (runtime === undefined) return [];
          const engines = processTree(runtime).filter((pid) => readStat(pid).parent === runtime);
          const own = { pid: runtime, tool: `function ${tool}`, alone: true } as const;
          return [own, ...engines.map((pid) => ({ pid, tool }))];
        }),
      ),
    temporary: () =>
      names.flatMap(sandboxesOf).flatMap(({ root }) => {
        const runtime = runtimeOf(root);
        return runtime === undefined ? [] : [`/proc/${runtime}/root/tmp`];
      }),
    engines: () => names.flatMap(sandboxesOf).flatMap(({ root }) => (root ? processTree(root) : [])),
    runtimeApis: (tool) => sandboxesOf(tool).map(({ runtimeApi }) => runtimeApi),
    visitors: () => [...emulator.functions.values()].reduce((sum, { visitors }) => sum + visitors, 0),
    close: async () => {
      clearInterval(watching);
      await inspectStorage(emulator, canary);
      await emulator.close();
    },
  };
}

/** The function's own process. The first processes of a sandbox build its root and stay outside of it. */
function runtimeOf(root: number | undefined): number | undefined {
  return root && processTree(root).find((pid) => existsSync(`/proc/${pid}/root/var/task`));
}

async function inspectStorage(
  { storage: { client, bucket }, table }: Emulator,
  canary: Canary,
): Promise<void> {
  const { Items: items = [] } = await table.client.send(new ScanCommand({ TableName: 'keys' }));
  canary.inspect('the table of keys', JSON.stringify(items));
  let from: string | undefined;
  let seen = 0;
  do {
    const list = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, ...(from && { ContinuationToken: from }) }),
    );
    for (const { Key: name } of list.Contents ?? []) {
      const object = { Bucket: bucket, Key: name! };
      canary.inspect('name of an object', name!);
      canary.inspect(
        'headers of an object',
        JSON.stringify(await client.send(new HeadObjectCommand(object)), simple),
      );
      if (seen++ >= SOME) continue;
      const { Body: body } = await client.send(new GetObjectCommand(object));
      canary.inspect('bytes of an object', Buffer.from(await body!.transformToByteArray()));
    }
    from = list.NextContinuationToken;
  } while (from !== undefined);
}

function simple(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
