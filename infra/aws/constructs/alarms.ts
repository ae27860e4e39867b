import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnQueryDefinition, FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { type Settings, TENANTS_PER_EXECUTION } from '../settings.ts';

interface AlarmsProps {
  /** Names of the functions, including the router's. */
  readonly functions: ReadonlyMap<string, { readonly functionName: string; readonly logGroup: ILogGroup }>;
  readonly tools: readonly string[];
  readonly apiName: string;
  /** Namespace of the metrics in the functions' log lines. */
  readonly namespace: string;
  /** Encrypts the messages of alarms. */
  readonly key: IKey | undefined;
  readonly settings: Settings;
}

const FIVE_MINUTES = Duration.minutes(5);
/** Maximum requests in five minutes that do not reach the router. Scanners send some to paths that do not exist. */
const MAX_REFUSED = 100;

/** Maximum webhooks that are given up in an hour. One receiver that is down is a matter of its owner. */
const MAX_FAILED_WEBHOOKS = 10;
/** Maximum days since the engines were built. Chromium has security updates about every two weeks. */
const MAX_ENGINE_AGE = 30;

/**
 * A dashboard, and alarms that require action by an operator. The runbook in `infra/aws/README.md` has a row for each
 * alarm.
 */
export class Alarms extends Construct {
  readonly #topic: Topic | undefined;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { alarmEmail, accountConcurrency, heartbeatMinutes, tenantIsolation, ...settings } = props.settings;
    if (alarmEmail !== undefined) {
      this.#topic = new Topic(this, 'Topic', {
        displayName: 'docmill alarms',
        enforceSSL: true,
        ...(props.key && { masterKey: props.key }),
      });
      // Requiring TLS replaces the topic's default policy, which lets alarms publish.
      const account = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
      this.#topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: account }));
      this.#topic.addSubscription(new EmailSubscription(alarmEmail));
    }
    const { namespace } = props;
    const functions = [...props.functions];
    const own = (metricName: string, statistic: string, dimensionsMap: Record<string, string> = {}) =>
      new Metric({ namespace, metricName, statistic, dimensionsMap, period: FIVE_MINUTES });
    const lambda = (metricName: string, statistic: string, FunctionName?: string) =>
      new Metric({
        namespace: 'AWS/Lambda',
        metricName,
        statistic,
        period: FIVE_MINUTES,
        ...(FunctionName !== undefined && { dimensionsMap: { FunctionName } }),
      });
    const gateway = (metricName: string, statistic: string) =>
      new Metric({
        namespace: 'AWS/ApiGateway',
        metricName,
        statistic,
        period: FIVE_MINUTES,
        dimensionsMap: { ApiName: props.apiName, Stage: 'api' },
      });

    const internal = own('Calls', 'Sum', { code: 'INTERNAL' });
    this.#alarm('InternalErrors', internal, 0, 'Calls ended with INTERNAL.');
    const serverErrors = gateway('5XXError', 'Average');
    this.#alarm('ServerErrors', serverErrors, 0.05, 'More than 5 % of all calls ended with a 5xx status.', 3);
    // Without this alarm, a router that fails on every call would go unnoticed. API Gateway counts its own response
    // to such a call as `4XXError`, because its status is modified, and a tool's failure is a response of the router.
    const pages = functions.filter(([name]) => ['router', 'site'].includes(name));
    const sum = (label: string, metrics: readonly Metric[], sign = '+') => {
      // In a graph, no two metrics may have the same ID.
      const ids = metrics.map((_, index) => `${label.charAt(0).toLowerCase()}${index}`);
      return new MathExpression({
        // A function that is not called has no data, and a sum with missing data would have none either.
        expression: ids.map((id) => `FILL(${id}, 0)`).join(` ${sign} `),
        usingMetrics: Object.fromEntries(metrics.map((metric, index) => [ids[index], metric])),
        period: FIVE_MINUTES,
        label,
      });
    };
    const ofEach = (name: string, of: typeof functions) =>
      of.map(([, { functionName }]) => lambda(name, 'Sum', functionName));
    const jobs = functions.filter(([name]) => name === 'jobs');
    const routerErrors = sum('Router, site and jobs', ofEach('Errors', [...pages, ...jobs]));
    this.#alarm('RouterErrors', routerErrors, 0, 'The router, the site or the function of jobs has failed.');
    const throttles = sum('Throttles', ofEach('Throttles', functions));
    this.#alarm('Throttles', throttles, 0, 'Lambda refused to start functions.');
    // API Gateway counts its own 503 as `4XXError`, because its status is modified. What it refuses never reaches the router.
    // Conversions of members count for both functions.
    const invocations = ofEach('Invocations', pages);
    const refused = sum('Refused by the gateway', [gateway('Count', 'Sum'), ...invocations], '-');
    this.#alarm(
      'RefusedByGateway',
      refused,
      MAX_REFUSED,
      `The gateway refused more than ${MAX_REFUSED} requests in five minutes, because of its throttle or WAF.`,
    );
    const concurrency = lambda('ConcurrentExecutions', 'Maximum');
    this.#alarm(
      'Concurrency',
      concurrency,
      0.8 * accountConcurrency,
      'More than 80 % of the concurrent executions of the AWS account are in use.',
    );
    const slowest = own('CallDuration', 'p99');
    const deadline = 1000 * settings.conversionLimits.seconds;
    this.#alarm('SlowConversions', slowest, 0.8 * deadline, 'One call in a hundred is near the deadline.', 3);
    const ends = { OutOfMemory: ['Runtime.OutOfMemory', 'signal: killed'], TimedOut: ['Task timed out'] };
    for (const [name, { logGroup }] of functions)
      for (const [metricName, terms] of Object.entries(ends))
        new MetricFilter(this, `${name}${metricName}`, {
          logGroup,
          filterPattern: FilterPattern.anyTerm(...terms),
          metricNamespace: namespace,
          metricName,
          metricValue: '1',
        });
    const memory = own('OutOfMemory', 'Sum');
    this.#alarm('OutOfMemory', memory, 0, 'A function used up its memory.');
    // A direct call that times out has no other trace.
    this.#alarm('TimedOut', own('TimedOut', 'Sum'), 0, 'Lambda ended a function at its timeout.');
    const tools = functions.filter(([name]) => props.tools.includes(name));
    const lost = sum(
      'Lost',
      ofEach(settings.destinations.onFailure ? 'DestinationDeliveryFailures' : 'AsyncEventsDropped', tools),
    );
    this.#alarm('LostEvents', lost, 0, 'An asynchronous invocation failed, and nobody was told.');
    if (heartbeatMinutes !== null) {
      const heartbeat = own('Heartbeat', 'Maximum').with({
        period: Duration.minutes(heartbeatMinutes),
      });
      const comparisonOperator = ComparisonOperator.LESS_THAN_THRESHOLD;
      const treatMissingData = TreatMissingData.BREACHING;
      const meaning = 'The service did not report its health through its URL.';
      this.#alarm('Outage', heartbeat, 1, meaning, 2, { comparisonOperator, treatMissingData });
    }
    // A cold start is a new environment. Lambda counts it until it ends it, which is not reported.
    const tenants = TENANTS_PER_EXECUTION * accountConcurrency;
    const started = sum(
      'Environments started in an hour',
      props.tools.map((tool) => own('ColdStarts', 'Sum', { tool }).with({ period: Duration.hours(1) })),
    ).with({ period: Duration.hours(1) });
    if (tenantIsolation)
      this.#alarm(
        'TenantEnvironments',
        started,
        0.8 * tenants,
        `Tools started environments for more than 80 % of the ${tenants} that Lambda allows, in an hour.`,
      );
    const age = own('EngineAge', 'Maximum');
    this.#alarm('EngineAge', age, MAX_ENGINE_AGE, `The engines are older than ${MAX_ENGINE_AGE} days.`);
    const keyTable = own('KeyTableErrors', 'Sum');
    this.#alarm('KeyTableErrors', keyTable, 0, 'The key table could not be read or written.');

    const failedJobs = sum('Failed executions', [
      ...ofEach('DurableExecutionFailed', jobs),
      ...ofEach('DurableExecutionTimedOut', jobs),
    ]);
    const failedWebhooks = own('FailedWebhooks', 'Sum').with({ period: Duration.hours(1) });
    if (settings.jobs) {
      this.#alarm('FailedJobs', failedJobs, 0, 'A job was not run to its end.');
      this.#alarm(
        'FailedWebhooks',
        failedWebhooks,
        MAX_FAILED_WEBHOOKS,
        `More than ${MAX_FAILED_WEBHOOKS} webhooks were given up in an hour.`,
      );
    }

    const byFunction = functions.map(([label, { functionName }]) =>
      lambda('ConcurrentExecutions', 'Maximum', functionName).with({ label }),
    );
    const byTool = (name: string, statistic: string) =>
      props.tools.map((tool) => own(name, statistic, { tool }).with({ label: tool }));
    const graph = (title: string, left: readonly IMetric[]) =>
      new GraphWidget({ title, left: [...left], width: 12 });
    const ok = props.tools.map((tool) => own('Calls', 'Sum', { tool, code: 'OK' }).with({ label: tool }));
    new Dashboard(this, 'Dashboard', {
      widgets: [
        [graph('Successful calls', ok), graph('Duration, p99, ms', byTool('CallDuration', 'p99'))],
        [graph('Internal errors', [internal, routerErrors, keyTable]), graph('Share of 5xx', [serverErrors])],
        [
          graph('Concurrent executions', [concurrency.with({ label: 'account' }), ...byFunction]),
          graph('Throttles and memory', [throttles, refused, memory]),
        ],
        [
          new GraphWidget({
            title: 'Environments started in an hour',
            left: [started],
            leftAnnotations: tenantIsolation ? [{ value: tenants, label: 'quota of tenants' }] : [],
            width: 12,
          }),
          graph('Used memory, MiB', byTool('UsedMemory', 'Maximum')),
        ],
        ...(settings.jobs
          ? [
              [
                graph(
                  'Jobs in progress',
                  jobs.map(([, { functionName }]) =>
                    lambda('ApproximateRunningDurableExecutions', 'Maximum', functionName),
                  ),
                ),
                graph('Failed jobs and webhooks', [failedJobs, failedWebhooks]),
              ],
            ]
          : []),
      ],
    });
  }

  #alarm(
    id: string,
    metric: IMetric,
    threshold: number,
    alarmDescription: string,
    periods = 1,
    more: Partial<AlarmProps> = {},
  ): void {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      alarmDescription,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      // Without calls there are no metrics, which must not raise an alarm.
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...more,
    });
    if (this.#topic) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
}

