import { cpus } from 'node:os';
import { median } from '../measure/statistics.ts';
import { sampleCalls } from '../service/samples.ts';
import type { Call, Service } from '../service/service.ts';
import type { Bench, Row } from './row.ts';

export interface Throughput {
  readonly tool: string;
  /** Concurrent calls, and calls per second. */
  readonly points: ReadonlyArray<readonly [concurrency: number, perSecond: number]>;
  /** Busy cores of the machine, including other load, by the number of concurrent calls. */
  readonly busy: ReadonlyArray<readonly [concurrency: number, cores: number]>;
}

interface Rate {
  readonly perSecond: number;
  readonly cores: number;
}

const LEVELS = [1, 2, 4, 8] as const;

/** Measures calls per second at several levels of concurrency, alternating over several rounds. */
export async function measureThroughput(bench: Bench): Promise<Throughput[]> {
  const seconds = bench.quick ? 0.8 : 2;
  const rounds = bench.quick ? 2 : 3;
  const levels = bench.quick ? [1, 8] : LEVELS;
  const result: Throughput[] = [];
  for (const call of sampleCalls(bench)) {
    bench.say(`throughput of ${call.app}`);
    const rates = new Map<number, Rate[]>(levels.map((level) => [level, []]));
    for (const level of levels) await measureRate(bench.service, call, level, 0.3);
    for (let round = 0; round < rounds; round += 1) {
      for (const level of levels) {
        rates.get(level)!.push(await measureRate(bench.service, call, level, seconds));
      }
    }
    const medians = (of: (rate: Rate) => number) =>
      levels.map((level) => [level, median(rates.get(level)!.map(of))] as const);
    result.push({
      tool: call.app,
      points: medians(({ perSecond }) => perSecond),
      busy: medians(({ cores }) => cores),
    });
  }
  return result;
}

/** Calls per second with 8 concurrent calls relative to 1. The maximum depends on the cores that a single call leaves idle. */
export function throughputRows(throughput: readonly Throughput[]): Row[] {
  return throughput.map(({ tool, points, busy }) => {
    const rates = new Map(points);
    const cores = new Map(busy);
    return {
      work: `calls a second, 8 at once, ${tool}`,
      peer: '1 at once',
      unit: '/s',
      ours: rates.get(8)!,
      theirs: rates.get(1)!,
      value: rates.get(8)! / rates.get(1)!,
      target: 1.8,
      atLeast: true,
      note: `${cores.get(1)!.toFixed(2)} cores busy at 1 at once, ${cores.get(8)!.toFixed(2)} at 8`,
    };
  });
}

async function measureRate(service: Service, call: Call, level: number, seconds: number): Promise<Rate> {
  const started = performance.now();
  const end = started + seconds * 1000;
  const before = busyTime();
  let done = 0;
  let number = 0;
  const caller = async () => {
    while (performance.now() < end) {
      number += 1;
      // Identical concurrent calls share one conversion, so each has its own name.
      await service.convert({ ...call, outfile: `${number}-${call.outfile}` });
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: level }, caller));
  const milliseconds = performance.now() - started;
  return { perSecond: (done * 1000) / milliseconds, cores: (busyTime() - before) / milliseconds };
}

/** Milliseconds of work of all cores together. */
function busyTime(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}
