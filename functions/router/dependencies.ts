import type { KeyFinder } from '../platform/keys/keys.ts';
import type { ResultCache } from '../platform/result-cache.ts';
import type { Storage } from '../platform/storage.ts';
import type { Uploads } from '../platform/uploads.ts';
import type { Failures } from '../platform/usage/failures.ts';
import type { PriceRows } from '../platform/usage/report.ts';
import type { Usage } from '../platform/usage/usage.ts';
import type { AfterReply } from '../shared/conversion/after-reply.ts';
import type { ConversionError } from '../shared/errors.ts';
import type { Log } from '../shared/log.ts';
import type { Contact } from './admission/access.ts';
import type { DemoDependencies } from './admission/demo.ts';
import type { LimitDependencies } from './admission/limit.ts';
import type { Coalesce } from './coalesce.ts';
import type { StatusDependencies } from './status.ts';

/** Everything that the router uses, which is different on AWS and on one machine. */
export interface Dependencies extends LimitDependencies, StatusDependencies, DemoDependencies {
  readonly keys: KeyFinder;
  readonly usage: Usage;
  /** Recent failures of each account. None are kept if it is absent. */
  readonly failures?: Failures | undefined;
  /** Whether the forms of an account are refused. Absent where the storage receives forms itself. */
  readonly isDisabled?: (account: string) => Promise<boolean>;
  /** Absent if callers are not told what their conversions cost. */
  readonly priceRows?: PriceRows | undefined;
  readonly storage: Storage;
  /** Sources can only be URLs if it is absent. */
  readonly uploads?: Uploads | undefined;
  readonly coalesce: Coalesce;
  /** Keeps results for requests with `_cache`. None is kept if it is absent. */
  readonly resultCache?: ResultCache | undefined;
  readonly contact: Contact;
  /** Origins of the web pages that may call the service, or `*`. None if absent. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Why every request is rejected at the moment, for example because the service is stopping. */
  readonly refusal?: () => ConversionError | undefined;
  readonly log: Log;
  /** When usage is recorded. The default is before the reply. */
  readonly afterReply?: AfterReply;
}
