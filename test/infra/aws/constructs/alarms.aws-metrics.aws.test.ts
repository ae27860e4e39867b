import { Stack } from 'aws-cdk-lib';
import { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, it } from 'vitest';
import { parseSettings } from '../../../../infra/aws/settings.ts';
import { type MetricResource, metricsOf, readAlarms } from '../../../helpers/alarms.ts';
import { createApp } from '../create-app.ts';

const settings = parseSettings({});

const { alarms, template } = readAlarms();
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
  const functions = Object.keys(template.findResources('AWS::Lambda::Function'));

  const read = alarm.Metrics!.flatMap(({ MetricStat }) => MetricStat ?? []);
  for (const { Metric: metric, Stat } of read) expect(declared(metric, Stat)).toEqual(named(ofFunction));
  const names = metricsOf(alarm).flatMap(({ Dimensions = [] }) => Dimensions.map(({ Value }) => Value));
  expect(names.map((name) => (name as { Ref: string }).Ref).sort()).toEqual(functions.sort());
  // A function that is not called has no data, which must not hide the others.
  const [expression] = alarm.Metrics!.flatMap(({ Expression }) => Expression ?? []);
  expect(expression).toBe(functions.map((_, index) => `FILL(t${index}, 0)`).join(' + '));
});
