import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import { Stack } from 'aws-cdk-lib';
import { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { beforeAll, describe, expect, it } from 'vitest';
import * as tools from '../../../../functions/tools.ts';
import { QUERIES } from '../../../../infra/aws/constructs/alarms.ts';
import { parseSettings } from '../../../../infra/aws/settings.ts';
import {
  call,
  filterMetrics,
  isBreached,
  linesOf,
  type MetricResource,
  metricsOf,
  PROVOCATIONS,
  readAlarms,
} from '../../../helpers/alarms.ts';
import { STACK } from '../../../lambda-emulator/deployment.ts';
import { createApp } from '../create-app.ts';
import { environmentsOf } from '../environment.ts';

const { alarms, template } = readAlarms();
const anotherStage = readAlarms('docmill-dev');
const withDestination = readAlarms(STACK, {
  destinations: { onFailure: 'arn:aws:sqs:us-east-1:123456789012:failed' },
});
const FILTERS = Object.values(template.findResources('AWS::Logs::MetricFilter'));
const filtered = new Set(
  FILTERS.flatMap(({ Properties }) =>
    Properties.MetricTransformations.map(({ MetricName }: { MetricName: string }) => MetricName),
  ),
);
/** Alarms on metrics that the functions write themselves. */
const OWN = [...alarms]
  .filter(([, alarm]) =>
    metricsOf(alarm).every(
      ({ Namespace, MetricName }) =>
        Namespace === STACK && !filtered.has(MetricName) && MetricName !== 'Heartbeat',
    ),
  )
  .map(([name]) => name);

describe('every alarm', () => {
  it('sends email, and stays off without calls, except the one for an outage', () => {
    expect(alarms.size).toBe(16);
    for (const [name, alarm] of alarms) {
      expect(alarm.TreatMissingData).toBe(name === 'Outage' ? 'breaching' : 'notBreaching');
      expect(alarm.AlarmActions).toHaveLength(1);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'operator@example.com',
    });
  });

  it('on a metric of the functions can be provoked by a test', () => {
    expect(Object.keys(PROVOCATIONS).sort()).toEqual(OWN.toSorted());
  });

  it.each(OWN)('stays off after successful calls and mistakes of the caller: %s', async (name) => {
    const lines = await linesOf(async (log) => {
      await call(log, {});
      await call(log, {
        invoke: async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'No.' } }),
      });
    });

    expect(lines.length).toBeGreaterThan(1);
    expect(isBreached(alarms.get(name)!, lines)).toBe(false);
  });
});

describe.each(Object.keys(PROVOCATIONS))('%s', (name) => {
  let lines: string[];
  beforeAll(async () => {
    lines = await PROVOCATIONS[name]!();
  });

  it('is raised by its cause', () => {
    expect(isBreached(alarms.get(name)!, lines), lines.join('\n')).toBe(true);
  });

  it('is not raised by the same cause in another stage of the service', () => {
    expect(isBreached(anotherStage.alarms.get(name)!, lines)).toBe(false);
  });

  it('is the only one that is raised', () => {
    const raised = OWN.filter((other) => isBreached(alarms.get(other)!, lines));

    // A call also fails if its key cannot be read.
    expect(raised).toEqual(OWN.filter((other) => other === name || isConsequence(other, name)));
  });
});

function isConsequence(alarm: string, cause: string): boolean {
  return alarm === 'InternalErrors' && cause === 'KeyTableErrors';
}

