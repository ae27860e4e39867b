import type { Buckets } from '../buckets/buckets.ts';
import type { SampleUrl } from '../conversion/request.ts';
import type { JobQueue } from '../jobs/queue.ts';
import type { Idempotency } from '../platform/idempotency.ts';
import type { AfterReply } from '../platform/invoke.ts';
import type { KeyFinder } from '../platform/keys.ts';
import type { ResultCache } from '../platform/result-cache.ts';
import type { Storage, Uploads } from '../platform/storage.ts';
import type { Failures, Usage } from '../platform/usage.ts';
import type { PriceRows } from '../platform/usage-report.ts';
import type { ConversionError } from '../shared/errors.ts';
import type { Log } from '../shared/log.ts';
import type { RouterSettings } from '../shared/settings/service.ts';
import type { LimitDependencies } from './admission/admit.ts';
import type { DemoDependencies } from './admission/demo.ts';
import type { HealthDependencies } from './endpoints.ts';
import type { Coalesce } from './reuse.ts';
import type { Traces } from './trace-exporter.ts';

/** The dependencies of the router, which differ between AWS and one machine. */
export interface Dependencies
  extends RouterSettings,
    LimitDependencies,
    HealthDependencies,
    DemoDependencies {
  readonly keys: KeyFinder;
  readonly usage: Usage;
  /** Recent failures of each account. None are kept if absent. */
  readonly failures?: Failures | undefined;
  /** Whether forms of an account are refused. Absent if the storage receives forms itself. */
  readonly isDisabled?: (account: string) => Promise<boolean>;
  /** Absent if the cost of conversions is not reported. */
  readonly priceRows?: PriceRows | undefined;
  readonly storage: Storage;
  /** Finds the bundled sources. None are offered if absent. */
  readonly sampleUrl?: SampleUrl | undefined;
  /** If absent, sources can only be URLs. */
  readonly uploads?: Uploads | undefined;
  /** Sources and results can be in no bucket if absent. */
  readonly buckets?: Buckets | undefined;
  readonly coalesce: Coalesce;
  /** Requests cannot be repeated safely if absent. */
  readonly idempotency?: Idempotency | undefined;
  /** Conversions cannot be jobs if absent. */
  readonly queue?: JobQueue | undefined;
  /** Caches results for requests with `_cache`. Nothing is cached if absent. */
  readonly resultCache?: ResultCache | undefined;
  /** Returns why all requests are currently rejected, for example because the service is stopping. */
  readonly refusal?: () => ConversionError | undefined;
  readonly log: Log;
  /** No traces are sent if absent. */
  readonly traces?: Traces | undefined;
  /** When usage is recorded. Before the reply by default. */
  readonly afterReply?: AfterReply;
}
