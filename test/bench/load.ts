import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  line,
  median,
  processMemory,
  processNumber,
  processTime,
  quantile,
  toolMemory,
  watchMemory,
} from './measure.ts';
import { DRIVE, type Driven, startDriven } from './peers.ts';
import type { Bench, Row } from './row.ts';
import { ACCOUNTS, type Call, type Service, sampleCalls } from './service.ts';
import { startBrowser, startSharp, startSuite } from './tools.ts';

const AT_ONCE = 8;
const SEVERAL = [4, ACCOUNTS];
/** Minimum share of the throughput of one account that four accounts get together. */
const TARGETS: Readonly<Record<string, number>> = { pdftools: 0.8, imageproc: 0.8 };
/** Timeout in milliseconds after which workers of accounts that rest have been killed. */
const REST_TIME = 70_000;

/** Eight callers of several accounts compared with eight of one, and what is left of them after a minute of rest. */
export async function measureAccounts(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  const calls = sampleCalls(bench);
  const mixes = [...calls.map((call) => [call]), calls];
  for (const mix of mixes) {
    const name = mix.length > 1 ? 'mixed' : mix[0]!.app;
    for (const accounts of SEVERAL) {
      const work = `calls a second of ${AT_ONCE} callers of ${accounts} accounts, ${name}`;
      if (!bench.wants(work)) continue;
      bench.say(work);
      const rates = { one: [] as number[], several: [] as number[] };
      const seconds = bench.quick ? 1.5 : 4;
      for (let round = 0; round <= 3; round += 1) {
        const one = await callsPerSecond(bench.service, mix, seconds);
        const several = await callsPerSecond(bench.service, mix, seconds, accounts);
        // The first round warms both.
        if (round === 0) continue;
        rates.one.push(one);
        rates.several.push(several);
      }
      const [ours, theirs] = [median(rates.several), median(rates.one)];
      const target = accounts === SEVERAL[0] ? { target: TARGETS[name] ?? 0.7 } : {};
      const compared = { ours, theirs, value: ours / theirs, atLeast: true, ...target };
      rows.push({ work, peer: 'callers of one account', unit: 'a second', ...compared });
    }
  }
  const work = 'memory a minute after the last call of many accounts';
  if (!bench.wants(work)) return rows;
  bench.say(work);
  const busy = processMemory(bench.service.pid);
  await sleep(REST_TIME);
  const memory = processMemory(bench.service.pid);
  const note = `${processNumber(bench.service.pid)} processes; ${busy.toFixed(0)} MiB before`;
  rows.push({ work, peer: '', unit: 'MiB', ours: memory, value: memory, target: 750, note });
  return rows;
}

/** Makes concurrent calls of one or several accounts for some seconds. */
async function callsPerSecond(
  service: Service,
  mix: readonly Call[],
  seconds: number,
  accounts = 1,
): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1000;
  let number = 0;
  const caller = async (index: number) => {
    for (let own = 0; performance.now() < end; own += 1) {
      // Identical concurrent calls share one conversion, so each has its own name.
      const call = mix[(index + own) % mix.length]!;
      number += 1;
      await service.convert(
        { ...call, outfile: `${number}-${call.outfile}` },
        { account: (index + own * AT_ONCE) % accounts },
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => caller(index)));
  return (number * 1000) / (performance.now() - started);
}

/** Milliseconds of a tick in /proc/stat. */
const TICK = 10;

/** Busy cores of the machine, including other load, while a tool has eight concurrent calls. */
export async function measureBusy(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const call of sampleCalls(bench)) {
    const work = `busy cores, ${call.app}`;
    if (!bench.wants(work)) continue;
    bench.say(work);
    await callsPerSecond(bench.service, [call], 0.5);
    const rates: number[] = [];
    const busy: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const [started, before] = [performance.now(), idleTime()];
      rates.push(await callsPerSecond(bench.service, [call], bench.quick ? 1 : 3));
      busy.push(availableParallelism() - (idleTime() - before) / (performance.now() - started));
    }
    const cores = median(busy);
    const target = 0.95 * availableParallelism();
    const note = `${median(rates).toFixed(0)} calls a second`;
    rows.push({ work, peer: '', unit: 'cores', ours: cores, value: cores, target, atLeast: true, note });
  }
  return rows;
}

