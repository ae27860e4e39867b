import { readFileSync } from 'node:fs';
import { isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { ConversionObserver } from '../../../conversion/handler.ts';
import { ConversionError } from '../../../shared/errors.ts';
import { describe, type Log } from '../../../shared/log.ts';
import { daysSince } from '../../../shared/time.ts';

type Unit = 'Count' | 'Milliseconds' | 'Megabytes';

interface Metric {
  readonly name: string;
  readonly unit: Unit;
  readonly value: number;
}

interface MetricSet {
  readonly dimensions: ReadonlyArray<readonly string[]>;
  readonly metrics: readonly Metric[];
}

/** Returns the log fields that make CloudWatch read metrics from a log line (Embedded Metric Format). */
export function metricFacts(namespace: string, ...sets: readonly MetricSet[]): Record<string, unknown> {
  const metrics = sets.flatMap((set) => set.metrics);
  return {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: sets.map((set) => ({
        Namespace: namespace,
        Dimensions: set.dimensions,
        Metrics: set.metrics.map(({ name, unit }) => ({ Name: name, Unit: unit })),
      })),
    },
    ...Object.fromEntries(metrics.map(({ name, value }) => [name, value])),
  };
}

/** Logs how many days ago the oldest engine was built, if that is known. */
export function logEngineAge(log: Log, namespace: string, built = ''): void {
  const value = daysSince(built);
  const metrics = [{ name: 'EngineAge', unit: 'Count', value }] as const;
  if (value >= 0) log('engines', metricFacts(namespace, { dimensions: [[]], metrics }));
}

/**
 * Adds metrics to the log lines about calls and jobs: by tool and code, and the duration of calls. That of a job includes
 * neither its pauses nor the tool. Counts webhooks that were given up, too.
 */
export function withCallMetrics(log: Log, namespace: string): Log {
  return (event, fields = {}, level) => {
    if (event === 'webhook given up') {
      const metrics = [{ name: 'FailedWebhooks', unit: 'Count', value: 1 }] as const;
      return log(event, { ...fields, ...metricFacts(namespace, { dimensions: [[]], metrics }) }, level);
    }
    if (event !== 'call' && event !== 'job') return log(event, fields, level);
    const hasTool = typeof fields.tool === 'string';
    const calls = [{ name: 'Calls', unit: 'Count', value: 1 }] as const;
    const durations = [
      { name: 'CallDuration', unit: 'Milliseconds', value: Number(fields.milliseconds) },
    ] as const;
    const metrics = metricFacts(
      namespace,
      // The tool is a dimension only where the dashboard shows it, because each combination is billed as a separate
      // metric.
      { dimensions: [hasTool && fields.code === 'OK' ? ['tool', 'code'] : ['code']], metrics: calls },
      // Counts only calls that reached a tool, because others would distort the duration of conversions.
      ...(hasTool && event === 'call' ? [{ dimensions: [[], ['tool']], metrics: durations }] : []),
    );
    log(event, { ...fields, ...metrics }, level);
  };
}

/** Logs metrics of each conversion in a tool's function. `coldStarts` returns 1 during the first one. */
export function conversionMetrics(log: Log, namespace: string, coldStarts: () => number): ConversionObserver {
  return {
    started: () => {},
    ended(tool, _code, { sourceBytes, resultBytes, pages }) {
      const metrics: Metric[] = [
        { name: 'ColdStarts', unit: 'Count', value: coldStarts() },
        { name: 'UsedMemory', unit: 'Megabytes', value: usedMemory() },
      ];
      const fields = { tool, sourceBytes, resultBytes, pages };
      log('metrics', { ...fields, ...metricFacts(namespace, { dimensions: [['tool']], metrics }) });
    },
  };
}

/**
 * Counts failures of the key table by wrapping every method of `store`. Errors that persist after the SDK's retries
 * become `OVERLOADED`, because a later call may succeed. Others are passed on.
 */
export function watchErrors<Store extends object>(store: Store, log: Log, namespace: string): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        try {
          return await method.apply(target, args);
        } catch (thrown) {
          // The answer of the store itself, for example that a request is still running.
          if (thrown instanceof ConversionError) throw thrown;
          const metrics = [{ name: 'KeyTableErrors', unit: 'Count', value: 1 }] as const;
          log(
            'key table failed',
            { cause: describe(thrown), ...metricFacts(namespace, { dimensions: [[]], metrics }) },
            'error',
          );
          throw isTemporary(thrown) ? keyTableError(thrown) : thrown;
        }
      };
    },
  });
}

/** Whether DynamoDB was too slow, too busy, broken or unreachable. */
function isTemporary(thrown: unknown): boolean {
  const error = thrown as Parameters<typeof isTransientError>[0];
  return isTransientError(error) || isThrottlingError(error);
}

function keyTableError(cause: unknown): ConversionError {
  const message = 'The service cannot read its accounts at the moment. Retry in 5 seconds.';
  return new ConversionError('OVERLOADED', message, { cause });
}

/**
 * Returns the MiB in use in this execution environment, including engines, or 0 if the kernel does not report it. On
 * Lambda `/proc/meminfo` describes the function's own virtual machine. Elsewhere, as in the Lambda emulator, it
 * describes the whole machine.
 */
function usedMemory(): number {
  try {
    const text = readFileSync('/proc/meminfo', 'utf8');
    const kib = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1]);
    const used = (kib('MemTotal') - kib('MemAvailable')) / 1024;
    return Number.isFinite(used) ? Math.round(used) : 0;
  } catch {
    return 0;
  }
}
