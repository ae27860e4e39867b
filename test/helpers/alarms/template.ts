import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import * as tools from '../../../functions/tools.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { parseSettings } from '../../../infra/aws/settings.ts';
import { createApp } from '../../infra/aws/create-app.ts';
import { STACK } from '../../lambda-emulator/deployment.ts';

const settings = parseSettings({});

/** Names one metric in the template. */
export interface MetricResource {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: ReadonlyArray<{ readonly Name: string; readonly Value: unknown }>;
}

export interface AlarmResource extends MetricResource {
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
export function readAlarms(name = STACK) {
  const artifacts = mkdtempSync(join(tmpdir(), 'alarms-'));
  const layers = new Set(Object.values(tools).flatMap(({ sizing }) => [...sizing.layers]));
  const folders = [
    ...['router', ...Object.keys(tools)].map((name) => `functions/${name}`),
    ...[...layers].map((name) => `layers/${name}`),
  ];
  for (const folder of folders) {
    mkdirSync(join(artifacts, folder), { recursive: true });
    writeFileSync(join(artifacts, folder, 'index.mjs'), folder);
  }
  const chosen = {
    ...settings,
    alarmEmail: 'operator@example.com',
    conversionLimits: { ...settings.conversionLimits, seconds: 2 },
  } as const;
  const stack = new ServiceStack(createApp(), name, {
    settings: chosen,
    tools: Object.values(tools),
    artifacts,
  });
  const template = Template.fromStack(stack);
  rmSync(artifacts, { recursive: true });
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
