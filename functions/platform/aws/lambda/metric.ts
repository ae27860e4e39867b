import type { Log } from '../../../shared/log.ts';
import { metricFacts } from './emf.ts';

/**
 * Logs a count that CloudWatch turns into a metric of the tool (Embedded Metric Format), which needs no extra call
 * and no permission.
 */
export function logMetric(log: Log, namespace: string, name: string, tool: string): void {
  const metrics = [{ name, unit: 'Count', value: 1 }] as const;
  log('metric', { tool, ...metricFacts(namespace, { dimensions: [['tool']], metrics }) });
}
