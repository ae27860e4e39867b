import { functionNameOf } from '../../lambda-emulator/deployment.ts';
import type { AlarmResource, MetricResource } from './template.ts';

/** Values by metric, each within CloudWatch's limits. */
type Series = ReadonlyMap<string, readonly number[]>;

const UNITS = ['Count', 'Milliseconds', 'Bytes', 'Megabytes'];

/**
 * Reads the metrics of log lines as CloudWatch does with the Embedded Metric Format: values by namespace, name and
 * dimensions. CloudWatch drops a metric without a number and a dimension without a text. Here, they are errors.
 */
function readMetrics(lines: readonly string[]): Series {
  const series = new Map<string, number[]>();
  for (const line of lines.map((text) => JSON.parse(text))) {
    if (line._aws === undefined) continue;
    if (!Number.isInteger(line._aws.Timestamp)) throw new Error('A line has no timestamp.');
    for (const { Namespace, Dimensions, Metrics } of line._aws.CloudWatchMetrics) {
      for (const { Name, Unit } of Metrics) {
        if (!Number.isFinite(line[Name])) throw new Error(`${Name} is not a number.`);
        if (!UNITS.includes(Unit)) throw new Error(`${Unit} is not a unit.`);
        for (const names of Dimensions as string[][]) {
          const dimensions = names.map((name) => [name, line[name]]);
          const absent = dimensions.find(([, value]) => typeof value !== 'string' || value === '');
          if (absent) throw new Error(`The dimension ${absent[0]} of ${Name} has no text.`);
          const id = idOf(Namespace, Name, dimensions);
          series.set(id, [...(series.get(id) ?? []), line[Name]]);
        }
      }
    }
  }
  return series;
}

/**
 * Whether an alarm is raised after the last line: each of its most recent periods, as many as it evaluates, exceeds the
 * threshold. A period without data does not. When data is missing CloudWatch also looks further back, which is not emulated.
 */
export function isRaised(alarm: AlarmResource, lines: readonly string[]): boolean {
  if (alarm.TreatMissingData !== 'notBreaching') throw new Error(alarm.TreatMissingData);
  const length = 1000 * periodOf(alarm);
  const periods = Map.groupBy(lines, (line) => Math.floor(JSON.parse(line)._aws.Timestamp / length));
  const last = Math.max(...periods.keys());
  const evaluated = Array.from({ length: alarm.EvaluationPeriods }, (_, back) => periods.get(last - back));
  return evaluated.every((period = []) => isBreached(alarm, period));
}

/** Seconds of one period. */
function periodOf({ Period, Metrics = [] }: AlarmResource): number {
  const all = new Set([Period, ...Metrics.map(({ MetricStat }) => MetricStat?.Period)]);
  all.delete(undefined);
  const [period, ...others] = all;
  if (period === undefined || others.length > 0) throw new Error('An alarm must have one period.');
  return period;
}

/** Whether the lines of one period exceed the threshold of an alarm. */
export function isBreached(alarm: AlarmResource, lines: readonly string[]): boolean {
  if (alarm.ComparisonOperator !== 'GreaterThanThreshold') throw new Error(alarm.ComparisonOperator);
  const value = evaluate(alarm, readMetrics(lines));
  return value !== undefined && value > alarm.Threshold;
}

function evaluate(alarm: AlarmResource, series: Series): number | undefined {
  if (!alarm.Metrics) return aggregate(alarm.ExtendedStatistic ?? alarm.Statistic, find(alarm, series));
  const values = new Map<string, number | undefined>();
  for (const { Id, MetricStat } of alarm.Metrics)
    if (MetricStat) values.set(Id, aggregate(MetricStat.Stat, find(MetricStat.Metric, series)));
  const [expression = '', ...others] = alarm.Metrics.flatMap(({ Expression }) => Expression ?? []);
  if (others.length > 0) throw new Error('An alarm has several expressions.');
  const terms = `+ ${expression}`.split(/ (?=[+-] )/).map((term) => /^([+-]) FILL\((\w+), 0\)$/.exec(term));
  return terms.reduce((sum, term) => {
    const [, sign, id = ''] = term ?? [];
    if (!values.has(id)) throw new Error(`Unknown term in '${expression}'.`);
    return sum + (sign === '-' ? -1 : 1) * (values.get(id) ?? 0);
  }, 0);
}

function aggregate(statistic: string | undefined, values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  if (statistic === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  if (statistic === 'Average') return values.reduce((sum, value) => sum + value, 0) / values.length;
  if (statistic === 'Maximum') return Math.max(...values);
  const percentile = /^p(\d+)$/.exec(statistic ?? '')?.[1];
  if (percentile === undefined) throw new Error(`Unknown statistic '${statistic}'.`);
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((Number(percentile) / 100) * sorted.length) - 1];
}

function find({ Namespace, MetricName, Dimensions = [] }: MetricResource, series: Series): readonly number[] {
  const dimensions = Dimensions.map(({ Name, Value }) => [Name, textOf(Value)]);
  return series.get(idOf(Namespace, MetricName, dimensions)) ?? [];
}

/** The text of a dimension, which names a function by a reference to it. */
function textOf(value: unknown): unknown {
  const ref = (value as { Ref?: string }).Ref;
  return ref === undefined ? value : functionNameOf(ref);
}

function idOf(namespace: unknown, name: unknown, dimensions: readonly unknown[][]): string {
  return JSON.stringify([namespace, name, dimensions.toSorted()]);
}
