import { readFileSync } from 'node:fs';
import { processTree, readProcess, readStat } from '../../functions/engines/worker/linux/proc.ts';

/** The value below which a share of the values lies, with linear interpolation. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  return below + (sorted[Math.ceil(place)]! - below) * (place - Math.floor(place));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The least-squares line through points, and how much of the variation it explains (R²). */
export function line(points: ReadonlyArray<readonly [number, number]>) {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const sum = (term: (x: number, y: number) => number) =>
    points.reduce((total, [x, y]) => total + term(x - meanX, y - meanY), 0);
  const slope = sum((x, y) => x * y) / sum((x) => x * x);
  const start = meanY - slope * meanX;
  const missed = points.reduce((total, [x, y]) => total + (y - start - slope * x) ** 2, 0);
  return { slope, start, explained: 1 - missed / sum((_x, y) => y * y) };
}

/** Runs one piece of work and returns the measured milliseconds. */
export type Run<Item> = (item: Item) => Promise<number>;

interface Timing {
  readonly items: number;
  /** Number of passes over all items within the time. */
  readonly passes: number;
  /** Median over the items in the best pass, per side. */
  readonly milliseconds: Readonly<Record<string, number>>;
  /** Medians of all passes, per side. */
  readonly medians: Readonly<Record<string, readonly number[]>>;
}

/** Maximum duration of a single run that is too short to measure, in milliseconds. */
const SHORT = 150;

/**
 * Runs every side on every item in turn, pass after pass until the time is over, so that other load on the machine
 * affects all sides equally. Short runs count as the median of three consecutive runs.
 */
export async function alternate<Item>(
  items: readonly Item[],
  sides: Readonly<Record<string, Run<Item>>>,
  { seconds, maxPasses = 25, warmUp = true }: { seconds: number; maxPasses?: number; warmUp?: boolean },
): Promise<Timing> {
  const names = Object.keys(sides);
  if (warmUp) for (const item of items) for (const name of names) await sides[name]!(item);
  const medians = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  const end = performance.now() + seconds * 1000;
  let passes = 0;
  for (let longest = 0; passes < maxPasses; passes += 1) {
    const started = performance.now();
    if (passes > 0 && started + longest > end) break;
    const times = Object.fromEntries(names.map((name) => [name, [] as number[]]));
    for (const item of items) {
      for (const name of names) times[name]!.push(await inARow(() => sides[name]!(item)));
    }
    for (const name of names) medians[name]!.push(median(times[name]!));
    longest = Math.max(longest, performance.now() - started);
  }
  const milliseconds = Object.fromEntries(names.map((name) => [name, Math.min(...medians[name]!)]));
  return { items: items.length, passes, milliseconds, medians };
}

async function inARow(run: () => Promise<number>): Promise<number> {
  const first = await run();
  return first > SHORT ? first : median([first, await run(), await run()]);
}

/** Returns the milliseconds of CPU time that a process and all its descendants have used, in steps of 10 ms. */
export function processTime(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + readStat(each).cpuTime, 0);
}

/** Returns the MiB (PSS) of a process and all its descendants. A process that has ended counts as 0. */
export function processMemory(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + proportionalMemory(each), 0);
}

export function processNumber(pid: number): number {
  return processTree(pid).length;
}

function proportionalMemory(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return Number(/^Pss: +(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Part of the command line that identifies the processes of a tool's engine. */
const ENGINE_WORDS: Readonly<Record<string, string>> = {
  doc2any: '/libreoffice/',
  pdftools: '/program/pdfium',
};

/**
 * Memory of the service and one tool's engine processes in MiB, with shared pages counted once (PSS). The engines
 * of the other tools, which are idle, are not included.
 */
export function toolMemory(service: number, tool: string): number {
  const word = ENGINE_WORDS[tool] ?? `/${tool}/`;
  const engines = processTree(service).filter(
    (pid) => readStat(pid).parent === service && readProcess(pid, 'cmdline').includes(word),
  );
  const processes = [service, ...processTree(...engines)];
  return processes.reduce((sum, pid) => sum + proportional(pid), 0);
}

/** Monitors the memory of a tool. The returned function stops it and returns the peak. */
export function watchMemory(service: number, tool: string, interval = 150): () => number {
  let peak = toolMemory(service, tool);
  const timer = setInterval(() => {
    peak = Math.max(peak, toolMemory(service, tool));
  }, interval).unref();
  return () => {
    clearInterval(timer);
    return Math.max(peak, toolMemory(service, tool));
  };
}

function proportional(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+)/m.exec(readProcess(pid, 'smaps_rollup'))?.[1];
  return Number(kibibytes ?? 0) / 1024;
}
