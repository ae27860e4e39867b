import type { Session } from '../session.ts';

/** The work that the main thread of a page and its frames has done so far. Reading it runs no script in the page. */
interface Metrics {
  /** CPU milliseconds of the page's scripts, without those of the service, and of all tasks. */
  readonly script: number;
  readonly task: number;
  /** Bytes of JavaScript objects, including those of the service. */
  readonly memory: number;
  /**
   * The page's clock in milliseconds. It is stopped between the steps of virtual time, and only differences are
   * meaningful.
   */
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
