import { afterAll } from 'vitest';
import { createEgressGuard, type EgressGuard } from '../../functions/shared/egress/guard.ts';

interface Closable {
  close(): Promise<unknown>;
}

const engines = new Map<unknown, Promise<Closable>>();
const exceptions: string[] = [];
let guard = createEgressGuard();

/** The egress guard of shared engines. */
export const sharedGuard: EgressGuard = {
  check: (...request) => guard.check(...request),
  connect: (checked) => guard.connect(checked),
};

/** Lets shared engines connect to servers of a test file on this machine, by their ports. */
export function allowPorts(...ports: readonly number[]): void {
  exceptions.push(...ports.map((port) => `127.0.0.1:${port}`));
  guard = createEgressGuard({ exceptions });
}

/**
 * Returns the engine that `start` starts, or the one that an earlier test file of this vitest worker has started for the
 * same key. It is closed when the worker ends.
 */
export function shareEngine<Engine extends Closable>(
  key: unknown,
  start: () => Promise<Engine>,
): Promise<Engine> {
  const known = engines.get(key);
  if (known) return known as Promise<Engine>;
  const started = start();
  engines.set(key, started);
  const close = async () => (await started).close();
  if (globalThis.closeWithWorker) globalThis.closeWithWorker.push(close);
  else afterAll(close);
  return started;
}
