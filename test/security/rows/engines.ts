import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sandboxedCommand } from '../../../functions/engines/chromium/browser/browser.ts';
import { launcherIn } from '../../../functions/engines/worker/linux/limits.ts';
import { listProcesses, readProcess } from '../../../functions/engines/worker/linux/proc.ts';
import { type WorkerCommand, WorkerPool } from '../../../functions/engines/worker/pool.ts';
import { findSandboxGaps, sandboxedNode } from '../../../functions/engines/worker/sandbox.ts';
import type { ConversionError } from '../../../functions/shared/errors.ts';
import { SAMPLES, serveSamples } from '../../../infra/local/self-check/samples.ts';
import { CODE } from '../../../infra/local/server/temporary.ts';
import { inParallel } from '../../../layers/build/command.ts';
import { serveHttp } from '../../helpers/fault-server.ts';
import { descendants } from '../../helpers/processes.ts';
import { LAYERS } from '../../lab/engine.ts';
import { serveJobs } from '../attacks/requests.ts';
import { ATTACKS, type Target } from '../attacks/taken-over/engine.ts';
import { growth, type MemoryUse, measureMemory } from '../checks.ts';
import type { AttackedService } from '../deployment/deployment.ts';
import { type SharedService, withSharedService } from '../neighbor/service.ts';
import { amount, type Reached, type Row } from '../row.ts';
import { PICTURE } from './neighbor.ts';

/**
 * Shares of all jobs after which the idle service's memory is measured. At the first, all pools are filled and all code is
 * warm.
 */
const MEASURED_AT = [0.2, 0.6, 1];
/** MiB by which the service, and all engines of a tool, may grow between the last two measurements. */
const HEAP = 12;
const ENGINES = 30;

/** Valid and broken jobs of every tool, for long enough to see what they leave behind. */
export const aftermath: Row = {
  name: 'aftermath',
  title: 'what mixed jobs leave behind',
  figures: 'temporary files / zombies / processes / MiB more in the service; in its engines',
  target: '500, 0 / 0 / 0 / flat',
  async run(effort) {
    const { progress, canary, deployment } = effort;
    const count = amount(effort, 200, { all: 500 });
    const jobs = await serveJobs(deployment);
    const broken = await serveHttp((_request, response) => response.end('%PDF-1.7 PK\u0003\u0004 nothing'));
    const usual = process.env.TMPDIR;
    const temporary = await mkdtemp(join(tmpdir(), 'aftermath-'));
    const failures: string[] = [];
    const measured: MemoryUse[] = [];
    let [zombies, done] = [0, 0];
    const ask = async (service: AttackedService, index: number) => {
      const query = jobs.query(index);
      const bad = index % 7 === 6;
      const infile = `${deployment.originOf(broken.port)}/${index}`;
      const answer = await service.ask(bad ? { ...query, infile } : query);
      const fine = bad || answer.results.length === 1;
      if (!fine) failures.push(`job ${index}: ${answer.body.slice(0, 150)}`);
      if (index % 50 === 0 && answer.results[0]) await service.fetchResult(answer.results[0]);
      progress(++done, count);
    };
    // From here on, the folder for temporary files is a new, empty one.
    process.env.TMPDIR = temporary;
    try {
      await deployment.withService({ canary, sources: [jobs.port, broken.port] }, async (service) => {
        for (const share of MEASURED_AT) {
          const batch = Array.from({ length: Math.round(count * share) - done }, (_, index) => done + index);
          await inParallel(batch, 3, (index) => ask(service, index));
          measured.push(await measureMemory(service));
        }
        // Empty directories wait for the next conversion.
        const files = service
          .temporary()
          .flatMap((folder) =>
            globSync(['conversion-*', 'spare-*/*'], { cwd: folder }).map((name) => join(folder, name)),
          );
        // The second account's conversions go on, so only what is there now counts.
        await remaining(() => files.filter((file) => existsSync(file)).length);
        failures.push(...files.filter((file) => existsSync(file)).map((file) => `left behind: ${file}`));
        zombies = await remaining(() => descendants(process.pid).filter(isZombie).length);
      });
    } finally {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
    }
    jobs.close();
    await broken.close();
    const left = await readdir(temporary);
    const orphans = await remaining(() => descendants(process.pid).length);
    await rm(temporary, { recursive: true });

    if (left.length > 0) failures.push(`left behind: ${left.join(', ')}`);
    if (zombies + orphans > 0) failures.push(`${zombies} zombies, ${orphans} processes`);
    const memory = judgeMemory(measured.at(-2)!, measured.at(-1)!);
    failures.push(...memory.failures);
    return {
      figure: `${count}, ${left.length} / ${zombies} / ${orphans} / ${memory.figure}`,
      failures,
      notes: memory.notes ?? [],
    };
  },
};

