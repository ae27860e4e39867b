import type { Log } from '../log.ts';

/** Namespace of every metric in CloudWatch. */
const NAMESPACE = 'docmill';

/**
 * Logs a count that CloudWatch turns into a metric of the tool (Embedded Metric Format): no extra call and no permission is
 * needed for it.
 */
export function logMetric(log: Log, name: string, tool: string, count = 1): void {
  log('metric', {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        { Namespace: NAMESPACE, Dimensions: [['tool']], Metrics: [{ Name: name, Unit: 'Count' }] },
      ],
    },
    tool,
    [name]: count,
  });
}
