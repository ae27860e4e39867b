import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConversionError } from '../errors.ts';
import type { Invocation, InvocationResult, Invoke } from '../invoke/invoke.ts';
import { describe, type Log } from '../log.ts';
import type { Put } from '../storage/storage.ts';
import type { Conversion, Engine, Limits, OptionsOf, SourceFile, Tool } from '../tool.ts';
import { deliver } from './store.ts';

/** Fetches a source into a directory; see `source.ts`. */
export type Download = (
  address: string,
  options: { directory: string; limits: Limits; deadline: number; signal: AbortSignal },
) => Promise<SourceFile>;

interface Dependencies {
  readonly download: Download;
  readonly put: Put;
  /** Where conversions get their directories. */
  readonly temporary: string;
  readonly log: Log;
}

/** Makes a tool's whole work out of its engine: source → convert → store, inside one directory and one deadline. */
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
    const { limits, deadline, tenant, format, outputName, grant } = invocation;
    const address = invocation.source;
    const source =
      tool.source === 'file'
        ? await timed(steps, 'download', () => download(address, { directory, limits, deadline, signal }))
        : new URL(address);
    const delivery = outputName.kind === 'one' ? 'one' : 'paged';
    const options = invocation.options as OptionsOf<T>;
    const conversion = {
      source,
      options,
      format,
      delivery,
      directory,
      limits,
      deadline,
      signal,
      tenant,
    } as const;

    const { outputs, pageCount } = await timed(steps, 'convert', () =>
      engine.convert(
        conversion as unknown as Conversion<OptionsOf<T>, T['source'] extends 'file' ? SourceFile : URL>,
      ),
    );
    const objectKeys = await timed(steps, 'deliver', () =>
      deliver({ outputs, outputName, format, directory, limits, grant, put, signal }),
    );
    return { ok: true, objectKeys, ...(pageCount === undefined ? {} : { pageCount }) };
  }

  return async (invocation, callerSignal) => {
    const started = Date.now();
    const deadline = Math.min(invocation.deadline, started + invocation.limits.conversionTime);
    const late = new ConversionError('TIMED_OUT', 'The conversion took longer than it may.');
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(late), Math.max(0, deadline - started));
    const signal = AbortSignal.any([callerSignal, timeout.signal]);
    const directory = mkdtempSync(join(temporary, 'conversion-'));
    const steps = new Map<string, number>();
    try {
      const result = await run({ ...invocation, deadline }, directory, signal, steps);
      const milliseconds = Date.now() - started;
      log('converted', {
        tool: tool.name,
        tenant: invocation.tenant,
        milliseconds,
        ...Object.fromEntries(steps),
      });
      return result;
    } catch (thrown) {
      const error = ConversionError.from(
        signal.aborted && !(thrown instanceof ConversionError) ? signal.reason : thrown,
      );
      log('failed', { tool: tool.name, tenant: invocation.tenant, code: error.code, cause: describe(error) });
      return { ok: false, error: error.toReport() };
    } finally {
      clearTimeout(timer);
      // A few files, most of them moved away by now: the synchronous call is five times as fast, and the reply waits for it.
      rmSync(directory, { recursive: true, force: true });
    }
  };
}

/** Notes the milliseconds a step takes, to a tenth. */
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
