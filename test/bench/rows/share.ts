import { median, quantile } from '../measure/statistics.ts';
import { sampleCalls } from '../service/samples.ts';
import type { Bench, Row } from './row.ts';

/** A server that runs for a while executes compiled code, which V8 generates only after some calls. */
const WARM_UP_CALLS = 100;

const nameOf = (tool: string) => `own share of a warm call, ${tool}`;

/** Rows for the service's overhead in a warm call. Its log contains the time of the engine and the source. */
export async function measureShare(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const call of sampleCalls(bench)) {
    if (!bench.wants(nameOf(call.app))) continue;
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
      work: nameOf(call.app),
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