/** Queries of CloudWatch Logs Insights, by name. An operator replaces the text in capital letters. */
export const QUERIES: Readonly<Record<string, string>> = {
  'by request ID': `fields @timestamp, @log, event, tool, code, status, milliseconds, cause
| filter requestId = 'REQUEST_ID'
| sort @timestamp asc`,
  'by account': `fields @timestamp, event, tool, code, milliseconds, requestId
| filter account = 'ACCOUNT' or keyId = 'KEY_ID'
| sort @timestamp desc
| limit 200`,
  slowest: `fields @timestamp, tool, code, milliseconds, requestId, keyId
| filter event = 'call'
| sort milliseconds desc
| limit 50`,
  'failed by code': `filter event = 'call' and code != 'OK'
| stats count(*) as calls, count_distinct(keyId) as keys, latest(requestId) as example by code, tool
| sort calls desc`,
};

/** Saves the queries for the logs of all functions, in a folder with the name of the stack. */
export class Queries extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { folder, logs }: { folder: string; logs: readonly ILogGroup[] },
  ) {
    super(scope, id);
    for (const [name, queryString] of Object.entries(QUERIES))
      new CfnQueryDefinition(this, name, {
        name: `${folder}/${name}`,
        queryString,
        logGroupNames: logs.map(({ logGroupName }) => logGroupName),
      });
  }
}
