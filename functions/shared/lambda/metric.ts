import type { Log } from '../log.ts';
import { metricFacts } from './emf.ts';

/**
 * Logs a count that CloudWatch turns into a metric of the tool (Embedded Metric Format): no extra call and no permission is
 * needed for it.
 */
export function logMetric(log: Log, name: string, tool: string, count = 1): void {
  const metrics = [{ name, unit: 'Count', value: count }] as const;
  log('metric', { tool, ...metricFacts({ dimensions: [['tool']], metrics }) });
}
