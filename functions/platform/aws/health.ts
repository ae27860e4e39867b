import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { EngineStatus } from '../../engines/worker/observer.ts';
import type { Health } from '../health.ts';

/** Milliseconds that a health response is cached: the endpoint is public, and each check invokes every tool. */
const CACHED = 60_000;
/** The account that health checks run as, where each account has its own execution environments. */
const TENANT = 'health-check';

/** Asks every tool's function whether its engine works. A function that cannot be invoked counts as down. */
export function createLambdaHealth({
  client,
  functions,
  isolated,
}: {
  readonly client: LambdaClient;
  /** Name or ARN by tool. */
  readonly functions: Readonly<Record<string, string>>;
  readonly isolated: boolean;
}): () => Promise<Health> {
  let checked = { at: Number.NEGATIVE_INFINITY, health: Promise.resolve<Health>({}) };

  async function check(functionName: string): Promise<EngineStatus> {
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
    } catch {
      return 'down';
    }
  }

  async function checkAll(): Promise<Health> {
    const entries = Object.entries(functions).map(async ([tool, name]) => [tool, await check(name)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  return () => {
    if (performance.now() - checked.at > CACHED) checked = { at: performance.now(), health: checkAll() };
    return checked.health;
  };
}

function readStatus(status: unknown): EngineStatus {
  return status === 'up' || status === 'starting' ? status : 'down';
}
