import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConversionError } from '../errors.ts';
import type { Invocation, InvocationResult, Invoke } from '../invoke/invoke.ts';
import { describe, type Log } from '../log.ts';
import type { Put } from '../storage/storage.ts';
import { withTimeout } from '../timeout.ts';
import type { Engine, Limits, OptionsOf, SourceFile, Sources, Tool } from '../tool.ts';
import { deliver } from './store.ts';

/** Downloads a source into a directory; see `source/download.ts`. */
export type Download = (
  address: string,
  options: { directory: string; limits: Limits; signal: AbortSignal; tenant: string },
) => Promise<SourceFile>;

interface Dependencies {
  readonly download: Download;
  readonly put: Put;
  /** Where conversions get their directories. */
  readonly temporary: string;
  readonly log: Log;
}

/** Returns what runs a tool's conversions: download → convert → store, in one directory and within one deadline. */
export function createHandler<T extends Tool>(
  tool: T,
  engine: Engine<T>,
  dependencies: Dependencies,
): Invoke {
  const { download, put, temporary, log } = dependencies;

  async function run(
    invocation: Invocation,
    directory: string,
    signal: AbortSignal,
    steps: Map<string, number>,
  ): Promise<InvocationResult> {
    const { limits, tenant, format, outputName, grant } = invocation;
    const url = invocation.source;
    const source = await open<T['source']>(tool.source, {
      file: () => timed(steps, 'download', () => download(url, { directory, limits, signal, tenant })),
      page: async () => new URL(url),
    });
    const delivery = outputName.kind === 'one' ? 'one' : 'paged';
    const options = invocation.options as OptionsOf<T>;
    const conversion = {
      source,
      options,
      format,
      delivery,
      directory,
      limits,
      signal,
      tenant,
    } as const;

    const { outputs, pageCount, settled } = await timed(steps, 'convert', () => engine.convert(conversion));
    const objectKeys = await timed(steps, 'deliver', () =>
      deliver({ outputs, outputName, format, directory, limits, grant, put, signal }),
    );
    return {
      ok: true,
      objectKeys,
      ...(pageCount === undefined ? {} : { pageCount }),
      ...(settled === undefined ? {} : { settled }),
    };
  }

  return async (invocation, callerSignal) => {
    const started = Date.now();
    const deadline = Math.min(invocation.deadline, started + invocation.limits.conversionTime);
    const directory = mkdtempSync(join(temporary, 'conversion-'));
    const steps = new Map<string, number>();
    try {
      const result = await withTimeout(deadline - started, callerSignal, (signal) =>
        run(invocation, directory, signal, steps),
      );
      const milliseconds = Date.now() - started;
      log('converted', {
        tool: tool.name,
        tenant: invocation.tenant,
        milliseconds,
        ...Object.fromEntries(steps),
      });
      return result;
    } catch (thrown) {
      const error = ConversionError.from(thrown);
      log('failed', { tool: tool.name, tenant: invocation.tenant, code: error.code, cause: describe(error) });
      return { ok: false, error: error.toReport() };
    } finally {
      // The response waits for this, and for a few files the synchronous call is five times as fast.
      rmSync(directory, { recursive: true, force: true });
    }
  };
}

/** Opens the kind of source that a tool reads. */
function open<Kind extends keyof Sources>(
  kind: Kind,
  ways: { readonly [Each in keyof Sources]: () => Promise<Sources[Each]> },
): Promise<Sources[Kind]> {
  return ways[kind]();
}

/** Records the milliseconds that a step takes, to a tenth. */
async function timed<Value>(
  steps: Map<string, number>,
  name: string,
  step: () => Promise<Value>,
): Promise<Value> {
  const started = performance.now();
  try {
    return await step();
  } finally {
    steps.set(name, Math.round(10 * (performance.now() - started)) / 10);
  }
}
