import type { Health } from '../platform/health.ts';
import { type HttpReply, jsonReply } from './reply.ts';

export interface StatusDependencies {
  /** Checks the state of the tools. */
  readonly health: () => Promise<Health>;
  /** What `GET /api/version` returns. */
  readonly version: object;
}

/** Returns 200 if every tool can convert, and 503 if one is down or still starting. */
export async function healthReply({ health }: StatusDependencies): Promise<HttpReply> {
  const tools = await health();
  const isReady = Object.values(tools).every((status) => status !== 'down' && status !== 'starting');
  return jsonReply(isReady ? 200 : 503, { status: isReady ? 'up' : 'down', tools });
}
