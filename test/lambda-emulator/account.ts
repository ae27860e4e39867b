import { Refusal } from '../aws-servers/lambda-endpoint.ts';
import type { Report } from '../helpers/alarms/aws-metrics.ts';

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
