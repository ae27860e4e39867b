import { InvokeCommand, type LambdaClient, TooManyRequestsException } from '@aws-sdk/client-lambda';
import type { Health, ToolStatus } from '../health.ts';
import type { Table } from '../table.ts';

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
