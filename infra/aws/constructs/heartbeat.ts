import { Code } from 'aws-cdk-lib/aws-lambda';
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
