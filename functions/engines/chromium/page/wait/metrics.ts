import type { Session } from '../session.ts';

/** The work that the thread of a page and its frames has done until now. Reading it runs no script in the page. */
export interface Metrics {
  /** Milliseconds for which scripts have run, without those of the service, and all tasks. */
  readonly script: number;
  readonly task: number;
  /** Bytes that the objects of scripts take, those of the service included. */
  readonly memory: number;
  /** Milliseconds on the page's clock, which stands still between the steps of virtual time. Only differences mean something. */
  readonly clock: number;
}

/** Reads the metrics of Chromium's `PerformanceAgent`, which counts in seconds. */
export async function readMetrics({ protocol }: Session): Promise<Metrics> {
  const { metrics } = await protocol.send('Performance.getMetrics');
  const values = new Map(metrics.map(({ name, value }) => [name, value]));
  const milliseconds = (name: string) => 1000 * (values.get(name) ?? 0);
  return {
    script: milliseconds('ScriptDuration'),
    task: milliseconds('TaskDuration'),
    memory: values.get('JSHeapUsedSize') ?? 0,
    clock: milliseconds('Timestamp'),
  };
}