/**
 * Returns how long all cores together were idle or waited for a disk, in milliseconds; see proc_stat(5). The rest is
 * work, including that of the kernel for the network, and time that the host of a virtual machine gave to others.
 */
function idleTime(): number {
  const [, idle, disk] = /^cpu +(?:\d+ ){3}(\d+) (\d+)/.exec(readFileSync('/proc/stat', 'latin1'))!;
  return TICK * (Number(idle) + Number(disk));
}

/** The maximum that the service queues for one account. */
const SLOW_CALLS = 500;
/**
 * Milliseconds until the slow calls are queued, the first has ended and its account's next process has
 * started, which happens once, and until those that were aborted have ended.
 */
const SETTLE_TIME = 8000;
const CALLS = 40;

/** Calls of one account while 500 slow calls of another are queued, compared with the same calls alone, in turns. */
export async function measureFairness(bench: Bench): Promise<Row[]> {
  const calls = sampleCalls(bench).filter(({ app }) => app === 'html2pdf' || app === 'imageproc');
  const wanted = calls.filter((call) => bench.wants(besideOthers(call)));
  const alone = new Map<Call, number[]>(wanted.map((call) => [call, []]));
  const beside = new Map<Call, number[]>(wanted.map((call) => [call, []]));
  if (wanted.length === 0) return [];
  bench.say('calls beside a full queue');
  await time(bench, new Map(wanted.map((call) => [call, []])));
  for (let round = 0; round < (bench.quick ? 2 : 8); round += 1) {
    await time(bench, alone);
    const stop = fillQueue(bench);
    await sleep(SETTLE_TIME);
    await time(bench, beside);
    await stop();
  }
  return wanted.map((call) => {
    const [ours, theirs] = [beside, alone].map((times) => quantile(times.get(call)!, 0.95)) as [
      number,
      number,
    ];
    const [half, halfAlone] = [beside, alone].map((times) => quantile(times.get(call)!, 0.5).toFixed(0));
    const note = `p95 of ${beside.get(call)!.length} calls each; medians ${half} and ${halfAlone} ms`;
    const value = ours / theirs;
    return {
      work: besideOthers(call),
      peer: 'alone',
      unit: 'ms',
      ours,
      theirs,
      value,
      target: 1.2,
      note,
    };
  });
}

const besideOthers = ({ app }: Call) => `beside ${SLOW_CALLS} slow calls, ${app}`;

async function time({ service }: Bench, times: ReadonlyMap<Call, number[]>): Promise<void> {
  for (const [call, own] of times) {
    for (let count = 0; count < CALLS; count += 1) own.push(await service.convert(call));
  }
}

/** Queues slow calls of the other account. Returns a function that aborts them. */
function fillQueue({ service, inputs, urlOf }: Bench): () => Promise<void> {
  const stop = new AbortController();
  const options = { '--javascript-delay': 4000 };
  const slow = { app: 'html2pdf', infile: urlOf(`${inputs.folder}/note.html`), options };
  const calls = Array.from({ length: SLOW_CALLS }, (_, number) =>
    service.convert({ ...slow, outfile: `${number}.pdf` }, { account: 1, signal: stop.signal }),
  );
  const ended = Promise.allSettled(calls);
  return async () => {
    stop.abort();
    await ended;
    await sleep(SETTLE_TIME);
  };
}

/** Memory of the service and its engines after 1000 conversions relative to that after 100, per tool. */
export async function measureGrowth(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const call of sampleCalls(bench)) {
    const work = `memory after 1000 conversions, ${call.app}`;
    if (!bench.wants(work)) continue;
    bench.say(work);
    const around = new Map<number, number[]>([
      [100, []],
      [1000, []],
    ]);
    for (let count = 1; count <= 1000; count += 1) {
      await bench.service.convert(call);
      for (const [place, values] of around) {
        if (count > place - 50 && count <= place && count % 5 === 0)
          values.push(toolMemory(bench.service.pid, call.app));
      }
    }
    const [before, after] = [median(around.get(100)!), median(around.get(1000)!)];
    rows.push({
      work,
      peer: 'after 100',
      unit: 'MiB',
      ours: after,
      theirs: before,
      value: after / before,
      target: 1.05,
    });
  }
  return rows;
}

