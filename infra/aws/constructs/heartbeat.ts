import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Code, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ENVIRONMENT_VARIABLE } from '../../../functions/platform/aws/environment.ts';

/** Logs the metric `Heartbeat`, which is 1 if every tool can convert. Deployed as text, because it is so short. */
export const HEARTBEAT = Code.fromInline(`exports.handler = async () => {
  const { url, metricsNamespace: Namespace } = JSON.parse(process.env.${ENVIRONMENT_VARIABLE});
  const status = await fetch(url, { signal: AbortSignal.timeout(110_000) }).then(
    ({ status }) => status,
    ({ message, cause }) => String(cause ?? message),
  );
  const Metrics = [{ Name: 'Heartbeat', Unit: 'Count' }];
  const _aws = { Timestamp: Date.now(), CloudWatchMetrics: [{ Namespace, Dimensions: [[]], Metrics }] };
  console.log(JSON.stringify({ event: 'heartbeat', status, Heartbeat: Number(status === 200), _aws }));
};`);

/** Calls a function regularly. */
export class HeartbeatRule extends Rule {
  constructor(scope: Construct, id: string, { minutes, target }: { minutes: number; target: IFunction }) {
    super(scope, id, {
      schedule: Schedule.rate(Duration.minutes(minutes)),
      // A late call would say nothing about that time.
      targets: [new LambdaFunction(target, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
  }
}
