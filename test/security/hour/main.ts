import { readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { processTree, readProcess, readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { ERRORS } from '../../../functions/shared/errors.ts';
import * as tools from '../../../functions/tools.ts';
import { DOCUMENT_BOMBS, IMAGE_BOMBS, PDF_BOMBS } from '../../fixtures/bombs.ts';
import { slowChain } from '../../helpers/certificate.ts';
import { RAW_FAULTS, serveHttp, serveRaw, serveTls } from '../../helpers/fault-server.ts';
import { randomNumbers } from '../../helpers/random.ts';
import { readArguments, readInteger, showProgress } from '../../run/report.ts';
import { recordPart } from '../../run/results.ts';
import { HELPERS, HOSTILE_PAGES } from '../attacks/hostile-pages.ts';
import { costlyBodies, KEYLESS_PATHS, PARSED_FILES, postParts } from '../attacks/requests.ts';
import type { Answer } from '../deployment/deployment.ts';
import { delayOf, judgeBeats, type SharedService, withSharedService } from '../neighbor/service.ts';

// Attacks one service with everything that the other rows try, in random order, beside a second account that uses it all the time.
// Prints what that account noticed, and what every kind of process held before and after:
//
//   node test/security/hour/main.ts [--minutes 60] [--callers 6] [--seed 29] [--plot FILE.svg]

/** One request of an attacker. Returns its answer, or nothing for one that is not a conversion. */
interface Attack {
  readonly name: string;
  run(service: Pick<SharedService, 'attacker' | 'port'>): Promise<Answer | undefined>;
}

interface Attacks {
  readonly all: readonly Attack[];
  /** Loopback ports of the sources. */
  readonly ports: readonly number[];
  close(): Promise<unknown>;
}

const OUTFILES: Readonly<Record<string, string>> = { html2pdf: 'x.pdf', doc2any: 'x.pdf' };
/** A chain of certificates is expensive to create. This one is not the longest that OpenSSL accepts. */
const CHAIN = 40;

/** Starts the sources of every attack of the other rows that needs no service of its own. */
async function serveAttacks(): Promise<Attacks> {
  const bombs = [...IMAGE_BOMBS, ...PDF_BOMBS, ...DOCUMENT_BOMBS];
  const files = new Map<string, () => Promise<Buffer> | Buffer>([
    ...bombs.map(({ bytes }, index) => [`/bomb-${index}`, bytes] as const),
    ...Object.entries(PARSED_FILES).map(([name, bytes]) => [`/${name}`, bytes] as const),
  ]);
  const made = new Map<string, Promise<Buffer> | Buffer | undefined>();
  const fileAt = (path: string) => {
    if (!made.has(path)) made.set(path, files.get(path)?.());
    return made.get(path);
  };
  const source = await serveHttp(async (request, response) => {
    const path = decodeURIComponent(request.url?.split('?')[0] ?? '');
    const page = HELPERS[path] ?? HOSTILE_PAGES[path.slice(1)];
    if (typeof page === 'function') return page(response);
    if (page !== undefined) return void response.setHeader('content-type', 'text/html').end(page);
    const bytes = await fileAt(path);
    response.writeHead(bytes ? 200 : 404).end(bytes);
  });
  const faults = await Promise.all(
    Object.entries(RAW_FAULTS).map(async ([name, { answer }]) => ({ name, server: await serveRaw(answer) })),
  );
  const chain = await serveTls(slowChain(CHAIN), (_request, response) => response.end());

  let asked = 0;
  const convert = (
    name: string,
    app: string,
    url: string,
    options: Readonly<Record<string, string>> = {},
  ): Attack => ({
    name: `${app}: ${name}`,
    run: ({ attacker }) =>
      // Each time another URL, which nobody else is waiting for.
      attacker.ask({ app, infile: `${url}?${asked++}`, outfile: OUTFILES[app] ?? 'x.png', ...options }),
  });
  const keyless = (name: string, path: string): Attack => ({
    name: `without a key: ${name}`,
    run: async ({ port }) => {
      await fetch(`http://127.0.0.1:${port}${path}`).then((response) => response.text());
      return undefined;
    },
  });
  const bodies = costlyBodies();
  const all = [
    ...Object.keys(HOSTILE_PAGES).flatMap((name) =>
      ['html2image', 'html2pdf'].map((app) =>
        convert(name, app, `${source.origin}/${encodeURIComponent(name)}`),
      ),
    ),
    ...bombs.map(({ name, app, options }, index) =>
      convert(name, app, `${source.origin}/bomb-${index}`, options),
    ),
    ...Object.keys(PARSED_FILES).map((name) => convert(name, 'doc2any', `${source.origin}/${name}`)),
    ...faults.flatMap(({ name, server: { origin } }) =>
      Object.keys(tools).map((app) => convert(`a source that ${name}`, app, `${origin}/x.pdf`)),
    ),
    convert('a slow chain of certificates', 'imageproc', `${chain.origin}/`),
    ...KEYLESS_PATHS.map((path) => keyless(path.slice(0, 40), path)),
    ...bodies.map((body, index) => ({
      name: `without a key: costly body ${index}`,
      run: ({ port }: Pick<SharedService, 'port'>) => postParts(port, body).then(() => undefined),
    })),
  ];
  const servers = [source, chain, ...faults.map(({ server }) => server)];
  return {
    all,
    ports: servers.map(({ port }) => port),
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}

/** Number of processes, and their resident MiB (shared memory counts for each process), descriptors and threads. */
type Holdings = readonly [processes: number, memory: number, descriptors: number, threads: number];
/** The holdings of each kind of process. */
type Census = ReadonlyMap<string, Holdings>;

/** Counts what a process and its descendants hold. */
function takeCensus(root: number): Census {
  const census = new Map<string, Holdings>();
  for (const pid of processTree(root)) {
    const { memory, threads } = readStat(pid);
    const kind = kindOf(readProcess(pid, 'cmdline'));
    // A process that has ended holds nothing.
    if (memory > 0) census.set(kind, sum([census.get(kind), [1, memory, descriptorsOf(pid), threads]]));
  }
  return census;
}

/** Prints two counts beside each other, one line for each kind of process and one for all. */
function compareCensuses(before: Census, after: Census): string {
  const kinds = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const line = (name: string, one = NOTHING, other = NOTHING) => {
    const cells = one.map((value, column) => `${Math.round(value)} → ${Math.round(other[column]!)}`);
    return `| ${[name, ...cells].join(' | ')} |`;
  };
  return [
    '| processes | number | MiB | descriptors | threads |\n| --- | ---: | ---: | ---: | ---: |',
    ...kinds.map((kind) => line(kind, before.get(kind), after.get(kind))),
    line('all', totalOf(before), totalOf(after)),
  ].join('\n');
}

/** Adds up the holdings of all kinds. */
function totalOf(census: Census): Holdings {
  return sum([...census.values()]);
}

const NOTHING: Holdings = [0, 0, 0, 0];

function sum(all: ReadonlyArray<Holdings | undefined>): Holdings {
  const column = (index: 0 | 1 | 2 | 3) => all.reduce((total, each) => total + (each?.[index] ?? 0), 0);
  return [column(0), column(1), column(2), column(3)];
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Returns the name of the program, or of the module that it runs. */
function kindOf(commandLine: string): string {
  // Chromium replaces the zeros between words by spaces.
  const words = commandLine.split(/[\0 ]/);
  const module = words.find((word) => word.endsWith('.ts'));
  if (module) return module.split('/').slice(-2).join('/');
  const type = words.find((word) => word.startsWith('--type='))?.slice('--type='.length);
  // Engines in C are started by the loader of their own C library.
  const library = words.indexOf('--library-path');
  const program = library < 0 ? words[0] : words[library + 2];
  return [basename(program ?? ''), type].filter(Boolean).join(' ');
}

/** The state of the service at one moment, and the requests of the second account since the last one. */
interface Sample {
  readonly seconds: number;
  /** In milliseconds. */
  readonly requests: readonly number[];
  readonly failures: number;
  /** Resident MiB of all processes. */
  readonly memory: number;
  readonly descriptors: number;
}

const WIDTH = 900;
const HEIGHT = 170;
const LEFT = 70;
const TOP = 30;

/** Returns the value below which a share of the numbers lies. */
function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Draws requests, failures, memory and descriptors over time, as SVG. */
function plot(samples: readonly Sample[]): string {
  const each = (value: (sample: Sample) => number) => samples.map(value);
  const panels: ReadonlyArray<readonly [title: string, ...lines: number[][]]> = [
    [
      'Second account, ms: median and worst of each interval',
      each(({ requests }) => percentile(requests, 0.5)),
      each(({ requests }) => Math.max(0, ...requests)),
    ],
    ['Failed requests of the second account', each(({ failures }) => failures)],
    ['Memory of all processes, MiB', each(({ memory }) => memory)],
    ['Descriptors of all processes', each(({ descriptors }) => descriptors)],
  ];
  const end = Math.max(1, samples.at(-1)?.seconds ?? 0);
  const x = (seconds: number) => LEFT + ((WIDTH - LEFT - 20) * seconds) / end;
  const drawn = panels.map(([title, ...lines], index) => {
    const top = index * HEIGHT + TOP;
    const bottom = (index + 1) * HEIGHT - 20;
    const most = Math.max(1, ...lines.flat());
    const y = (value: number) => bottom - ((bottom - top) * value) / most;
    const points = (line: readonly number[]) =>
      line.map((value, at) => `${x(samples[at]!.seconds).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    return `<text x="${LEFT}" y="${top - 8}">${title}</text>
<path d="M${LEFT} ${top}V${bottom}H${WIDTH - 20}" fill="none" stroke="#999"/>
<text x="${LEFT - 6}" y="${top + 6}" text-anchor="end">${Math.round(most)}</text><text x="${LEFT - 6}" y="${bottom}" text-anchor="end">0</text>
${lines.map((line, at) => `<polyline points="${points(line)}" fill="none" stroke="${['#06c', '#c40'][at]}"/>`).join('\n')}`;
  });
  const height = panels.length * HEIGHT + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#fff"/>
${drawn.join('\n')}
<text x="${WIDTH - 20}" y="${height - 6}" text-anchor="end">${Math.round(end / 60)} minutes</text>
</svg>
`;
}

const { values, fail } = readArguments(
  'node test/security/hour/main.ts [--minutes N] [--callers N] [--seed N] [--plot FILE.svg]',
  {
    minutes: { type: 'string', default: '60' },
    callers: { type: 'string', default: '6' },
    seed: { type: 'string', default: '29' },
    plot: { type: 'string' },
  },
);
/** Kinds of attack that are listed with the delays beside them. */
const LISTED = 10;
/** Seconds after the last attack until engines have ended or started anew. */
const CALM_TIME = 60;
/** Milliseconds between two samples of the plot. */
const SAMPLE_INTERVAL = 5000;

const minutes = readInteger(['minutes', values.minutes], { min: 1 }, fail);
const callers = readInteger(['callers', values.callers], { min: 1 }, fail);
const random = randomNumbers(readInteger(['seed', values.seed], { min: 0 }, fail));
const attacks = await serveAttacks();
const failures: string[] = [];
const outcomes = new Map<string, number>();
/** The longest delay of the second account beside each attack. */
const delays = new Map<string, number[]>();

/** Seconds, because many attacks use all of it. */
const environment = { CONVERSION_TIME: '10' };
await withSharedService({ sources: attacks.ports, environment }, async (service) => {
  await service.heartbeat.reset();
  const before = takeCensus(service.process.pid!);
  const samples: Sample[] = [];
  let sampled = 0;
  const started = Date.now();
  const sampling = setInterval(() => {
    const beats = service.heartbeat.beats.slice(sampled);
    sampled += beats.length;
    const [, memory, descriptors] = totalOf(takeCensus(service.process.pid!));
    samples.push({
      seconds: (Date.now() - started) / 1000,
      requests: beats.map(({ milliseconds }) => milliseconds),
      failures: beats.filter(({ code }) => code !== 'SOURCE_STATUS').length,
      memory,
      descriptors,
    });
  }, SAMPLE_INTERVAL);
  const end = Date.now() + 60_000 * minutes;
  const progress = showProgress();
  let done = 0;
  const caller = async () => {
    while (Date.now() < end && service.process.exitCode === null) {
      const attack = attacks.all[Math.floor(random() * attacks.all.length)]!;
      await attackOnce(service, attack);
      done += 1;
      progress.show(`${done} attacks, ${Math.round((end - Date.now()) / 60_000)} minutes left`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  progress.end();
  const { figure, failures: noticed } = judgeBeats(service.heartbeat.beats);
  const requests = service.heartbeat.beats.map(({ milliseconds }) => milliseconds);
  failures.push(...noticed);
  await pause(1000 * CALM_TIME);
  clearInterval(sampling);
  if (values.plot) writeFileSync(values.plot, plot(samples));
  const after = takeCensus(service.process.pid!);

  const answers = [...outcomes].toSorted(([, one], [, other]) => other - one);
  process.stdout.write(
    [
      `${done} attacks of ${delays.size} of ${attacks.all.length} kinds in ${minutes} minutes.`,
      `Answers: ${answers.map(([code, count]) => `${code} ${count}`).join(', ')}`,
      `Second account: ${figure}`,
      `Its requests: p50 ${Math.round(percentile(requests, 0.5))} ms, p99 ${Math.round(percentile(requests, 0.99))} ms, worst ${Math.round(Math.max(0, ...requests))} ms`,
      `Server: at most ${Math.round(service.peakMemory())} MiB, heap ${Math.round(await service.heap())} MiB after garbage collection`,
      '',
      compareCensuses(before, after),
      '',
      'Longest delays of the second account beside an attack, their median:',
      ...slowestAttacks(),
      '',
    ].join('\n'),
  );
});
await attacks.close();
for (const failure of failures.slice(0, 20)) process.stdout.write(`FAILED: ${failure}\n`);
recordPart({
  passed: failures.length === 0 ? 1 : 0,
  failed: failures.map((reason) => ({ name: 'an hour of attacks', reason })),
  skipped: [],
});
process.exit(failures.length === 0 ? 0 : 1);

async function attackOnce(service: SharedService, attack: Attack): Promise<void> {
  const { length } = service.heartbeat.beats;
  const outcome = await attack.run(service).then(
    (answer) => {
      if (!answer) return 'no conversion';
      const { code, status, body, results } = answer;
      if (results.length > 0) return 'a result';
      if (code === undefined || !Object.hasOwn(ERRORS, code) || code === 'INTERNAL')
        failures.push(`${attack.name}: ${status} ${body.slice(0, 150)}`);
      return code ?? `${status}`;
    },
    (thrown: unknown) => {
      failures.push(`${attack.name}: ${thrown}`);
      return 'no answer';
    },
  );
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const beside = Math.max(0, ...service.heartbeat.beats.slice(length).map(delayOf));
  delays.set(attack.name, [...(delays.get(attack.name) ?? []), beside]);
}

/** Chance puts every attack beside slow ones now and then, but only those that cause delays have them every time. */
function slowestAttacks(): string[] {
  const medians = [...delays].map(([name, all]) => {
    return { name, count: all.length, delay: all.toSorted((a, b) => a - b)[all.length >> 1]! };
  });
  return medians
    .toSorted((a, b) => b.delay - a.delay)
    .slice(0, LISTED)
    .map(({ name, count, delay }) => `  ${Math.round(delay)} ms, ${count} times: ${name}`);
}
