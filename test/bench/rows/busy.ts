import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { median } from '../measure/statistics.ts';
import { sampleCalls } from '../service/samples.ts';
import type { Call, Service } from '../service/service.ts';
import type { Bench, Row } from './row.ts';

const AT_ONCE = 8;
/** Milliseconds of a tick in /proc/stat. */
const TICK = 10;

/** Busy cores of the machine, including other load, while a tool has eight concurrent calls. */
export async function measureBusy(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const call of sampleCalls(bench)) {
    const work = `cores kept busy by ${AT_ONCE} calls at once, ${call.app}`;
    if (!bench.wants(work)) continue;
    bench.say(work);
    const rates: Rate[] = [];
    await measureRate(bench.service, call, 0.5);
    for (let round = 0; round < 3; round += 1) {
      rates.push(await measureRate(bench.service, call, bench.quick ? 1 : 3));
    }
    const cores = median(rates.map((rate) => rate.cores));
    const perSecond = median(rates.map((rate) => rate.perSecond));
    const target = 0.95 * availableParallelism();
    const note = `${perSecond.toFixed(0)} calls a second`;
    rows.push({ work, peer: '', unit: 'cores', ours: cores, value: cores, target, atLeast: true, note });
  }
  return rows;
}

interface Rate {
  readonly perSecond: number;
  readonly cores: number;
}

async function measureRate(service: Service, call: Call, seconds: number): Promise<Rate> {
  const started = performance.now();
  const end = started + seconds * 1000;
  const before = idleTime();
  let number = 0;
  const caller = async () => {
    while (performance.now() < end) {
      number += 1;
      // Identical concurrent calls share one conversion, so each has its own name.
      await service.convert({ ...call, outfile: `${number}-${call.outfile}` });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  const milliseconds = performance.now() - started;
  const idle = (idleTime() - before) / milliseconds;
  return { perSecond: (number * 1000) / milliseconds, cores: availableParallelism() - idle };
}

/**
 * Returns how long all cores together were idle or waited for a disk, in milliseconds; see proc_stat(5). The rest is
 * work, including that of the kernel for the network, and time that the host of a virtual machine gave to others.
 */
function idleTime(): number {
  const [, idle, disk] = /^cpu +(?:\d+ ){3}(\d+) (\d+)/.exec(readFileSync('/proc/stat', 'latin1'))!;
  return TICK * (Number(idle) + Number(disk));
}
