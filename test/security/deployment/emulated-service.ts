import { existsSync } from 'node:fs';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { processTree, readStat } from '../../../functions/shared/worker/linux/proc.ts';
import * as tools from '../../../functions/tools.ts';
import { settings as defaults } from '../../../infra/aws/settings.ts';
import { type Emulator, startEmulator } from '../../infra/aws/lambda-emulator/emulator.ts';
import type { Canary } from '../checks/canary.ts';
import { type AttackedService, callersOf, type ServiceSettings } from './deployment.ts';

/** A service in the Lambda emulator, and what is behind its walls. */
export interface EmulatedService extends AttackedService {
  readonly emulator: Emulator;
  close(): Promise<void>;
}

/** The Runtime APIs listen at a port that the guard lets pass, so that it is the address which has to be refused; 80 is the sources'. */
export const RUNTIME_PORT = 443;

const LOOK_AROUND = 500;
const REST = 2000;
/** Sandboxes of the router where there is a crowd; a call has one for as long as it takes. */
const MANY = 64;
/** So that each has a Runtime API at an address of its own, in whichever service it is. */
let sandboxes = 0;

/** Results whose bytes the canary sees; of all it sees names and headers. */
const SOME = 50;

/** Starts the emulator with a real key; when it is closed the canary has seen logs, processes, objects and the table of keys. */
export async function openEmulatedService({
  canary,
  size = 2,
  queue,
  conversionTime = 30_000,
}: ServiceSettings): Promise<EmulatedService> {
  const names = Object.keys(tools);
  // Lambda has no queue: who comes when all that is reserved is busy is sent away.
  const crowd = { router: MANY, ...Object.fromEntries(names.map((name) => [name, size])) };
  const emulator = await startEmulator({
    log: (line) => canary.inspect('log of a function', line),
    settings: {
      ...defaults,
      limits: { ...defaults.limits, seconds: conversionTime / 1000 },
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

/** The function's own process; the first of a sandbox build its root and stay outside of it. */
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
