import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCoalescer } from '../../../functions/router/coalesce.ts';
import { type Dependencies, route } from '../../../functions/router/route.ts';
import { createApiKey } from '../../../functions/shared/keys/api-key.ts';
import { createDynamoKeys } from '../../../functions/shared/keys/dynamodb.ts';
import { watchErrors, withCallMetrics } from '../../../functions/shared/lambda/emf.ts';
import { logMetric } from '../../../functions/shared/lambda/metric.ts';
import { createLog, type Log } from '../../../functions/shared/log.ts';
import { LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { ServiceStack } from '../../../infra/aws/service-stack.ts';
import { settings } from '../../../infra/aws/settings.ts';
import { recordOf, unlimited } from '../../functions/accounts.ts';
import { startDynalite } from './servers/dynalite.ts';

interface AlarmResource {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: ReadonlyArray<{ readonly Name: string; readonly Value: unknown }>;
  readonly Metrics?: ReadonlyArray<{ readonly MetricStat?: { readonly Metric: AlarmResource } }>;
  readonly Threshold: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData: string;
  readonly AlarmActions?: unknown;
}

let artefacts: string;
let template: Template;
const alarms = new Map<string, AlarmResource>();

beforeAll(() => {
  artefacts = mkdtempSync(join(tmpdir(), 'alarms-'));
  const layers = new Set(Object.values(tools).flatMap(({ sizing }) => [...sizing.layers]));
  const folders = [
    ...['router', ...Object.keys(tools)].map((name) => `functions/${name}`),
    ...[...layers].map((name) => `layers/${name}`),
  ];
  for (const folder of folders) {
    mkdirSync(join(artefacts, folder), { recursive: true });
    writeFileSync(join(artefacts, folder, 'index.mjs'), folder);
  }
  const chosen = {
    ...settings,
    sandbox: 'required',
    alarmEmail: 'operator@example.com',
    limits: { ...settings.limits, seconds: 1 },
  } as const;
  const stack = new ServiceStack(new App(), 'test', {
    settings: chosen,
    tools: Object.values(tools),
    artefacts,
  });
  template = Template.fromStack(stack);
  for (const [id, { Properties }] of Object.entries(template.findResources('AWS::CloudWatch::Alarm'))) {
    alarms.set(/^Alarms([A-Za-z]+?)[0-9A-F]{8}$/.exec(id)![1]!, Properties);
  }
});
afterAll(() => rmSync(artefacts, { recursive: true }));

/** Log lines, as the functions write them. */
async function linesOf(work: (log: Log) => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  await work(createLog((line) => lines.push(line)));
  return lines;
}

/** Reads log lines as CloudWatch does: the values of a metric by namespace, name and dimensions. */
function readMetrics(lines: readonly string[]): Map<string, number[]> {
  const values = new Map<string, number[]>();
  for (const line of lines.map((text) => JSON.parse(text))) {
    for (const { Namespace, Dimensions, Metrics } of line._aws?.CloudWatchMetrics ?? []) {
      for (const names of Dimensions) {
        for (const { Name } of Metrics) {
          const dimensions = names.map((name: string) => [name, line[name]]);
          const id = JSON.stringify([Namespace, Name, dimensions.sort()]);
          values.set(id, [...(values.get(id) ?? []), line[Name]]);
        }
      }
    }
  }
  return values;
}

/** Whether the metrics of an alarm exceed its threshold. Maximum and sum cover every statistic in use. */
function isRaised(name: string, lines: readonly string[]): boolean {
  const alarm = alarms.get(name)!;
  const metrics = readMetrics(lines);
  const parts = alarm.Metrics ? alarm.Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) : [alarm];
  const values = parts.flatMap(({ Namespace, MetricName, Dimensions = [] }) => {
    const dimensions = Dimensions.map(({ Name, Value }) => [Name, Value]).sort();
    return metrics.get(JSON.stringify([Namespace, MetricName, dimensions])) ?? [];
  });
  expect(alarm.ComparisonOperator).toBe('GreaterThanThreshold');
  return values.some((value) => value > alarm.Threshold);
}

const QUERY = { apikey: 'KEY', app: 'imageproc', infile: 'https://example.org/a.png', outfile: 'b.png' };