/** A server that runs for a while executes compiled code, which V8 generates only after some calls. */
const WARM_UP_CALLS = 100;

const ownShareOf = (tool: string) => `own share, ${tool}`;

/** Rows for the service's overhead in a warm call. Its log contains the time of the engine and the source. */
export async function measureShare(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const call of sampleCalls(bench)) {
    if (!bench.wants(ownShareOf(call.app))) continue;
    bench.say(`warm calls of ${call.app}`);
    for (let count = 0; count < WARM_UP_CALLS; count += 1) await bench.service.convert(call);
    await bench.service.steps();
    const calls: number[] = [];
    const own: number[] = [];
    const end = performance.now() + (bench.quick ? 1500 : 6000);
    while (performance.now() < end) {
      const milliseconds = await bench.service.convert(call);
      const [{ download = 0, convert } = { convert: Number.NaN }] = await bench.service.steps();
      calls.push(milliseconds);
      own.push(milliseconds - download - convert);
    }
    rows.push({
      work: ownShareOf(call.app),
      peer: '',
      unit: 'ms',
      ours: median(own),
      value: median(own),
      target: 2,
      note: `of ${median(calls).toFixed(0)} ms; ${calls.length} calls, p95 ${quantile(own, 0.95).toFixed(1)} ms`,
    });
  }
  return rows;
}

/** Time and memory by number of pages. */
interface Curve {
  readonly name: string;
  /** Whether the pages are drawn one by one, so that memory should not grow with their number. */
  readonly isDrawn: boolean;
  readonly points: ReadonlyArray<{
    readonly pages: number;
    readonly milliseconds: number;
    readonly memory: number;
  }>;
}

const PAGES = [1, 5, 10, 25, 50, 100, 200, 350, 500] as const;

/** Measures time and peak memory for 1 to 500 pages of a PDF and a web page of 1 to 200 A4 pages. */
export async function measureCurves(bench: Bench): Promise<Row[]> {
  const curves: Curve[] = [];
  const [drawn, printed] = ['PDF to jpg', 'web page to PDF'];
  if (bench.wants(drawn)) {
    const call = (pages: number): Call => ({
      app: 'pdftools',
      infile: bench.urlOf(bench.inputs.tome),
      outfile: 'page.jpg.zip',
      options: { '-r': 72, '-l': pages },
    });
    const pages = bench.quick ? PAGES.filter((each) => each <= 100) : PAGES;
    curves.push(await measureCurve(bench, { name: drawn, isDrawn: true }, pages, call));
  }
  if (bench.wants(printed)) {
    const call = (sheets: number): Call => ({
      app: 'html2pdf',
      infile: bench.urlOf(bench.inputs.sheets.get(sheets)!),
      outfile: 'sheets.pdf',
    });
    const all = [...bench.inputs.sheets.keys()];
    const sheets = bench.quick ? all.filter((each) => each <= 50) : all;
    curves.push(await measureCurve(bench, { name: printed, isDrawn: false }, sheets, call));
  }
  return curveRows(curves);
}

/** Rows for the linearity of the time and the growth of the memory. */
function curveRows(curves: readonly Curve[]): Row[] {
  return curves.flatMap(({ name, points, isDrawn }) => {
    const { slope, explained } = line(points.map(({ pages, milliseconds }) => [pages, milliseconds]));
    const upper = points.slice(Math.floor(points.length / 2));
    const [first, last] = [upper[0]!, upper.at(-1)!];
    const perPage = (from: number, to: number) => (to - from) / (last.pages - first.pages);
    const late = perPage(first.milliseconds, last.milliseconds);
    return [
      {
        work: `page ${last.pages}, ${name}`,
        peer: 'average page',
        unit: 'ms',
        ours: late,
        theirs: slope,
        value: late / slope,
        target: 1.15,
        note: `straight line explains ${(100 * explained).toFixed(1)} %`,
      },
      {
        work: `memory at page ${last.pages}, ${name}`,
        peer: `at page ${first.pages}`,
        unit: 'MiB',
        ours: last.memory,
        theirs: first.memory,
        value: last.memory / first.memory,
        // A browser keeps the whole page in memory. Of a PDF, only the current pages are needed.
        ...(isDrawn ? { target: 1.1 } : {}),
      },
    ];
  });
}

