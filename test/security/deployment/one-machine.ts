import { globSync } from 'node:fs';
import { getPriority, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { processTree, readProcess, readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { descendants } from '../../helpers/descendants.ts';
import { runInNamespace } from '../namespace/run.ts';
import { layTripwires } from '../namespace/tripwires.ts';
import { withSharedService } from '../neighbor/service.ts';
import { judge } from '../neighbor/verdict.ts';
import { attackBrowser } from './browser.ts';
import type { AttackedService, Deployment, Resident, ServiceSettings } from './deployment.ts';
import { LAYERS } from './layers.ts';
import { attackOffice } from './office.ts';

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
  attackBrowser: (tool, rules) => attackBrowser(tool, LAYERS, rules),
  attackOffice: () => attackOffice(LAYERS),
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
