import { median, quantile } from '../measure/statistics.ts';
import { sampleCalls } from '../service/samples.ts';
import type { Bench, Row } from './row.ts';

/** Milliseconds of one warm call and its parts. */
export interface Warm {
  readonly tool: string;
  /** Whole calls, one after the other. */
  readonly calls: readonly number[];
  /** Everything except engine and source. */
  readonly own: readonly number[];
  readonly bytes: number;
}

/** Calls every tool many times in a row, and reads from its log how long the engine and the source took. */
export async function measureWarm(bench: Bench): Promise<Warm[]> {
  const result: Warm[] = [];
  for (const call of sampleCalls(bench)) {
    bench.say(`warm calls of ${call.app}`);
    const bytes = (await bench.service.fetch(call)).length;
    for (let count = 0; count < 5; count += 1) await bench.service.convert(call);
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
    result.push({ tool: call.app, calls, own, bytes });
  }
  return result;
}

/** Rows for the service's overhead in a warm call. */
export function shareRows(warm: readonly Warm[]): Row[] {
  return warm.map(({ tool, calls, own }) => ({
    work: `own share of a warm call, ${tool}`,
    peer: '',
    unit: 'ms',
    ours: median(own),
    value: median(own),
    target: 8,
    note: `of ${median(calls).toFixed(0)} ms; ${calls.length} calls, p95 ${quantile(own, 0.95).toFixed(1)} ms`,
  }));
}