async function measureCurve(
  bench: Bench,
  { name, isDrawn }: Pick<Curve, 'name' | 'isDrawn'>,
  pages: readonly number[],
  call: (pages: number) => Call,
): Promise<Curve> {
  bench.say(`cost curve: ${name}`);
  const best = new Map(pages.map((each) => [each, { milliseconds: Number.POSITIVE_INFINITY, memory: 0 }]));
  for (let round = 0; round < (bench.quick ? 2 : 4); round += 1) {
    for (const each of pages) {
      const { milliseconds, memory } = best.get(each)!;
      const peak = watchMemory(bench.service.pid, call(each).app);
      const time = await bench.service.convert(call(each));
      // The first round warms the engines.
      if (round > 0)
        best.set(each, { milliseconds: Math.min(milliseconds, time), memory: Math.max(memory, peak()) });
      else peak();
    }
  }
  return { name, isDrawn, points: pages.map((each) => ({ pages: each, ...best.get(each)! })) };
}

/** The engine alone on the same work as the sample call of a tool. */
interface Alone {
  readonly name: string;
  readonly line: string;
  start(): Promise<Driven>;
}

/** CPU time of one warm call, of all processes together, against that of the engine alone. */
export async function measureProcessor(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const call of sampleCalls(bench)) {
    const work = `CPU time, ${call.app}`;
    const alone = engineAlone(bench, call.app);
    if (!bench.wants(work) || !alone) continue;
    bench.say(work);
    const engine = await alone.start();
    const sides = {
      ours: { run: () => bench.service.convert(call), time: () => processTime(bench.service.pid) },
      theirs: { run: () => engine.convert(alone.line), time: () => engine.time() },
    };
    const times = { ours: [] as number[], theirs: [] as number[] };
    try {
      for (let round = 0; round <= 3; round += 1) {
        for (const side of ['ours', 'theirs'] as const) {
          const milliseconds = await timePerRun(sides[side], bench.quick ? 500 : 2500);
          // The first round warms both.
          if (round > 0) times[side].push(milliseconds);
        }
      }
    } finally {
      await engine.close();
    }
    const [ours, theirs] = [median(times.ours), median(times.theirs)];
    rows.push({ work, peer: alone.name, unit: 'ms', ours, theirs, value: ours / theirs, target: 1.25 });
  }
  return rows;
}

/** CPU time is counted in steps of 10 ms, so many runs are added up. */
async function timePerRun(
  { run, time }: { run: () => Promise<unknown>; time: () => number },
  milliseconds: number,
): Promise<number> {
  const before = time();
  const end = performance.now() + milliseconds;
  let runs = 0;
  for (; performance.now() < end; runs += 1) await run();
  return (time() - before) / runs;
}

function engineAlone(bench: Bench, tool: string): Alone | undefined {
  const { found } = bench.peers;
  const file = (name: string) => join(bench.inputs.folder, name);
  const page = bench.urlOf(file('note.html'));
  switch (tool) {
    case 'pdftools':
      return {
        name: 'PDFium alone',
        line: JSON.stringify([file('text-12.pdf'), 596, 842]),
        async start() {
          const folder = join(bench.directory, 'pdfium');
          await mkdir(folder, { recursive: true });
          return startDriven(process.execPath, [DRIVE, 'pdfium', folder], { onlyPasses: true });
        },
      };
    case 'imageproc':
      return {
        name: 'a sharp script',
        line: JSON.stringify([400, 300, 'fill', file('photo.jpg')]),
        start: () => startSharp(bench),
      };
    case 'html2pdf':
    case 'html2image':
      return found.chromium
        ? {
            name: 'puppeteer, load',
            line: JSON.stringify([tool === 'html2pdf' ? 'pdf' : 'png', 'load', page]),
            start: () => startBrowser(bench),
          }
        : undefined;
    case 'doc2any':
      return found.soffice && found.uno
        ? { name: 'warm soffice', line: file('letter.docx'), start: () => startSuite(bench) }
        : undefined;
    default:
      return undefined;
  }
}
