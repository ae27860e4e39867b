import { sampleCalls } from '../samples.ts';
import type { Call, Service } from '../service.ts';
import { median } from '../statistics.ts';
import type { Bench, Row } from './row.ts';

export interface Throughput {
  readonly tool: string;
  /** Calls under way at once, and calls a second. */
  readonly points: ReadonlyArray<readonly [concurrency: number, perSecond: number]>;
}

const LEVELS = [1, 2, 4, 8] as const;

/** Calls a second against calls under way, levels in turn over several rounds. */
export async function measureThroughput(bench: Bench): Promise<Throughput[]> {
  const seconds = bench.quick ? 0.8 : 2;
  const rounds = bench.quick ? 2 : 3;
  const levels = bench.quick ? [1, 8] : LEVELS;
  const result: Throughput[] = [];
  for (const call of sampleCalls(bench)) {
    bench.say(`throughput of ${call.app}`);
    const rates = new Map<number, number[]>(levels.map((level) => [level, []]));
    for (const level of levels) await callsPerSecond(bench.service, call, level, 0.3);
    for (let round = 0; round < rounds; round += 1) {
      for (const level of levels) {
        rates.get(level)!.push(await callsPerSecond(bench.service, call, level, seconds));
      }
    }
    result.push({ tool: call.app, points: levels.map((level) => [level, median(rates.get(level)!)]) });
  }
  return result;
}

/** Calls a second at 8 at once by those at 1 at once. */
export function throughputRows(throughput: readonly Throughput[]): Row[] {
  return throughput.map(({ tool, points }) => {
    const rates = new Map(points);
    return {
      work: `calls a second, 8 at once, ${tool}`,
      peer: '1 at once',
      unit: '/s',
      ours: rates.get(8)!,
      theirs: rates.get(1)!,
      value: rates.get(8)! / rates.get(1)!,
      target: 1.8,
      atLeast: true,
    };
  });
}

async function callsPerSecond(service: Service, call: Call, level: number, seconds: number): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1000;
  let done = 0;
  let number = 0;
  const caller = async () => {
    while (performance.now() < end) {
      number += 1;
      // Identical calls under way share one conversion, so each has a name of its own.
      await service.convert({ ...call, outfile: `${number}-${call.outfile}` });
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: level }, caller));
  return (done * 1000) / (performance.now() - started);
}
