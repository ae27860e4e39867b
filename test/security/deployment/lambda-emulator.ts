import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '../../helpers/fault-server.ts';
import { publicAddress, startForwarding } from '../../lambda-emulator/network/network.ts';
import type { Canary } from '../checks/canary.ts';
import { SET_UP_NETWORK } from '../namespace/run.ts';
import { layTripwires } from '../namespace/tripwires.ts';
import type { Row } from '../row.ts';
import type {
  AttackedBrowser,
  AttackedOffice,
  BrowserRules,
  Deployment,
  ServiceSettings,
} from './deployment.ts';
import { type EmulatedService, openEmulatedService, RUNTIME_PORT } from './emulated-service.ts';

/** The Lambda emulator, in a network namespace where every address is a tripwire. */
export interface EmulatorDeployment extends Deployment {
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
  async inNamespace(module, effort) {
    const { inside } = (await import(module)) as { inside: Row['run'] };
    try {
      return await inside(effort);
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
