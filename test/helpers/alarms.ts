import { setTimeout } from 'node:timers/promises';
import { Template } from 'aws-cdk-lib/assertions';
import { logDelivery } from '../../functions/jobs/webhooks/attempt.ts';
import {
  conversionMetrics,
  logEngineAge,
  watchErrors,
  withCallMetrics,
} from '../../functions/platform/aws/lambda/metrics.ts';
import { createDynamoTable } from '../../functions/platform/aws/table.ts';
import { createKeys } from '../../functions/platform/key-store.ts';
import { createApiKey } from '../../functions/platform/keys.ts';
import type { Dependencies } from '../../functions/router/dependencies.ts';
import { createCoalescer } from '../../functions/router/reuse.ts';
import { route } from '../../functions/router/route.ts';
import { createLog, type Log } from '../../functions/shared/log.ts';
import { DAY, dayOf } from '../../functions/shared/time.ts';
import { CONVERSION_LIMITS } from '../../functions/shared/tool.ts';
import * as tools from '../../functions/tools.ts';
import { ServiceStack } from '../../infra/aws/service-stack.ts';
import { parseSettings } from '../../infra/aws/settings.ts';
import { startDynalite } from '../aws-servers/dynalite.ts';
import { recordOf, unlimited } from '../functions/accounts.ts';
import { createArtifacts } from '../infra/aws/artifacts.ts';
import { createApp } from '../infra/aws/create-app.ts';
import { metricLine } from '../lambda-emulator/account.ts';
import { functionNameOf, STACK } from '../lambda-emulator/deployment.ts';
import { KEPT_RESULTS } from './kept-results.ts';

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
  const value = evaluate(alarm, readMetrics(lines));
  if (value === undefined) return alarm.TreatMissingData === 'breaching';
  if (alarm.ComparisonOperator === 'LessThanThreshold') return value < alarm.Threshold;
  if (alarm.ComparisonOperator !== 'GreaterThanThreshold') throw new Error(alarm.ComparisonOperator);
  return value > alarm.Threshold;
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

interface FilterResource {
  readonly FilterPattern: string;
  readonly LogGroupName: { readonly Ref: string };
  readonly MetricTransformations: ReadonlyArray<{
    readonly MetricNamespace: string;
    readonly MetricName: string;
    readonly MetricValue: string;
  }>;
}

/** Returns what the metric filters of a function's log group count in its lines, in the Embedded Metric Format. */
export function filterMetrics(template: Template, name: string, lines: readonly string[]): string[] {
  const filters = Object.values(template.findResources('AWS::Logs::MetricFilter'))
    .map(({ Properties }) => Properties as FilterResource)
    .filter(({ LogGroupName }) => LogGroupName.Ref.replace(/Log[0-9A-F]{8}$/, '') === name);
  return filters.flatMap(({ FilterPattern, MetricTransformations }) => {
    const matching = lines.filter(matches(FilterPattern));
    return MetricTransformations.flatMap(({ MetricNamespace, MetricName, MetricValue }) =>
      matching.map(() => metricLine(MetricNamespace, {}, { [MetricName]: Number(MetricValue) })),
    );
  });
}

/** Reads a pattern of terms of which a line must contain at least one, such as `?"a b" ?"c"`. */
function matches(pattern: string): (line: string) => boolean {
  const terms = [...pattern.matchAll(/"([^"]+)"/g)].map(([, term]) => term!);
  const mark = terms.length > 1 ? '?' : '';
  if (terms.map((term) => `${mark}"${term}"`).join(' ') !== pattern)
    throw new Error(`Unknown pattern: ${pattern}`);
  return (line) => terms.some((term) => line.includes(term));
}

/** Log lines, as the functions write them. */
export async function linesOf(work: (log: Log) => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  await work(createLog((line) => lines.push(line)));
  return lines;
}

const QUERY = { apikey: 'KEY', app: 'imageproc', infile: 'https://example.org/a.png', outfile: 'b.png' };

