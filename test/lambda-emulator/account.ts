import { Refusal } from '../aws-servers/lambda-endpoint.ts';

/** Reports metrics with the dimensions of one AWS service. */
export type Report = (
  namespace: string,
  dimensions: Readonly<Record<string, string>>,
  metrics: Readonly<Record<string, number>>,
) => void;

/**
 * Returns a metric of an AWS service as a line in the Embedded Metric Format, in which functions log theirs.
 *
 * The emulator reports these metrics, as documented at https://docs.aws.amazon.com:
 * - `AWS/Lambda` `Throttles` of each function: 1 for an event that Lambda refuses for lack of concurrency, read as `Sum`
 *   (lambda/latest/dg/monitoring-metrics-types.html)
 * - `AWS/Lambda` `Errors` of each function: 1 for an event that ends with an exception, the end of its process or a timeout,
 *   and 0 for every other one (on the same page)
 * - `AWS/Lambda` `ConcurrentExecutions` of the account, which has no dimension: the events that run at once, read as
 *   `Maximum` (lambda/latest/dg/monitoring-concurrency.html)
 * - `AWS/Lambda` `Invocations` of each function: 1 for an event that it gets (on the same page)
 * - `AWS/ApiGateway` `Count` of a REST API by `ApiName` and `Stage`: 1 for each request
 * - `AWS/ApiGateway` `5XXError` and `4XXError`, in the same way: 0 or 1 for each request, so that `Average` is their share.
 *   A gateway response with a modified status code counts as `4XXError`, whatever its status
 *   (apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html). HTTP APIs would report `5xx` by `ApiId`.
 */
export function metricLine(...[namespace, dimensions, metrics]: Parameters<Report>): string {
  const Metrics = Object.keys(metrics).map((Name) => ({ Name, Unit: 'Count' }));
  const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [Object.keys(dimensions)], Metrics }];
  return JSON.stringify({ _aws: { Timestamp: Date.now(), CloudWatchMetrics }, ...dimensions, ...metrics });
}

/** The concurrency of one AWS account: all its functions share a quota, and Lambda refuses an event above it. */
export class Account {
  /** Maximum number of concurrent events so far. */
  most = 0;
  /** Events refused because of the quota. */
  refused = 0;
  #running = 0;
  #environments = 0;
  readonly #quota: number;
  readonly #report: Report;

  constructor(quota = Number.POSITIVE_INFINITY, report: Report = () => {}) {
    this.#quota = quota;
    this.#report = report;
  }

  /**
   * Counts a new environment of a tenant, active or idle.
   * @throws Refusal above 2,500 for every 1,000 concurrent executions, as Lambda does.
   */
  openEnvironment(): void {
    if (this.#environments >= 2.5 * this.#quota) {
      this.refused += 1;
      throw new Refusal(429, 'TooManyRequestsException');
    }
    this.#environments += 1;
  }

  closeEnvironment(): void {
    this.#environments -= 1;
  }

  /**
   * Runs an event within the quota.
   * @throws Refusal above the quota, as Lambda does.
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#quota) {
      this.refused += 1;
      throw new Refusal(429, 'TooManyRequestsException');
    }
    this.#running += 1;
    this.most = Math.max(this.most, this.#running);
    this.#report('AWS/Lambda', {}, { ConcurrentExecutions: this.#running });
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }
}
