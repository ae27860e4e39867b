import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { processTree, readStat } from '../../../functions/engines/worker/linux/proc.ts';
import * as tools from '../../../functions/tools.ts';
import { parseSettings } from '../../../infra/aws/settings.ts';
import { serveHttp } from '../../helpers/fault-server.ts';
import { type Emulator, startEmulator } from '../../lambda-emulator/emulator.ts';
import { publicAddress, startForwarding } from '../../lambda-emulator/network.ts';
import type { Canary } from '../checks.ts';
import { layTripwires, SET_UP_NETWORK } from '../namespace/run.ts';
import {
  type AttackedBrowser,
  type AttackedOffice,
  type AttackedService,
  type BrowserRules,
  callersOf,
  type Deployment,
  type ServiceSettings,
} from './deployment.ts';

const defaults = parseSettings({});

/** A service in the Lambda emulator, with its internals. */
interface EmulatedService extends AttackedService {
  readonly emulator: Emulator;
  close(): Promise<void>;
}

/**
 * The Runtime APIs listen on a port that the guard allows, so that the address has to be blocked. Port 80 belongs to the
 * sources.
 */
const RUNTIME_PORT = 443;

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

/** The Lambda emulator, in a network namespace where every address is a tripwire. */
interface EmulatorDeployment extends Deployment {
  withService<Result>(
    settings: ServiceSettings,
    use: (service: EmulatedService) => Promise<Result>,
  ): Promise<Result>;
}

/** Addresses that were contacted on port 80, except those of sources. */
export const contacted: string[] = [];

interface Open {
  close(): Promise<void>;
}

/** Resources to close. */
const open = new Set<Open>();

/** Tracks open resources until they are closed. */
function opened<Kind extends Open>(each: Kind): Kind {
  const noted = {
    ...each,
    close: async () => {
      if (open.delete(noted)) await each.close();
    },
  };
  open.add(noted);
  return noted;
}

/** The built bundles and layers, each function in an empty root. Each row starts new ones. */
export const lambdaEmulator: EmulatorDeployment = {
  name: 'Lambda emulator',
  callers: 3,
  async withService(settings, use) {
    const service = await openEmulatedService(settings);
    return use(service).finally(service.close);
  },
  originOf: publicAddress,
  attackBrowser,
  attackOffice,
  opensOffice: false,
  async withCommand(canary, use) {
    const service = await openEmulatedService({ canary, conversionTime: 120_000 });
    const place = { SERVICE_URL: service.base, API_KEY: service.apiKey, SOURCES_HOST: '5.6.{high}.{low}' };
    return use(place).finally(service.close);
  },
  async inNamespace({ inside }, effort) {
    try {
      return await inside!(effort);
    } finally {
      // An aborted attack must not affect the next one.
      for (const each of open) await each.close();
    }
  },
  async layTripwires() {
    const wires = opened(await layTripwires({ except: [80, RUNTIME_PORT] }));
    const before = contacted.length;
    const hits = () => {
      const seen = wires.hits();
      return { ...seen, tcp: seen.tcp + contacted.length - before };
    };
    return { ...wires, hits };
  },
};

/** Sets up the network namespace that this process has entered, once. */
export async function setUpNetwork(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'world-'));
  const resolver = join(folder, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.1\n');
  execFileSync('sh', ['-c', SET_UP_NETWORK, 'world', resolver, 'true']);
  // The mount keeps the file.
  rmSync(folder, { recursive: true });
  await startForwarding((address) => contacted.push(address));
}

async function attackBrowser(
  tool: 'html2image' | 'html2pdf',
  { canary, time = 30_000 }: BrowserRules,
): Promise<AttackedBrowser> {
  const service = opened(await openEmulatedService({ canary, conversionTime: time }));
  const outfile = tool === 'html2pdf' ? 'x.pdf' : 'x.png';
  let calls = 0;
  const convert = oneByOne(async (infile: string) => {
    const { code, body, results } = await service.ask({
      app: tool,
      infile,
      outfile: `${calls++}-${outfile}`,
    });
    if (results[0] !== undefined) return service.fetchResult(results[0]);
    if (code === undefined || code === 'INTERNAL') throw new Error(body);
    return code;
  });
  // Only a running sandbox has a Runtime API that can be attacked.
  await convert('http://127.0.0.1/');
  return {
    convert,
    runtimeApis: () => service.runtimeApis(tool),
    visitors: service.visitors,
    close: service.close,
  };
}

async function attackOffice(canary: Canary): Promise<AttackedOffice> {
  const service = opened(await openEmulatedService({ canary }));
  let served: Buffer = Buffer.alloc(0);
  let calls = 0;
  const server = await serveHttp((_request, response) => response.end(served));
  const convert = oneByOne(async (bytes: Buffer, extension: string) => {
    served = bytes;
    calls += 1;
    const infile = `${publicAddress(server.port)}/${calls}.${extension}`;
    const { code, body, results } = await service.ask({ app: 'doc2any', infile, outfile: `${calls}.pdf` });
    if (results.length > 0) return 'converted';
    return code === undefined || code === 'INTERNAL' ? `fault: ${body}` : code;
  });
  await convert(Buffer.from('nothing'), 'docx');
  return {
    convert: ({ file, bytes }) => convert(bytes, file.extension),
    runtimeApis: () => service.runtimeApis('doc2any'),
    visitors: service.visitors,
    close: async () => {
      await Promise.all([service.close(), server.close()]);
    },
  };
}

/** One at a time, so that there is only one sandbox and every attack targets its Runtime API. */
function oneByOne<Args extends readonly unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const turn = last.then(() => work(...args));
    last = turn.catch(() => {});
    return turn;
  };
}
