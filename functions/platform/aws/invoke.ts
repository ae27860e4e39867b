import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  InvokeCommand,
  type InvokeCommandOutput,
  type LambdaClient,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { ConversionError, engineCrashError } from '../../shared/errors.ts';
import { abortError, timeoutError } from '../../shared/time.ts';
import { DEMO_ACCOUNT, isIpAccount } from '../accounts.ts';
import { type Health, type Invocation, type Invoke, readResult, type ToolStatus } from '../invoke.ts';
import type { Table } from '../table.ts';

/** Errors of the Lambda service that mean it is at capacity. */
const BUSY = new Set([
  'TooManyRequestsException',
  'EC2ThrottledException',
  'ENILimitReachedException',
  'ResourceNotReadyException',
  'ServiceException',
  'ThrottlingException',
]);
/**
 * Minimum and maximum time for which a throttled invocation is retried, in milliseconds. Random, so that callers do
 * not all give up at the same time.
 */
const RETRY_TIME = { min: 2000, max: 3000 };
/**
 * Maximum delay before the first retry, and upper bound of all delays, in milliseconds. The maximum doubles with each
 * retry.
 */
const FIRST_WAIT = 100;
const MAX_WAIT = 400;
/**
 * Node.js errors for a connection that the other side has closed. The SDK renames them to `TimeoutError` but keeps
 * the code.
 */
const CLOSED = new Set(['ECONNRESET', 'EPIPE']);
/** Time within which a closed connection counts as stale, so that nothing was invoked, in milliseconds. */
const STALE_TIME = 1000;
/** Pattern of Lambda's tenant IDs. */
const TENANT_ID = /^[\w.:/=+@ -]{1,256}$/;

interface LambdaInvokeOptions {
  /**
   * Client that does not retry by itself (`maxAttempts: 1`): only this code knows which errors mean that nothing was
   * started.
   */
  readonly client: LambdaClient;
  /** Name or ARN of a tool's function. */
  readonly functionName: (tool: string) => string;
  /** Whether the functions use tenant isolation, so that each account has its own execution environments. */
  readonly isolated: boolean;
}

/**
 * Runs tools as Lambda functions. An invocation that was throttled or did not reach Lambda has started nothing, so it
 * is retried for a few seconds.
 */
export function createLambdaInvoke({ client, functionName, isolated }: LambdaInvokeOptions): Invoke {
  return async (invocation, signal) => {
    const command = new InvokeCommand({
      FunctionName: functionName(invocation.tool),
      Payload: JSON.stringify(invocation),
      ...(isolated && { TenantId: tenantId(invocation) }),
    });
    const response = await sendWithRetry(client, command, signal).catch((cause) => {
      throw unreachable(cause, signal);
    });
    const payload = parse(response.Payload);
    if (response.FunctionError) throw functionError(payload);
    return readResult(payload);
  };
}

async function sendWithRetry(
  client: LambdaClient,
  command: InvokeCommand,
  signal: AbortSignal,
): Promise<InvokeCommandOutput> {
  const deadline = Date.now() + RETRY_TIME.min + Math.random() * (RETRY_TIME.max - RETRY_TIME.min);
  for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, MAX_WAIT)) {
    const sent = Date.now();
    try {
      return await client.send(command, { abortSignal: signal });
    } catch (thrown) {
      const left = deadline - Date.now();
      // After any other error the conversion may already be running, so a retry could convert twice.
      const isRejected =
        errorName(thrown) === 'TooManyRequestsException' || isUnsent(thrown, Date.now() - sent);
      if (!isRejected || left <= 0) throw thrown;
      const pause = wait * (0.5 + 0.5 * Math.random());
      await setTimeout(Math.min(pause, left), undefined, { signal });
    }
  }
}

/**
 * Returns the account's name in the form that Lambda accepts. Callers without a key share one, because execution
 * environments cost extra for each account.
 */
export function tenantId({ account }: Pick<Invocation, 'account'>): string {
  if (isIpAccount(account)) return DEMO_ACCOUNT;
  return TENANT_ID.test(account) ? account : createHash('sha256').update(account).digest('hex');
}

function unreachable(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return abortError(signal);
  const name = errorName(cause);
  if (BUSY.has(name) || isUnconnected(cause)) {
    return new ConversionError('OVERLOADED', undefined, { cause });
  }
  return name === 'TimeoutError' ? timeoutError(cause) : cause;
}

/**
 * Whether the invocation almost certainly did not reach Lambda, so that a retry is safe. Lambda may have closed a
 * connection that the router kept open while it was frozen. Should the conversion run twice after all, both runs
 * store the same objects.
 */