function call(log: Log, more: Partial<Dependencies>) {
  const dependencies: Dependencies = {
    ...unlimited,
    tools: Object.values(tools),
    keys: { find: async () => recordOf('owner') },
    storage: { grant: async (request) => ({ ...request }), url: async () => 'https://files.example/' },
    invoke: async () => ({ ok: true, objectKeys: [] }),
    coalesce: createCoalescer(),
    limits: LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    ...more,
    log: withCallMetrics(log),
  };
  const query = Object.entries(QUERY).map(([name, value]) => ({ name, value }));
  return route({ method: 'GET', path: '/api/', query }, dependencies, new AbortController().signal);
}

describe('the alarms', () => {
  it('are complete, send mail, and stay off without calls', () => {
    expect([...alarms.keys()].sort()).toEqual(
      [
        'Concurrency',
        'InternalErrors',
        'KeyTableErrors',
        'OutOfMemory',
        'ServerErrors',
        'SlowConversions',
        'SandboxIncomplete',
        'Throttles',
      ].sort(),
    );
    for (const alarm of alarms.values()) {
      expect(alarm.TreatMissingData).toBe('notBreaching');
      expect(alarm.AlarmActions).toHaveLength(1);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'operator@example.com',
    });
  });

  it('are not raised by successful calls or by mistakes of the caller', async () => {
    const lines = await linesOf(async (log) => {
      await call(log, {});
      await call(log, {
        invoke: async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'No.' } }),
      });
    });

    expect(lines.length).toBeGreaterThan(1);
    for (const name of alarms.keys()) expect([name, isRaised(name, lines)]).toEqual([name, false]);
  });

  it('report an internal error', async () => {
    const lines = await linesOf((log) =>
      call(log, {
        invoke: async () => {
          throw new Error('broken');
        },
      }),
    );

    expect(isRaised('InternalErrors', lines)).toBe(true);
  });

  it('report calls near the deadline', async () => {
    const lines = await linesOf((log) =>
      call(log, {
        invoke: async () => {
          await setTimeout(850);
          return { ok: true, objectKeys: [] };
        },
      }),
    );

    expect(isRaised('SlowConversions', lines)).toBe(true);
  });

  it('report a key table that does not respond', async () => {
    const { client, close } = await startDynalite('keys');
    const lines = await linesOf(async (log) => {
      const keys = watchErrors(createDynamoKeys({ client, table: 'missing' }), log);
      const apiKey = createApiKey();
      const find = () => keys.find(apiKey);
      await call(log, { keys: { find } });
    });
    await close();

    expect(isRaised('KeyTableErrors', lines)).toBe(true);
    expect(isRaised('InternalErrors', lines)).toBe(true);
  });

  it('report an incomplete sandbox', async () => {
    const lines = await linesOf(async (log) => logMetric(log, 'SandboxIncomplete', 'imageproc'));

    expect(isRaised('SandboxIncomplete', lines)).toBe(true);
  });

  it('report a function that used up its memory, based on the log of Lambda', () => {
    const filters = Object.values(template.findResources('AWS::Logs::MetricFilter'));
    const line = 'REPORT RequestId: 1 Duration: 5 ms Status: error Error Type: Runtime.OutOfMemory';

    expect(filters).toHaveLength(Object.keys(tools).length + 1);
    for (const { Properties } of filters) {
      const terms = [...Properties.FilterPattern.matchAll(/"([^"]+)"/g)].map(([, term]) => term);
      expect(terms.some((term: string) => line.includes(term))).toBe(true);
      expect(Properties.MetricTransformations).toMatchObject([
        {
          MetricNamespace: alarms.get('OutOfMemory')!.Namespace,
          MetricName: alarms.get('OutOfMemory')!.MetricName,
        },
      ]);
    }
    expect(alarms.get('OutOfMemory')).toMatchObject({ Threshold: 0 });
  });

  it('watch the metrics of Lambda and API Gateway', () => {
    expect(alarms.get('ServerErrors')).toMatchObject({
      Namespace: 'AWS/ApiGateway',
      MetricName: '5XXError',
      Threshold: 0.05,
    });
    expect(alarms.get('Concurrency')).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'ConcurrentExecutions',
      Threshold: 0.8 * settings.accountConcurrency,
    });
    expect(JSON.stringify(alarms.get('Throttles')!.Metrics)).toContain('"MetricName":"Throttles"');
  });
});
