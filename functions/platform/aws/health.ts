import { InvokeCommand, type LambdaClient, TooManyRequestsException } from '@aws-sdk/client-lambda';
import type { Health, ToolStatus } from '../health.ts';

/**
 * How long a health response is cached, in milliseconds: the endpoint is public, and each check invokes every tool.
 */
const CACHED = 60_000;
/** The account that health checks run as where each account has its own execution environments. */
const TENANT = 'health-check';

/**
 * Asks the tools' functions one after another whether their engines work. A throttled function is busy, and one that
 * cannot be invoked for another reason is down.
 */
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

  return () => {
    if (performance.now() - checked.at > CACHED) checked = { at: performance.now(), health: checkAll() };
    return checked.health;
  };
}

function readStatus(status: unknown): ToolStatus {
  return status === 'up' || status === 'starting' ? status : 'down';
}
