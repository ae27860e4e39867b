import { toolMemory } from '../measure/memory.ts';
import { median } from '../measure/statistics.ts';
import { sampleCalls } from '../service/samples.ts';
import type { Bench, Row } from './row.ts';

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
