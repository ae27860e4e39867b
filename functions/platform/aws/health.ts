import { InvokeCommand, type LambdaClient, TooManyRequestsException } from '@aws-sdk/client-lambda';
import type { Health, ToolStatus } from '../health.ts';
import { openTable, type TableLocation } from './table.ts';

/** How long a process answers from memory, in milliseconds, so that a request costs nothing. */
const KEPT = 10_000;
/** How long the stored state is valid for all routers, in milliseconds. Each check invokes every tool. */
const VALID = 60_000;
/** Maximum milliseconds of a check, after which another router may begin one. */
const CHECK_TIME = 120_000;
/** ID of the item with the state. */
const ITEM = 'health';
/** The account that health checks run as where each account has its own execution environments. */
const TENANT = 'health-check';

interface HealthOptions {
  readonly client: LambdaClient;
  /** Name or ARN by tool. */
  readonly functions: Readonly<Record<string, string>>;
  readonly isolated: boolean;
  /** Where the routers share the state. */
  readonly store: TableLocation;
}

/**
 * Asks the tools' functions one after another whether their engines work, at most once a minute for all routers
 * together. A throttled function is busy, and one that cannot be invoked for another reason is down.
 */
export function createLambdaHealth({
  client,
  functions,
  isolated,
  store,
}: HealthOptions): () => Promise<Health> {
  const table = openTable(store);
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
    const item = await table.get(ITEM);
    const health = item?.health?.S === undefined ? undefined : (JSON.parse(item.health.S) as Health);
    if (health && Number(item?.checked?.N) > now - VALID) return health;
    const isOwn = await table.update(ITEM, {
      expression: 'SET checking = :end',
      when: 'attribute_not_exists(checking) OR checking < :now',
      values: { ':end': { N: String(now + CHECK_TIME) }, ':now': { N: String(now) } },
    });
    // Unknown until the first check has ended.
    if (!isOwn) return health ?? Object.fromEntries(Object.keys(functions).map((tool) => [tool, 'starting']));
    const checked = await checkAll();
    await table.update(ITEM, {
      expression: 'SET health = :health, checked = :now REMOVE checking',
      values: { ':health': { S: JSON.stringify(checked) }, ':now': { N: String(Date.now()) } },
    });
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
