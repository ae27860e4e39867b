import { textSetting } from './environment.ts';

/** Reads METRICS_NAMESPACE: the namespace in CloudWatch of the metrics in log lines, one for each stack. */
export function metricsNamespace(): string {
  return textSetting('METRICS_NAMESPACE', 'docmill');
}