/** Sends one call to the router. */
export function call(log: Log, more: Partial<Dependencies>) {
  const dependencies: Dependencies = {
    ...unlimited,
    tools: Object.values(tools),
    keys: { find: async () => recordOf('owner'), findSigner: async () => undefined },
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async () => 'https://files.example/',
    },
    invoke: async () => ({ ok: true, objectKeys: [] }),
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    ...more,
    log: withCallMetrics(log, STACK),
  };
  const query = Object.entries(QUERY).map(([name, value]) => ({ name, value }));
  return route(
    { method: 'GET', path: '/api/', query, header: () => undefined },
    dependencies,
    new AbortController().signal,
  );
}

/** Causes what each alarm on the service's own metrics is about, and returns the log lines. */
export const PROVOCATIONS: Readonly<Record<string, () => Promise<string[]>>> = {
  InternalErrors: () => linesOf((log) => call(log, { invoke: () => Promise.reject(new Error('broken')) })),

  SlowConversions: () =>
    linesOf((log) =>
      call(log, {
        invoke: async () => {
          await setTimeout(1650);
          return { ok: true, objectKeys: [] };
        },
      }),
    ),

  TenantEnvironments: () =>
    linesOf(async (log) => {
      const { ended } = conversionMetrics(log, STACK, () => 1);
      const facts = { sourceBytes: 1, resultBytes: 1, pages: 1 } as Parameters<typeof ended>[2];
      for (let index = 0; index < 21; index += 1) ended(index % 2 ? 'pdftools' : 'doc2any', 'OK', facts);
    }),

  FailedWebhooks: () =>
    linesOf(async (log) => {
      const failed = { url: 'https://a.example/', state: 'failed', attempts: 9, last: 'status 500' } as const;
      for (let index = 0; index < 11; index += 1)
        logDelivery({ id: `job_${index}` }, failed, withCallMetrics(log, STACK));
    }),

  EngineAge: () => linesOf(async (log) => logEngineAge(log, STACK, dayOf(Date.now() - 40 * DAY))),

  KeyTableErrors: async () => {
    const { client, close } = await startDynalite('keys');
    const lines = await linesOf(async (log) => {
      const keys = watchErrors(createKeys(createDynamoTable({ client, table: 'missing' })), log, STACK);
      const apiKey = createApiKey();
      await call(log, { keys: { find: () => keys.find(apiKey), findSigner: async () => undefined } });
    });
    await close();
    return lines;
  },
};

const settings = parseSettings({});

/** Names one metric in the template. */
export interface MetricResource {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: ReadonlyArray<{ readonly Name: string; readonly Value: unknown }>;
}

interface AlarmResource extends MetricResource {
  readonly Period?: number;
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
  readonly Metrics?: ReadonlyArray<{
    readonly Id: string;
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: MetricResource; readonly Stat: string; readonly Period: number };
  }>;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData: string;
  readonly AlarmActions?: unknown;
}

/** Synthesizes the stack with every alarm. Returns the alarms by name, the whole template and the settings. */
export function readAlarms(name = STACK, more: object = {}) {
  const { artifacts, remove } = createArtifacts();
  const chosen = {
    ...settings,
    alarmEmail: 'operator@example.com',
    conversionLimits: { ...settings.conversionLimits, seconds: 2 },
    ...more,
  } as const;
  const stack = new ServiceStack(createApp(), name, {
    settings: chosen,
    artifacts,
  });
  const template = Template.fromStack(stack);
  remove();
  const found = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
  const alarms = new Map<string, AlarmResource>(
    found.map(([id, { Properties }]) => [/^Alarms([A-Za-z]+?)[0-9A-F]{8}$/.exec(id)![1]!, Properties]),
  );
  return { template, alarms, chosen };
}

/** The metrics that an alarm reads. */
export function metricsOf(alarm: AlarmResource): MetricResource[] {
  return alarm.Metrics ? alarm.Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) : [alarm];
}
