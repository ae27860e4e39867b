import { globSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { jsonLog } from '../../../functions/shared/log.ts';
import { LIMITS } from '../../../functions/shared/tool.ts';
import { processTree, readProcess, readStat } from '../../../functions/shared/worker/linux/proc.ts';
import { openAccounts } from '../../../infra/local/accounts.ts';
import { startService } from '../../../infra/local/server/service.ts';
import { type Canary, descendants } from '../checks/canary.ts';
import { runInNamespace } from '../namespace/run.ts';
import { layTripwires } from '../namespace/tripwires.ts';
import { attackBrowser } from './browser.ts';
import {
  type AttackedService,
  callersOf,
  type Deployment,
  type Resident,
  type ServiceSettings,
} from './deployment.ts';
import { attackOffice } from './office.ts';

/** Folder of the engines on this machine. */
export const LAYERS = fileURLToPath(new URL('../../../dist/layers', import.meta.url));

const LOOK_AROUND = 500;
const REST = 1000;

/** The one-machine deployment, in the process that attacks it. */
export const oneMachine: Deployment = {
  name: 'one machine',
  callers: 20,
  withService,
  originOf: (port) => `http://127.0.0.1:${port}`,
  attackBrowser: (tool, rules) => attackBrowser(tool, LAYERS, rules),
  attackOffice: () => attackOffice(LAYERS),
  opensOffice: true,
  withCommand: (_canary, use) => use({}),
  inNamespace: runInNamespace,
  layTripwires: () => layTripwires(),
};

async function withService<Result>(
  { canary, sources = [], size = 2, queue = 1000, conversionTime = 30_000 }: ServiceSettings,
  use: (service: AttackedService) => Promise<Result>,
): Promise<Result> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'security-'));
  const accounts = openAccounts(dataDirectory);
  const { apiKey } = await accounts.keys.create({ name: 'attacked' });
  canary.watch(apiKey);
  const service = await startService(
    {
      host: '127.0.0.1',
      port: 0,
      apiKey: undefined,
      dataDirectory,
      allowSources: sources.map((port) => `127.0.0.1:${port}`),
      dnsServers: [],
      ownHosts: [],
      accountUrl: 'http://localhost/account',
      supportUrl: 'http://localhost/support',
      urlLifetime: 3600,
      size,
      queue,
      limits: { ...LIMITS, conversionTime },
      keyLimits: { perMinute: 100_000, perMonth: 1_000_000 },
      log: { format: 'json', level: 'info' },
    },
    { ...accounts, layers: LAYERS, log: jsonLog((line) => canary.inspect('log', line)) },
  );
  const watching = setInterval(() => canary.inspectProcesses(), LOOK_AROUND);
  try {
    return await use({
      ...callersOf(`http://127.0.0.1:${service.port}`, apiKey, canary),
      rest: () => setTimeout(REST),
      residents: engineProcesses,
      engines: () => descendants(process.pid),
      temporary: () => globSync(join(tmpdir(), `docmill-${process.pid}-*`)),
      runtimeApis: () => [],
      visitors: () => 0,
    });
  } finally {
    clearInterval(watching);
    await service.close();
    accounts.close();
    await inspectFiles(dataDirectory, canary);
    await rm(dataDirectory, { recursive: true });
  }
}

/** What the command line of a tool's engine contains. */
const ENGINES: ReadonlyArray<readonly [RegExp, string]> = [
  [/\/program\/pdfium\b/, 'pdftools'],
  [/\/functions\/html2pdf\/worker\b/, 'html2pdf'],
  [/\/functions\/html2image\/worker\b/, 'html2image'],
  [/\/functions\/imageproc\/worker\b/, 'imageproc'],
  [/\/libreoffice\/program\//, 'doc2any'],
];

/** Child processes, distinguished by their command line. */
function engineProcesses(): Resident[] {
  return processTree(process.pid).flatMap((pid) => {
    const command = readProcess(pid, 'cmdline');
    const tool = ENGINES.find(([pattern]) => pattern.test(command))?.[1];
    return tool && readStat(pid).parent === process.pid ? [{ pid, tool }] : [];
  });
}

async function inspectFiles(directory: string, canary: Canary): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    canary.inspect(`name of the file ${entry.name}`, entry.name);
    if (entry.isFile()) canary.inspect(`the file ${entry.name}`, await readFile(path));
  }
}
