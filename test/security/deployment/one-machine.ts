import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { getPriority, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { hostCommand, urlOf } from '../../../functions/engines/office/host.ts';
import { MESSAGES } from '../../../functions/engines/office/office.ts';
import { launcherIn } from '../../../functions/engines/worker/linux/limits.ts';
import { processTree, readProcess, readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { WorkerPool } from '../../../functions/engines/worker/pool.ts';
import { createEngine as createHtml2image } from '../../../functions/html2image/convert.ts';
import { html2image } from '../../../functions/html2image/tool.ts';
import { createEngine as createHtml2pdf } from '../../../functions/html2pdf/convert.ts';
import { html2pdf } from '../../../functions/html2pdf/tool.ts';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { descendants } from '../../helpers/processes.ts';
import { type Asked, LAYERS, startEngine } from '../../lab/engine.ts';
import { removePipes } from '../../soffice/convert.ts';
import { layTripwires, runInNamespace } from '../namespace/run.ts';
import { judge, withSharedService } from '../neighbor/service.ts';
import type {
  AttackedBrowser,
  AttackedOffice,
  AttackedService,
  BrowserRules,
  Deployment,
  Resident,
  Sample,
  ServiceSettings,
} from './deployment.ts';

const LOOK_AROUND = 500;
const REST = 1000;
/** A value as in nice(1), below those of the service and its engines. */
const ATTACKER_PRIORITY = 19;

/** The one-machine deployment, in its own process. */
export const oneMachine: Deployment = {
  name: 'one machine',
  callers: 20,
  withService,
  originOf: (port) => `http://127.0.0.1:${port}`,
  attackBrowser: (tool, rules) => attackBrowser(tool, rules),
  attackOffice: () => attackOffice(),
  opensOffice: true,
  withCommand: (_canary, use) => use({}),
  inNamespace: runInNamespace,
  layTripwires: () => layTripwires(),
};

async function withService<Result>(
  { canary, sources = [], size = 2, queue = 1000, conversionTime = 30_000, report }: ServiceSettings,
  use: (service: AttackedService) => Promise<Result>,
): Promise<Result> {
  const environment = {
    CONCURRENCY: `${size}`,
    QUEUE: `${queue}`,
    CONVERSION_TIME: `${conversionTime / 1000}`,
    LIMIT_PER_MINUTE: '100000',
    DEMO: 'off',
  };
  const isWarm = report !== undefined;
  return withSharedService({ sources, environment, isWarm, temporary: tmpdir(), canary }, async (shared) => {
    const pid = shared.process.pid!;
    canary.watch(shared.attacker.apiKey);
    const watching = setInterval(() => canary.inspectProcesses([pid]), LOOK_AROUND);
    if (report) await shared.heartbeat.reset();
    const restorePriority = lowerPriority();
    try {
      const result = await use({
        ...shared.attacker,
        base: `http://127.0.0.1:${shared.port}`,
        heap: shared.heap,
        rest: () => setTimeout(REST),
        residents: () => engineProcesses(pid),
        engines: () => descendants(pid),
        temporary: () => globSync(join(tmpdir(), `docmill-${pid}-*`)),
        runtimeApis: () => [],
        visitors: () => 0,
      });
      report?.(await judge(shared));
      return result;
    } finally {
      restorePriority();
      clearInterval(watching);
    }
  });
}

/** Part of the command line of a tool's engine, which identifies its processes. */
const ENGINES: ReadonlyArray<readonly [RegExp, string]> = [
  [/\/program\/pdfium\b/, 'pdftools'],
  [/\/functions\/html2pdf\/worker\b/, 'html2pdf'],
  [/\/functions\/html2image\/worker\b/, 'html2image'],
  [/\/functions\/imageproc\/worker\b/, 'imageproc'],
  [/\/libreoffice\/program\//, 'doc2any'],
];

/** Child processes, distinguished by their command line. */
function engineProcesses(service: number): Resident[] {
  return processTree(service).flatMap((pid) => {
    const command = readProcess(pid, 'cmdline');
    const tool = ENGINES.find(([pattern]) => pattern.test(command))?.[1];
    return tool && readStat(pid).parent === service ? [{ pid, tool }] : [];
  });
}

/**
 * Lowers the priority of this process, which plays the attacker: in use, callers and sources have processors of their own.
 * Only root can restore it.
 */
function lowerPriority(): () => void {
  const usual = getPriority();
  setPriority(ATTACKER_PRIORITY);
  return () => {
    try {
      setPriority(usual);
    } catch {
      // The services of further rows start with the same priority.
    }
  };
}

/** One machine has no Runtime API. */
const NO_RUNTIME: Pick<AttackedBrowser, 'runtimeApis' | 'visitors'> = {
  runtimeApis: () => [],
  visitors: () => 0,
};

/** Returns the code of a typed error. Throws any other. */
function codeOf(thrown: unknown): string {
  if (thrown instanceof ConversionError && thrown.code !== 'INTERNAL') return thrown.code;
  throw thrown;
}

/** Starts the real engine of a tool behind a guard with these rules. */
async function attackBrowser(
  name: 'html2image' | 'html2pdf',
  { sources, ports = [80, 443], resolve, time: usual = 30_000 }: BrowserRules,
): Promise<AttackedBrowser> {
  const exceptions = sources.map((port) => `127.0.0.1:${port}`);
  const egress = createEgressGuard({ exceptions, ports, ...(resolve && { resolve, resolveTime: 30_000 }) });
  const given = { launcher: launcherIn(LAYERS), egress, sandbox: readSettings().sandbox };
  const engine = await (name === 'html2image'
    ? startEngine(html2image, createHtml2image, given)
    : startEngine(html2pdf, createHtml2pdf, given));
  const format = name === 'html2image' ? 'png' : 'pdf';
  const run = (address: string, time: number, more: Asked = {}) =>
    engine
      .convert(new URL(address), { format, time, account: 'attacker', ...more })
      .then(({ files }) => files[0] ?? 'nothing', codeOf);
  return {
    convert: (address, time = usual) => run(address, time),
    upload: (address, hasNetwork) =>
      run(address, usual, {
        files: [{ path: 'page.html', url: address }],
        ...(hasNetwork && { options: '--enable-network' }),
      }),
    ...NO_RUNTIME,
    close: engine.close,
  };
}

const TIME = 60_000;

/** Starts the real engine of doc2any, and its LibreOffice alone, as if all checks had been bypassed. */
async function attackOffice(): Promise<AttackedOffice> {
  const launcher = launcherIn(LAYERS);
  const engine = await startEngine(doc2any, createEngine, { launcher });
  const { temporary } = engine;
  const bare = new WorkerPool(hostCommand({ layers: LAYERS }), {
    temporary,
    launcher,
    size: 2,
    requests: 200,
    memory: 900,
    messages: MESSAGES,
  });

  async function convertUnchecked({ file, bytes }: Sample): Promise<void> {
    const directory = await mkdtemp(join(temporary, 'unchecked-'));
    const [source, target] = [`document.${file.extension}`, 'out.pdf'];
    await writeFile(join(directory, source), bytes);
    const urls = { source: urlOf(source), target: urlOf(target) };
    const given = { ...urls, load: 'Batch=true', filter: 'pdf', save: '{}' };
    const run = { account: 'attacker', directory, signal: AbortSignal.timeout(TIME) };
    const files = { inputs: [source], outputs: [target] };
    await bare
      .run({ operation: 'convert', arguments: given, ...files }, run)
      .finally(() => rm(directory, { recursive: true, force: true }));
  }

  return {
    convert: (sample, unchecked) => {
      const name = `x.${sample.file.extension}`;
      const asked = { name, format: 'pdf', time: TIME, account: 'attacker' } as const;
      const run = unchecked ? convertUnchecked(sample) : engine.convert(sample.bytes, asked);
      return run.then(() => 'converted', codeOf).catch((thrown) => `fault: ${thrown}`);
    },
    ...NO_RUNTIME,
    close: async () => {
      await bare.close();
      await engine.close();
    },
  };
}

/** Converts a few files with the same LibreOffice without any protection, which shows which of the files work. */
export async function convertUnprotected(samples: readonly Sample[]): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'unprotected-'));
  const profile = pathToFileURL(join(home, 'profile')).href;
  const office = join(LAYERS, 'libreoffice');
  const [program, libraries] = [join(office, 'program'), join(office, 'lib')];
  const paths = samples.map(({ file }, index) => join(home, `document-${index}.${file.extension}`));
  await Promise.all(samples.map(({ bytes }, index) => writeFile(paths[index]!, bytes)));
  const args = [
    ...[
      '--library-path',
      `${program}:${libraries}`,
      join(program, 'soffice.bin'),
      '--headless',
      '--norestore',
    ],
    ...[`-env:UserInstallation=${profile}`, '--convert-to', 'pdf'],
    ...['--outdir', home, ...paths],
  ];
  const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home, SAL_USE_VCLPLUGIN: 'svp' };
  const loader = join(libraries, 'ld-linux-x86-64.so.2');
  const start = () =>
    new Promise<number | string | null | undefined>((resolve) => {
      execFile(loader, args, { env, timeout: TIME, killSignal: 'SIGKILL' }, (error) => resolve(error?.code));
    });
  // A new profile requires a restart.
  if ([79, 81].includes(Number(await start()))) await start();
  removePipes(profile);
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}
