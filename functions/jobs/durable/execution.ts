import {
  type DurableContext,
  InvokeError,
  type StepConfig,
  StepSemantics,
} from '@aws/durable-execution-sdk-js';
import { tenantId } from '../../platform/aws/invoke.ts';
import { type Invocation, readResult } from '../../platform/invoke.ts';
import type { Dependencies } from '../../router/dependencies.ts';
import { ConversionError, engineCrashError } from '../../shared/errors.ts';
import { describe, type Log } from '../../shared/log.ts';
import { timeoutError } from '../../shared/time.ts';
import type { Job, JobEnd } from '../job.ts';
import { discardUploads, runJob } from '../run.ts';
import type { Jobs } from '../store.ts';
import { attemptDelivery, type DeliveryDependencies, isPending, logDelivery } from '../webhooks/attempt.ts';

/** The event of a durable execution. */
export interface JobEvent {
  readonly account: string;
  /** The ID of the job. */
  readonly job: string;
}

export interface ExecutionDependencies extends DeliveryDependencies {
  readonly jobs: Jobs;
  readonly conversion: Dependencies;
  /** Returns the ARN of the function version of a tool. */
  functionOf(tool: string): string;
  /** Whether the functions use tenant isolation. */
  readonly isolated: boolean;
  readonly log: Log;
}

const NEVER = new AbortController().signal;
/** A step that must not be repeated, because it counts something. */
const ONCE: StepConfig<void> = {
  semantics: StepSemantics.AtMostOncePerRetry,
  retryStrategy: () => ({ shouldRetry: false }),
};
/** Maximum seconds of a pause before another attempt to run a job. */
const MAX_PAUSE = 60;

/**
 * Runs a job to its end, and delivers its webhook, as a durable execution: after each step and each pause, this code may run
 * again from the start, and steps that are done return what they did. While a tool works or a pause lasts, nothing runs.
 */
export async function executeJob(
  { account, job: id }: JobEvent,
  context: DurableContext,
  dependencies: ExecutionDependencies,
): Promise<void> {
  const { jobs, conversion } = dependencies;
  for (let round = 1; ; round += 1) {
    // Recorded with its request, which the job itself forgets when it ends or is canceled.
    const job = await context.step('start', () => startJob(account, id, jobs));
    if (!job) break;
    // As a child, so that it is not repeated once it has ended.
    const attempt = await context.runInChildContext('convert', (child) =>
      runJob(job, withSteps(conversion, child, dependencies), NEVER).catch((thrown: unknown): JobEnd => {
        dependencies.log('internal error', { requestId: id, cause: describe(thrown) }, 'error');
        return { status: 'failed', error: ConversionError.from(thrown).toReport() };
      }),
    );
    if (attempt.status !== 'later') {
      await context.step('end', async () => {
        await jobs.end(job, attempt);
        await discardUploads(job, conversion);
      });
      if (!job.delivery) return;
      break;
    }
    await context.step('requeue', async () => void (await jobs.requeue(job)));
    await context.wait('pause', {
      seconds: Math.min(MAX_PAUSE, Math.max(attempt.seconds, 2 ** Math.min(round, 6))),
    });
  }
  for (;;) {
    const seconds = await context.step('webhook', () => deliverOnce(account, id, dependencies));
    if (seconds === undefined) return;
    await context.wait('before the next attempt', { seconds });
  }
}

/** Starts a job, unless it has ended. A repeated step finds that it is running already. */
async function startJob(account: string, id: string, jobs: Jobs): Promise<Job | undefined> {
  const found = await jobs.get(account, id);
  const job = found && ((await jobs.start(found)) ?? found);
  return job?.status === 'running' ? job : undefined;
}

/** Makes an attempt to deliver the webhook of a job. Returns the seconds until the next one, if there is one. */
async function deliverOnce(
  account: string,
  id: string,
  dependencies: ExecutionDependencies,
): Promise<number | undefined> {
  const { jobs, log } = dependencies;
  const job = await jobs.get(account, id);
  if (!job || !isPending(job)) return undefined;
  const delivery = await attemptDelivery(job, dependencies, NEVER);
  const { state, next = 0 } = delivery;
  logDelivery(job, delivery, log);
  await jobs.deliver(job, delivery);
  return state === 'pending' ? Math.max(1, Math.ceil((next - Date.now()) / 1000)) : undefined;
}

/** Returns the dependencies of a conversion whose effects are steps, in the order in which a conversion has them. */
function withSteps(
  conversion: Dependencies,
  context: DurableContext,
  { functionOf, isolated }: ExecutionDependencies,
): Dependencies {
  const { limiter, storage, usage, failures, uploads, keys, buckets } = conversion;
  return {
    ...conversion,
    keys: { ...keys, get: (id) => context.step('key', async () => (await keys.get?.(id)) ?? undefined) },
    limiter: {
      used: (account, now) => limiter.used(account, now),
      admit: (call) => context.step('admit', () => limiter.admit(call)),
      release: (ticket, refund) => context.step('release', () => limiter.release(ticket, refund), ONCE),
    },
    storage: { ...storage, grant: (request) => context.step('grant', () => storage.grant(request)) },
    ...(uploads && {
      uploads: { ...uploads, exists: (key) => context.step('upload', () => uploads.exists(key)) },
    }),
    ...(buckets && {
      buckets: {
        ...buckets,
        prefixes: { of: (account) => context.step('prefixes', () => buckets.prefixes.of(account)) },
        step: (work) => context.step('bucket', work),
      },
    }),
    usage: { ...usage, record: (facts) => context.step('usage', () => usage.record(facts), ONCE) },
    ...(failures && {
      failures: { ...failures, record: (fact) => context.step('failure', () => failures.record(fact), ONCE) },
    }),
    invoke: async (invocation) => {
      const { tool } = invocation;
      const config = isolated ? { tenantId: tenantId(invocation) } : {};
      const payload = await context
        .invoke<Invocation, unknown>(tool, functionOf(tool), invocation, config)
        .catch((thrown: unknown) => {
          throw thrown instanceof InvokeError ? invokeError(thrown) : thrown;
        });
      return readResult(payload);
    },
    // Each execution has its own process, so nothing can be shared.
    coalesce: (_identity, signal, work) => work(signal),
    // Whether a result is cached could change between two runs of this code.
    resultCache: undefined,
    // Nobody waits for the reply.
    afterReply: (work) => work(),
  };
}

/** Returns the error for a tool's function that has failed. The service passes on no more than its message. */
function invokeError(cause: InvokeError): ConversionError {
  const { message } = cause;
  if (/timed? ?out/i.test(message)) return timeoutError(cause);
  if (/OutOfMemory|out of memory/i.test(message)) return engineCrashError(cause);
  if (/TooManyRequests|Rate ?Exceeded|throttl/i.test(message))
    return new ConversionError('OVERLOADED', undefined, { cause });
  return new ConversionError('INTERNAL', undefined, { cause });
}
