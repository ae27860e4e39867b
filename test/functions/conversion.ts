import { afterAll } from 'vitest';
import { createEgressGuard, type EgressGuard } from '../../functions/shared/egress/guard.ts';
import { ConversionError } from '../../functions/shared/errors.ts';
import type { Format } from '../../functions/shared/formats.ts';
import type { CreateEngine, Tool } from '../../functions/shared/tool.ts';
import { type Asked, startEngine } from '../lab/engine.ts';

export type ConversionInput = Asked & { readonly format: Format };
type Started = Pick<Awaited<ReturnType<typeof startEngine>>, 'open' | 'convert' | 'convertOne'>;

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

/** Runs conversions with the engine that `create` creates. All test files of a vitest worker share it. */
export function useEngine<T extends Tool>(tool: T, create: CreateEngine<T>) {
  return conversionsOf(() =>
    shareEngine(create, () => startEngine(tool, create, { singleAccount: true, egress: sharedGuard })),
  );
}

/** Runs conversions with an engine that is closed after the test file. */
export function useOwnEngine<T extends Tool>(tool: T, create: CreateEngine<T>) {
  // No spare engine for another account.
  const started = startEngine(tool, create, { singleAccount: true });
  afterAll(async () => (await started).close());
  return conversionsOf(() => started);
}

function conversionsOf(start: () => Promise<Started>) {
  const convert = async (source: Buffer, input: ConversionInput) => (await start()).convert(source, input);
  return {
    open: async (source: Buffer, input: ConversionInput) => (await start()).open(source, input),
    convert,
    convertOne: async (source: Buffer, input: ConversionInput) => (await start()).convertOne(source, input),
    /** Returns the error that a conversion ends with. */
    async refusal(source: Buffer, input: ConversionInput): Promise<ConversionError> {
      const thrown = await convert(source, input).catch((error: unknown) => error);
      if (thrown instanceof ConversionError) return thrown;
      throw new Error('Expected a ConversionError.', { cause: thrown });
    },
  };
}