describe('Outage', () => {
  const alarm = alarms.get('Outage')!;
  const [code] = Object.values(template.findResources('AWS::Lambda::Function')).flatMap(
    ({ Properties }) => Properties.Code.ZipFile ?? [],
  );

  /** Runs the deployed function, and returns what it logs. */
  async function beat(url: string): Promise<string> {
    const lines: string[] = [];
    const module = { exports: {} as { handler(): Promise<void> } };
    runInNewContext(code, {
      exports: module.exports,
      process: { env: { ENVIRONMENT: JSON.stringify({ url, metricsNamespace: STACK }) } },
      console: { log: (line: string) => lines.push(line) },
      fetch,
      AbortSignal,
    });
    await module.exports.handler();
    return lines.join();
  }

  async function statusOf(status: number): Promise<string> {
    const server = createServer((_, response) => response.writeHead(status).end('{}')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = await beat(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/health`);
    server.close();
    return line;
  }

  it('is raised without any line, so also without any traffic', () => {
    expect(isBreached(alarm, [])).toBe(true);
    expect(alarm.EvaluationPeriods).toBe(2);
  });

  it.each([503, 403, 404, 500])('is raised by the status %i of the health', async (status) => {
    expect(isBreached(alarm, [await statusOf(status)])).toBe(true);
  });

  it('is raised if the URL cannot be reached', async () => {
    expect(isBreached(alarm, [await beat('http://127.0.0.1:1/')])).toBe(true);
  });

  it('stays off while the health is good', async () => {
    expect(isBreached(alarm, [await statusOf(200)])).toBe(false);
  });

  it('asks through the public URL, every 15 minutes', () => {
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(15 minutes)' });
    expect(alarm.Period).toBe(900);
    const { url } = Object.values(environmentsOf(template)).find((each) => 'url' in each)!;
    expect(url).toMatch(/^https:\/\/Endpoint[0-9A-F]+\.execute-api\..*\/api\/health$/);
  });
});

describe('TimedOut', () => {
  const alarm = alarms.get('TimedOut')!;

  it.each(Object.keys(tools))('is raised by a call of %s that Lambda ends, also a direct one', (name) => {
    const line = '2026-01-01T00:00:00.000Z 1 Task timed out after 270.00 seconds';

    expect(isBreached(alarm, filterMetrics(template, name, [line]))).toBe(true);
    expect(isBreached(alarm, filterMetrics(template, name, ['REPORT RequestId: 1']))).toBe(false);
  });
});

describe('LostEvents', () => {
  it.each([
    ['AsyncEventsDropped', alarms],
    ['DestinationDeliveryFailures', withDestination.alarms],
  ])('reads %s of every tool', (metricName, found) => {
    const read = metricsOf(found.get('LostEvents')!);

    expect(read.map(({ MetricName }) => MetricName)).toEqual(Object.keys(tools).map(() => metricName));
    for (const { Namespace, Dimensions } of read)
      expect([Namespace, Dimensions!.map(({ Name }) => Name)]).toEqual(['AWS/Lambda', ['FunctionName']]);
  });
});

/** How Lambda logs the end of a function that used up its memory, in its log format `Text`. */
const OUT_OF_MEMORY = [
  'REPORT RequestId: 1\tDuration: 5.00 ms\tMemory Size: 128 MB\tMax Memory Used: 128 MB\tStatus: error\tError Type: Runtime.OutOfMemory',
  'RequestId: 1 Error: Runtime exited with error: signal: killed\nRuntime.ExitError',
];
const OTHERS = [
  'REPORT RequestId: 1\tDuration: 5.00 ms\tMemory Size: 128 MB\tMax Memory Used: 90 MB',
  'RequestId: 1 Error: Runtime exited with error: exit status 1\nRuntime.ExitError',
];

describe('OutOfMemory', () => {
  const alarm = alarms.get('OutOfMemory')!;
  const functions = ['router', 'site', ...Object.keys(tools)];

  it.each(functions)('is raised by a function that used up its memory, and by no other end: %s', (name) => {
    for (const line of OUT_OF_MEMORY)
      expect(isBreached(alarm, filterMetrics(template, name, [line])), line).toBe(true);
    expect(isBreached(alarm, filterMetrics(template, name, OTHERS))).toBe(false);
  });

  it('is not raised in another stage of the service', () => {
    const other = anotherStage.alarms.get('OutOfMemory')!;

    expect(isBreached(other, filterMetrics(template, 'router', OUT_OF_MEMORY))).toBe(false);
  });

  it('reads the log format in which Lambda writes its own lines', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::Lambda::Function')))
      expect(Properties.LoggingConfig?.LogFormat ?? 'Text').toBe('Text');
  });
});

it.each([
  [STACK, { alarms, template }],
  ['docmill-dev', anotherStage],
])('reads and writes the metrics of its own stack alone, in every alarm and graph: %s', (name, stage) => {
  const [dashboard] = Object.values(stage.template.findResources('AWS::CloudWatch::Dashboard'));
  const graphs = JSON.stringify(dashboard!.Properties.DashboardBody);
  const inGraphs = [...graphs.matchAll(/\[\\+"([\w/-]+)\\+","?/g)].map(([, namespace]) => namespace!);
  const inAlarms = [...stage.alarms.values()]
    .flatMap(metricsOf)
    .map(({ Namespace: namespace }) => namespace!);
  const written = Object.values(environmentsOf(stage.template)).map(
    ({ metricsNamespace }) => metricsNamespace,
  );

  expect(new Set(inGraphs)).toEqual(new Set([name, 'AWS/Lambda', 'AWS/ApiGateway']));
  expect(new Set(inAlarms)).toEqual(new Set([name, 'AWS/Lambda', 'AWS/ApiGateway']));
  expect(new Set(written)).toEqual(new Set([name]));
});

const settings = parseSettings({});
const stack = new Stack(createApp(), 'reference');

/** Namespace, name, statistic and dimension names of a metric, as the CDK names AWS's own metrics. */
function named(metric: Metric) {
  const { namespace, metricName, dimensions = {}, statistic } = metric;
  return { namespace, metricName, statistic, dimensions: Object.keys(dimensions).sort() };
}

function declared({ Namespace, MetricName, Dimensions = [] }: MetricResource, statistic: string | undefined) {
  const dimensions = Dimensions.map(({ Name }) => Name).sort();
  return { namespace: Namespace, metricName: MetricName, statistic, dimensions };
}

it('reads the share of server errors of the stage as API Gateway counts it', () => {
  const alarm = alarms.get('ServerErrors')!;
  const api = new RestApi(stack, 'Api');
  api.root.addMethod('GET');

  expect(declared(alarm, alarm.Statistic)).toEqual(
    named(api.deploymentStage.metricServerError({ statistic: 'Average' })),
  );
  // The average of the metric is the share of failed calls.
  expect(alarm.Threshold).toBe(0.05);
  const value = (name: string) => alarm.Dimensions!.find(({ Name }) => Name === name)!.Value;
  // The name of the stack: two stages must not add up.
  expect(value('ApiName')).toBe('emulator');
  template.hasResourceProperties('AWS::ApiGateway::RestApi', { Name: value('ApiName') });
  template.hasResourceProperties('AWS::ApiGateway::Stage', { StageName: value('Stage') });
});

it('reads the concurrent executions of the account', () => {
  const alarm = alarms.get('Concurrency')!;

  expect(declared(alarm, alarm.Statistic)).toEqual(named(LambdaFunction.metricAllConcurrentExecutions()));
  expect(alarm.Threshold).toBe(0.8 * settings.accountConcurrency);
});

it('reads the throttled events of every function, including functions without any', () => {
  const alarm = alarms.get('Throttles')!;
  const ofFunction = LambdaFunction.fromFunctionName(stack, 'Function', 'name').metricThrottles();
  const all = Object.keys(template.findResources('AWS::Lambda::Function'));
  const functions = all.filter((id) => !id.startsWith('heartbeat'));

  const read = alarm.Metrics!.flatMap(({ MetricStat }) => MetricStat ?? []);
  for (const { Metric: metric, Stat } of read) expect(declared(metric, Stat)).toEqual(named(ofFunction));
  const names = metricsOf(alarm).flatMap(({ Dimensions = [] }) => Dimensions.map(({ Value }) => Value));
  expect(names.map((name) => (name as { Ref: string }).Ref).sort()).toEqual(functions.sort());
  // A function that is not called has no data, which must not hide the others.
  const [expression] = alarm.Metrics!.flatMap(({ Expression }) => Expression ?? []);
  expect(expression).toBe(functions.map((_, index) => `FILL(t${index}, 0)`).join(' + '));
});

it('reads only fields that a log line of a call has, or that CloudWatch adds', async () => {
  const lines = await linesOf(async (log) => {
    await call(log, {});
    await call(log, { invoke: () => Promise.reject(new Error('broken')) });
  });
  // Only lines of tools name the account.
  const logged = new Set(['account', ...lines.flatMap((line) => Object.keys(JSON.parse(line)))]);

  const fields = Object.values(QUERIES).flatMap((query) => [
    ...(/^fields (.+)$/m.exec(query)?.[1]?.split(', ') ?? []),
    ...[...query.matchAll(/(\w+) !?= '/g)].map(([, name]) => name!),
    ...[...query.matchAll(/(?:sort|latest\(|count_distinct\() ?(\w+)/g)].map(([, name]) => name!),
  ]);

  expect(fields.length).toBeGreaterThan(20);
  expect(fields.filter((name) => !/^@|^calls$/.test(name) && !logged.has(name))).toEqual([]);
});

it('are saved for the logs of all functions', () => {
  const { template } = readAlarms();
  const groups = Object.keys(template.findResources('AWS::Logs::LogGroup'));
  const logs = groups.filter((id) => !id.startsWith('heartbeat'));

  template.resourceCountIs('AWS::Logs::QueryDefinition', Object.keys(QUERIES).length);
  for (const { Properties } of Object.values(template.findResources('AWS::Logs::QueryDefinition')))
    expect(Properties.LogGroupNames.map(({ Ref }: { Ref: string }) => Ref).sort()).toEqual(logs.sort());
});
