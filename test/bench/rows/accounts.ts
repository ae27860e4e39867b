import { setTimeout as sleep } from 'node:timers/promises';
import { processMemory, processNumber } from '../measure/processes.ts';
import { median } from '../measure/statistics.ts';
import { sampleCalls } from '../service/samples.ts';
import { ACCOUNTS, type Call, type Service } from '../service/service.ts';
import type { Bench, Row } from './row.ts';

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
        const one = await measureRate(bench.service, mix, { accounts: 1, seconds });
        const several = await measureRate(bench.service, mix, { accounts, seconds });
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

async function measureRate(
  service: Service,
  mix: readonly Call[],
  { accounts, seconds }: { readonly accounts: number; readonly seconds: number },
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