function isUnsent(thrown: unknown, milliseconds: number): boolean {
  const { code = '' } = thrown as NodeJS.ErrnoException;
  return isUnconnected(thrown) || (CLOSED.has(code) && milliseconds < STALE_TIME);
}

/** Whether no connection to Lambda was opened. */
function isUnconnected(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  // The SDK's own connection timeout, `connectionTimeout`, has no code.
  if (thrown.name === 'TimeoutError' && /did not establish a connection/.test(thrown.message)) return true;
  const { syscall } = thrown as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

/** Returns the error for a function that ended without a response, because of its timeout, its memory or a crash. */
function functionError(payload: unknown): ConversionError {
  const cause = new Error(`The function failed: ${JSON.stringify(payload)?.slice(0, 500)}`);
  const type = (payload as { errorType?: unknown } | undefined)?.errorType;
  if (type === 'Sandbox.Timedout') return timeoutError(cause);
  // The source may need more memory than the function has. Engines are processes of their own, so whatever else ends the
  // function is not the source's fault.
  if (type === 'Runtime.OutOfMemory') return engineCrashError(cause);
  return ConversionError.from(cause);
}

function errorName(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

function parse(payload: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(payload ?? []).toString());
  } catch {
    return undefined;
  }
}

/** How long a process answers from memory, in milliseconds, so that a request costs nothing. */
const KEPT = 10_000;
/** How long the stored state is valid for all routers, in milliseconds. Each check invokes every tool. */
const VALID = 60_000;
/** Maximum milliseconds of a check, after which another router may begin one. */
const CHECK_TIME = 120_000;
/** IDs of the item with the state, and of the item that exists while a router checks. */
const [STATE, CHECK] = ['health', 'health-check'];
/** The account that health checks run as where each account has its own execution environments. */
const TENANT = 'health-check';

interface HealthOptions {
  readonly client: LambdaClient;
  /** Name or ARN by tool. */
  readonly functions: Readonly<Record<string, string>>;
  readonly isolated: boolean;
  /** Where the routers share the state. */
  readonly table: Table;
}

/**
 * Asks the tools' functions one after another whether their engines work, at most once a minute for all routers
 * together. A throttled function is busy, and one that cannot be invoked for another reason is down.
 */
export function createLambdaHealth({
  client,
  functions,
  isolated,
  table,
}: HealthOptions): () => Promise<Health> {
  let kept = { at: Number.NEGATIVE_INFINITY, health: Promise.resolve<Health>({}) };

  async function check(functionName: string): Promise<ToolStatus> {
    try {
      const { Payload, FunctionError } = await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          Payload: JSON.stringify({ health: true }),
          ...(isolated && { TenantId: TENANT }),
        }),
      );
      const { status } = JSON.parse(Buffer.from(Payload ?? []).toString()) as { status?: unknown };
      return FunctionError === undefined ? readStatus(status) : 'down';
    } catch (thrown) {
      return thrown instanceof TooManyRequestsException ? 'busy' : 'down';
    }
  }

  async function checkAll(): Promise<Health> {
    const health: Record<string, ToolStatus> = {};
    // Concurrent checks would take most of the executions that a new AWS account has.
    for (const [tool, name] of Object.entries(functions)) health[tool] = await check(name);
    return health;
  }

  /** Returns the stored state, and refreshes it first if it is old and no other router does. */
  async function shared(): Promise<Health> {
    const now = Date.now();
    const item = await table.get(STATE);
    const health = item && (JSON.parse(String(item.health)) as Health);
    if (health && Number(item.checked) > now - VALID) return health;
    const isOwn = await table.update(CHECK, { set: { expires: now + CHECK_TIME }, when: { id: 'absent' } });
    // Unknown until the first check has ended.
    if (!isOwn) return health ?? Object.fromEntries(Object.keys(functions).map((tool) => [tool, 'starting']));
    const checked = await checkAll();
    await table.update(STATE, { set: { health: JSON.stringify(checked), checked: Date.now() } });
    await table.update(CHECK, { set: { expires: Date.now() } });
    return checked;
  }

  return () => {
    if (performance.now() - kept.at > KEPT) {
      kept = { at: performance.now(), health: shared() };
      kept.health.catch(() => (kept = { ...kept, at: Number.NEGATIVE_INFINITY }));
    }
    return kept.health;
  };
}

function readStatus(status: unknown): ToolStatus {
  return status === 'up' || status === 'starting' ? status : 'down';
}