/**
 * Counts again for half a minute, because a process that has just exited is a zombie until its parent collects it, and a
 * conversion's folder is deleted after the reply.
 */
async function remaining(count: () => number): Promise<number> {
  for (let look = 0; look < 300 && count() > 0; look += 1) await setTimeout(100);
  return count();
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Leaks grow with every job. Memory that is kept is already there at the second to last measurement. */
function judgeMemory(before: MemoryUse, after: MemoryUse): Omit<Reached, 'skipped'> {
  const heap = after.heap - before.heap;
  const tools = [...growth(before, after)];
  const grown = tools.reduce((sum, [, engines]) => sum + engines.grown, 0);
  const residents = tools.reduce((sum, [, engines]) => sum + engines.residents, 0);
  const notes = tools.map(([tool, engines]) => {
    return `${tool}: ${engines.grown.toFixed(1)} MiB in ${engines.residents} processes that were there all the time`;
  });
  const failures = tools.flatMap(([tool, engines]) =>
    engines.grown > ENGINES ? [`engines of ${tool} grew by ${engines.grown.toFixed(1)} MiB`] : [],
  );
  if (heap > HEAP) failures.push(`the service grew by ${heap.toFixed(1)} MiB`);
  if (tools.length < 5) failures.push('not every tool has an engine that ran the whole time');
  return { figure: `${heap.toFixed(1)}; ${grown.toFixed(1)} in ${residents}`, failures, notes };
}

/**
 * Delays in milliseconds from a call to the kill of one of the processes below the service. The first kill is before
 * the call.
 */
const POINTS = [-1, 0, 5, 10, 20, 40, 60, 90, 130, 200];

/** Whichever process is killed, the call gets a response, and the next job of that tool succeeds. */
export const kills: Row = {
  name: 'kills',
  title: 'engines killed at 10 points in time',
  figures: 'untyped responses / next job failed',
  target: '10 × 20, 0 / 0',
  async run(effort) {
    const { progress, canary, deployment } = effort;
    const rounds = amount(effort, 6, { short: 0.5, all: 20 });
    const jobs = await serveJobs(deployment);
    const spoilt: string[] = [];
    const untyped: string[] = [];
    let results = 0;
    let done = 0;
    await deployment.withService({ canary, sources: [jobs.port] }, async (service) => {
      const plan = Array.from({ length: rounds * POINTS.length }, (_, index) => index);
      await inParallel(plan, 1, async (index) => {
        const point = POINTS[index % POINTS.length]!;
        // Every tool is tested at every point in time.
        const job = index + Math.floor(index / POINTS.length);
        const answer = await killAt(service, point, index, jobs.query(job));
        if (answer.results.length > 0) results += 1;
        else if (answer.code === undefined || answer.code === 'INTERNAL')
          untyped.push(`${index}, at ${point} ms: ${answer.status} ${answer.body.slice(0, 150)}`);

        const next = await service.ask({
          ...jobs.query(job),
          outfile: `next-${index}-${jobs.query(job).outfile}`,
        });
        if (next.results.length !== 1) spoilt.push(`${index}, after ${point} ms: ${next.body.slice(0, 150)}`);
        progress(++done, plan.length);
      });
    });
    jobs.close();
    return {
      figure: `${POINTS.length} × ${rounds} (${results} results), ${untyped.length} / ${spoilt.length}`,
      failures: [...untyped, ...spoilt],
    };
  },
};

async function killAt(
  service: AttackedService,
  point: number,
  index: number,
  query: Readonly<Record<string, string>>,
) {
  if (point < 0) killOne(service, index);
  const asked = service.ask(query);
  if (point >= 0) {
    await setTimeout(point);
    killOne(service, index);
  }
  return asked;
}

/** Kills one of its processes, a different one each time. */
function killOne(service: AttackedService, index: number): void {
  const processes = service.engines();
  const victim = processes[(index * 7919) % processes.length];
  try {
    if (victim !== undefined) process.kill(victim, 'SIGKILL');
  } catch {
    // It has just exited.
  }
}

/** Maximum seconds of a stop. */
const STOP_TIME = 15;

/** Readers and callers that never finish do not keep a server from stopping. */
export const slowReader: Row = {
  name: 'slow-reader',
  title: 'a slow reader during SIGTERM',
  figures: 'seconds until the service has exited',
  target: `≤ ${STOP_TIME} s`,
  async run() {
    const source = await serveHttp((_request, response) => response.end(PICTURE));
    const reached = await withSharedService({ sources: [source.port], isWarm: false }, async (service) => {
      const query = {
        app: 'imageproc',
        infile: `${source.origin}/`,
        outfile: 'x.tiff',
        '-resize': '5000x5000!',
      };
      const { results, body } = await service.neighbor.ask(query);
      const url = new URL(results[0] ?? 'http://127.0.0.1/no-result');
      // A result that is not read, a request that is never finished, and one that is never started.
      for (const text of [`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\n\r\n`, 'GET /api/?', '']) {
        const socket = connect(service.port, '127.0.0.1').on('error', () => {});
        socket.pause().write(text);
      }
      await setTimeout(300);
      const started = Date.now();
      service.process.kill('SIGTERM');
      await Promise.race([
        once(service.process, 'exit'),
        setTimeout(2000 * STOP_TIME, undefined, { ref: false }),
      ]);
      const seconds = (Date.now() - started) / 1000;
      const failures = [
        ...(seconds > STOP_TIME ? [`${seconds} s`] : []),
        ...(service.process.exitCode === 0 ? [] : [`exit ${service.process.exitCode}`]),
        ...(results.length === 0 ? [`there was no result to read: ${body.slice(0, 150)}`] : []),
      ];
      return { figure: `${seconds.toFixed(1)} s`, failures };
    });
    await source.close();
    return reached;
  },
};

/** Someone else cleans up the folder for temporary files. */
export const sharedTemporary: Row = {
  name: 'shared-temporary',
  title: 'a deleted temporary directory',
  figures: 'conversions that fail afterwards',
  target: '0 of 10',
  async run(effort) {
    const jobs = await serveJobs(effort.deployment);
    const reached = await withSharedService(
      { sources: [jobs.port], isWarm: effort.extent !== 'short' },
      async (service) => {
        const folders = (await readdir(service.temporary)).filter((name) => name.startsWith('docmill-'));
        for (const name of folders)
          rmSync(join(service.temporary, name), { recursive: true, force: true, maxRetries: 10 });
        const failures: string[] = folders.length === 1 ? [] : [`${folders.length} directories`];
        const short = /^(pdftools|imageproc)$/;
        const queries = Array.from({ length: 2 * SAMPLES.length }, (_, index) => jobs.query(index)).filter(
          ({ app = '' }) => effort.extent !== 'short' || short.test(app),
        );
        for (const query of queries) {
          const { body, results } = await service.neighbor.ask(query);
          if (results.length !== 1) failures.push(`${query.app}: ${body.slice(0, 120)}`);
        }
        return { figure: `${failures.length} of ${queries.length}`, failures };
      },
    );
    jobs.close();
    return reached;
  },
};

const NOBODY = 65_534;
/** Makes an ordinary user in a user namespace in which no others can be created. */
const COMMAND = [
  ...['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
  'unshare',
  '--user',
  '--map-current-user',
  '--keep-caps',
  'sh',
  '-c',
  'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all "$@"',
  'sh',
];
const BROWSERS = ['html2pdf', 'html2image'];

/** Where Chromium cannot create the namespaces of its own sandbox, the sandbox around it must hold. */
export const noNamespaces: Row = {
  name: 'no-namespaces',
  title: 'an ordinary user without user namespaces',
  figures: 'tools that convert with SANDBOX=best-effort; with required; browsers without a filter',
  target: `${SAMPLES.length}; ${SAMPLES.length - BROWSERS.length}; 0`,
  async run() {
    if (spawnSync(COMMAND[0]!, [...COMMAND.slice(1), process.execPath, '--version']).status !== 0) {
      return {
        figure: 'not run',
        failures: [],
        skipped: 'this user cannot become another one without namespaces',
      };
    }
    const samples = await serveSamples();
    const port = Number(new URL(`http://${samples.host}`).port);
    const convertAll = (mode: string) => {
      const settings = {
        sources: [port],
        environment: { SANDBOX: mode },
        as: { command: COMMAND, user: NOBODY },
      };
      return withSharedService(settings, async (service) => ({
        converted: await convertSamples(service, port),
        ...countBrowsers(service.process.pid!),
      }));
    };
    const effort = await convertAll('best-effort');
    const required = await convertAll('required');
    samples.close();

    const failures: string[] = [];
    const missing = SAMPLES.map(({ tool }) => tool).filter((tool) => !effort.converted.includes(tool));
    if (missing.length > 0) failures.push(`best-effort: ${missing} did not convert`);
    const others = SAMPLES.map(({ tool }) => tool).filter((tool) => !BROWSERS.includes(tool));
    if (required.converted.join() !== others.join())
      failures.push(`required: ${required.converted} converted`);
    if (effort.browsers === 0) failures.push('no browser was found');
    if (effort.open > 0)
      failures.push(`${effort.open} of ${effort.browsers} browser processes have no filter`);
    return { figure: `${effort.converted.length}; ${required.converted.length}; ${effort.open}`, failures };
  },
};

/** Returns the tools that convert their sample. */
async function convertSamples({ neighbor }: SharedService, port: number): Promise<string[]> {
  const converted: string[] = [];
  for (const { tool, infile, outfile, options } of SAMPLES) {
    const query = { app: tool, infile: `http://127.0.0.1:${port}/${infile}`, outfile, ...options };
    if ((await neighbor.ask(query)).results.length === 1) converted.push(tool);
  }
  return converted;
}

function countBrowsers(service: number): { browsers: number; open: number } {
  const browsers = descendants(service).filter((pid) =>
    /\/chromium\/chromium[\0 ]/.test(readProcess(pid, 'cmdline')),
  );
  const open = browsers.filter((pid) => !/^Seccomp:\s+2$/m.test(readProcess(pid, 'status')));
  return { browsers: browsers.length, open: open.length };
}

const SCRIPT = fileURLToPath(new URL('../attacks/taken-over/page-tables.ts', import.meta.url));
const TESTS = fileURLToPath(new URL('../..', import.meta.url));
/** 128 GiB, whose page tables take 256 MiB, and milliseconds for which they are kept. */
const ATTACK = { mappings: 64, time: 10_000 };
/** MiB. Node alone takes 60. */
const MAX_MEMORY = 200;

export const pageTables: Row = {
  name: 'page-tables',
  title: 'a compromised engine with 256 MiB of page tables',
  figures: 'how its request ended',
  target: 'memory limit',
  async run() {
    const temporary = await mkdtemp(join(tmpdir(), 'page-tables-'));
    const command = sandboxedNode({ layers: LAYERS, code: [...CODE, TESTS] }, [SCRIPT]);
    const limits = { size: 1, requests: 10, memory: MAX_MEMORY, maxMemory: MAX_MEMORY };
    const pool = new WorkerPool(command, { temporary, ...limits });
    const request = { account: 'a', signal: AbortSignal.timeout(60_000), directory: temporary };
    const ended = await pool.run({ operation: 'read', arguments: ATTACK }, request).then(
      (result) => `kept ${result} mappings`,
      ({ message }: ConversionError) => message,
    );
    await pool.close();
    await rm(temporary, { recursive: true, force: true });
    const isCounted = ended.includes('memory limit');
    return { figure: isCounted ? 'memory limit' : ended, failures: isCounted ? [] : [ended] };
  },
};

const ENGINE = fileURLToPath(new URL('../attacks/taken-over/engine.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CODE_AND_TESTS = [...CODE, join(ROOT, 'test')];
/** Attacks that succeed in a browser, because it starts itself again for each page and looks for its own processes. */
const OF_A_BROWSER: readonly string[] = ['list processes', 'start this program again'];

/** Attacks from an engine in which a hostile file runs its own code. `test/layers/sandbox` tests its system calls. */
export const takenOverEngine: Row = {
  name: 'taken-over-engine',
  title: 'a compromised engine',
  figures: 'attacks on another account that succeed',
  target: '0',
  run: () => {
    const command = sandboxedNode({ layers: LAYERS, code: CODE_AND_TESTS }, [ENGINE, '--serve']);
    return attack(command, []);
  },
};

/** The same from inside the sandbox around Chromium, without Chromium's own, which root does not have. */
export const takenOverBrowser: Row = {
  name: 'taken-over-browser',
  title: 'a compromised browser',
  target: `0 but ${OF_A_BROWSER.length}`,
  run: () => {
    const command = (home: string): WorkerCommand => {
      // As in functions/engines/chromium/browser/serve.ts.
      const own = join(home, 'browser');
      mkdirSync(own);
      const sandbox = { layers: LAYERS, home: own, ports: [1], namespaces: false };
      const [enter, ...args] = sandboxedCommand(sandbox, process.execPath, CODE_AND_TESTS);
      return { command: enter, args: [...args, '--openssl-config=/dev/null', ENGINE, '--serve', own] };
    };
    return attack(command, OF_A_BROWSER);
  },
};

async function attack(
  command: (home: string) => WorkerCommand,
  allowed: readonly string[],
): Promise<Reached> {
  const gaps = findSandboxGaps(LAYERS);
  if (gaps.files || gaps.calls) {
    return { figure: 'not run', failures: [], skipped: 'this kernel does not provide the full sandbox' };
  }
  const root = await mkdtemp(join(tmpdir(), 'taken-over-'));
  const [temporary, data] = [join(root, 'temporary'), join(root, 'data')];
  for (const folder of [temporary, data]) await mkdir(folder, { mode: 0o700 });
  writeFileSync(join(data, 'docmill.db'), 'keys');
  const homes: string[] = [];
  const pool = new WorkerPool(
    (home) => {
      homes.push(home);
      return command(home);
    },
    { temporary, launcher: launcherIn(LAYERS), size: 2, requests: 1000, memory: 500 },
  );
  const [victim, own] = ['conversion-victim', 'conversion-own'].map((name) =>
    mkdtempSync(join(temporary, name)),
  );
  writeFileSync(join(victim!, 'source'), 'private');
  const signal = AbortSignal.timeout(300_000);
  const failures: string[] = [];
  const codes = new Map<string, number>();
  try {
    // The other account's engine, started by a request of that account and then idle.
    const idle = { operation: 'attack', arguments: { attack: 'list processes', target: {} } };
    await pool.run(idle, { account: 'victim', directory: victim!, signal });
    const target: Target = {
      victim: victim!,
      victimHome: homes[0]!,
      victimPid: pidOf(homes[0]!),
      temporary,
      data,
      layers: LAYERS,
    };
    for (const attack of Object.keys(ATTACKS)) {
      const request = { operation: 'attack', arguments: { attack, target } };
      const { worked, code: error = '' } = await pool.run<{ worked: boolean; code?: string }>(request, {
        account: 'attacker',
        directory: own!,
        signal,
      });
      if (worked && !allowed.includes(attack)) failures.push(attack);
      codes.set(error, (codes.get(error) ?? 0) + 1);
    }
    if (readFileSync(join(victim!, 'source'), 'utf8') !== 'private') failures.push('the source was changed');
    if ((statSync(join(victim!, 'source')).mode & 0o777) === 0o777) failures.push('the mode was changed');
  } finally {
    await pool.close();
    await rm(root, { recursive: true, force: true });
  }
  const told = [...codes].map(([error, count]) => `${count} × ${error || 'worked'}`).join(', ');
  return { figure: `${failures.length} of ${Object.keys(ATTACKS).length} (${told})`, failures };
}

/** The process whose home this is. */
function pidOf(home: string): number {
  const pid = listProcesses().find((each) => readProcess(each, 'environ').includes(`HOME=${home}\0`));
  if (pid === undefined) throw new Error('The other engine does not run.');
  return pid;
}
