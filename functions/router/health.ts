import type { Health, MachineStatus } from '../platform/health.ts';
import { type HttpReply, jsonReply } from './reply.ts';

export interface HealthDependencies {
  /** Checks the state of the tools. */
  readonly health: () => Promise<Health>;
  /** Checks resources that all tools need, if they are known. */
  readonly machine?: () => Readonly<Record<string, MachineStatus>>;
  /** Body of `GET /api/version`. */
  readonly version: object;
}

const READY: readonly string[] = ['up', 'busy'];

/** Returns 200 if every tool can convert, and 503 if a tool is down or still starting, or if the disk is full. */
export async function healthReply({ health, machine }: HealthDependencies): Promise<HttpReply> {
  const tools = await health();
  const shared = machine?.();
  const isReady = Object.values({ ...tools, ...shared }).every((status) => READY.includes(status));
  return jsonReply(isReady ? 200 : 503, {
    status: isReady ? 'up' : 'down',
    tools,
    ...(shared && { machine: shared }),
  });
}
