import { createHash } from 'node:crypto';
import {
  type AfterReply,
  beforeReply,
  type Invocation,
  type InvocationResult,
  type Invoke,
  type Measured,
  type StoredDetails,
  type TimedStep,
} from '../platform/invoke.ts';
import type { Put } from '../platform/storage.ts';
import { ConversionError, isDiskFull } from '../shared/errors.ts';
import type { Format } from '../shared/formats.ts';
import { describe, type Log } from '../shared/log.ts';
import { sourcesIn } from '../shared/options/sources.ts';
import type { ReadValidators } from '../shared/source/download.ts';
import { readHead } from '../shared/source/file.ts';
import { kindOfBytes, type ReadFacts, toolHint } from '../shared/source/file-kind.ts';
import { isTimeout, withTimeout } from '../shared/time.ts';
import {
  type Converted,
  type Download,
  type Engine,
  type OptionsOf,
  type Output,
  type Sources,
  type Tool,
  UnconvertedError,
} from '../shared/tool.ts';
import { ConversionDirectories } from './directories.ts';
import { storeOutputs } from './store.ts';

interface Dependencies {
  readonly download: Download;
  readonly readValidators?: ReadValidators;
  readonly readFacts?: ReadFacts;
  readonly put: Put;
  /** Parent folder of the conversions' directories. */
  readonly temporary: string;
  readonly log: Log;
  readonly conversions?: ConversionObserver;
  /** When the files of a conversion are deleted. Before the reply by default. */
  readonly afterReply?: AfterReply;
}

/**
 * Returns the function that runs a tool's conversions: download → convert → store, in one directory and within one
 * deadline.
 */
export function createHandler<T extends Tool>(
  tool: T,
  engine: Engine<T>,
  dependencies: Dependencies,
): Invoke {
  const { download, readValidators, readFacts, put, temporary, log, conversions } = dependencies;
  const { afterReply = beforeReply } = dependencies;
  const directories = new ConversionDirectories(temporary);

  async function run(
    invocation: Invocation,
    directory: string,
    signal: AbortSignal,
    measurement: Measurement,
  ): Promise<InvocationResult> {
    const { limits, account, format, outputName, grant } = invocation;
    const { source: url, validate } = invocation;
    const validators = validate && (await validatorsOf(invocation, signal));
    measurement.validators = validators;
    if (validators !== undefined && validators === validate?.known)
      return { ok: true, objectKeys: [], unchanged: true };
    const fetched = async () => {
      const file = await measurement.time('download', () =>
        download(url, { directory, limits, signal, account }),
      );
      measurement.sourceBytes = file.bytes;
      measurement.sourcePath = file.path;
      return file;
    };
    const source = (tool.source === 'file' ? await fetched() : new URL(url)) as Sources[T['source']];
    const delivery = outputName.kind === 'one' ? 'one' : 'paged';
    const options = invocation.options as OptionsOf<T>;
    const conversion = {
      source,
      ...(invocation.files && { files: invocation.files }),
      ...(invocation.sent && { sent: invocation.sent }),
      options,
      format,
      delivery,
      directory,
      limits,
      signal,
      account,
      onQueued: (milliseconds: number) => measurement.add('queue', milliseconds),
    } as const;

    const converted = await measurement.time('convert', () => engine.convert(conversion));
    const { pageCount, settled, sourceKind, warnings } = converted;
    const outputs = measurement.pagesOf(converted, format);
    const stored: StoredDetails[] = [];
    const recorded: Put = (target, file, stop) => {
      measurement.resultBytes += file.bytes;
      stored.push({ bytes: file.bytes, ...(file.page !== undefined && { page: file.page }) });
      return put(target, file, stop);
    };
    const objectKeys = await measurement.time('store', () =>
      storeOutputs({ outputs, outputName, format, directory, limits, grant, put: recorded, signal }),
    );
    return {
      ok: true,
      objectKeys,
      stored,
      ...(pageCount === undefined ? {} : { pageCount }),
      ...(settled === undefined ? {} : { settled }),
      ...(sourceKind === undefined ? {} : { sourceKind }),
      ...(warnings?.length ? { warnings } : {}),
      ...(validators === undefined ? {} : { validators }),
    };
  }

  /** Returns a hash of the validators of all sources that were not sent, or `undefined` if none has any. */
  async function validatorsOf({ source, options, sent, account }: Invocation, signal: AbortSignal) {
    const urls = [...new Set([source, ...sourcesIn(tool, options).keys()])];
    const asked = urls.filter((url) => !sent?.includes(url));
    const found = await Promise.all(asked.map((url) => readValidators?.(url, { signal, account })));
    if (found.every((each) => each === undefined)) return undefined;
    return createHash('sha256').update(JSON.stringify(found)).digest('hex');
  }

  /** A directory that cannot be deleted does not change the result. */
  async function remove(directory: string): Promise<void> {
    try {
      await directories.remove(directory);
    } catch (thrown) {
      log('directory not deleted', { cause: describe(thrown) }, 'error');
    }
  }

  return async (invocation, callerSignal) => {
    const started = Date.now();
    const deadline = Math.min(invocation.deadline, started + invocation.limits.conversionTime);
    if (invocation.readsFacts && readFacts) {
      const { source, account } = invocation;
      return withTimeout(deadline - started, callerSignal, (signal) =>
        readFacts(source, { signal, account }),
      ).then(
        (facts) => ({ ok: true, objectKeys: [], facts }),
        (thrown: unknown) => ({ ok: false, error: ConversionError.from(thrown).toReport() }),
      );
    }
    const directory = directories.create();
    const measurement = new Measurement();
    const call = { requestId: invocation.requestId, tool: tool.name, account: invocation.account };
    conversions?.started(tool.name);
    let code: string = 'OK';
    try {
      const result = await withTimeout(deadline - started, callerSignal, (signal) =>
        run(invocation, directory, signal, measurement),
      );
      const measured = measurement.result();
      log('converted', { ...call, milliseconds: measured.milliseconds, ...measured.steps });
      return { ...result, measured };
    } catch (thrown) {
      const error = await withHint(ConversionError.from(thrown), tool.name, measurement.sourcePath);
      code = callerSignal.aborted && !isTimeout(callerSignal.reason) ? 'CANCELLED' : error.code;
      const measured = measurement.result();
      const { milliseconds, steps } = measured;
      const level = code === 'INTERNAL' ? 'error' : 'info';
      const about = { format: invocation.format, sourceBytes: measured.sourceBytes };
      log('failed', { ...call, ...about, code, milliseconds, ...steps, cause: describe(error) }, level);
      if (isDiskFull(error)) log('disk full', { ...call, cause: describe(error) }, 'error');
      const unconverted = error instanceof UnconvertedError ? { unconverted: error.sources } : {};
      const { validators } = measurement;
      return {
        ok: false,
        error: error.toReport(),
        ...unconverted,
        ...(validators && { validators }),
        measured,
      };
    } finally {
      conversions?.ended(tool.name, code, measurement.result());
      await afterReply(() => remove(directory));
    }
  };
}

/** Adds the tool that can read a source to the error of one that cannot. */
async function withHint(
  error: ConversionError,
  tool: string,
  sourcePath: string | undefined,
): Promise<ConversionError> {
  if (error instanceof UnconvertedError) return error;
  const isAboutSource = error.code === 'UNSUPPORTED_SOURCE' && error.parameter === 'infile';
  if (!isAboutSource || sourcePath === undefined) return error;
  const kind = kindOfBytes(await readHead(sourcePath).catch(() => ''));
  if (!kind || kind.readers[0] === tool) return error;
  return new ConversionError(error.code, `${error.message} ${toolHint(kind)}`, { cause: error.cause });
}

/** Observes conversions, for metrics. */
export interface ConversionObserver {
  started(tool: string): void;
  /** `code` is `OK`, `CANCELLED`, or the code of the error. */
  ended(tool: string, code: string, measured: Measured): void;
}

/** Maximum steps in a trace. A conversion of many pages waits for many workers. */
const MAX_TIMED = 50;

/** Measures one conversion while it runs. */
export class Measurement {
  sourceBytes = 0;
  /** See `InvocationResult`. */
  validators: string | undefined;
  /** The downloaded source, if there is one. */
  sourcePath: string | undefined;
  resultBytes = 0;
  #pages = 0;
  readonly #started = performance.now();
  readonly #steps = new Map<string, number>();
  readonly #timed: TimedStep[] = [];

  /** Adds milliseconds to a step that has just ended. Without waiting, it took less than its `duration`. */
  add(step: string, milliseconds: number, duration = milliseconds): void {
    this.#steps.set(step, (this.#steps.get(step) ?? 0) + milliseconds);
    if (this.#timed.length < MAX_TIMED)
      this.#timed.push({ step, at: Date.now() - duration, milliseconds: duration });
  }

  /** Adds the duration of `work` to a step in milliseconds, without the time spent waiting for a worker. */
  async time<Value>(step: string, work: () => Promise<Value>): Promise<Value> {
    const started = performance.now();
    const queued = this.#steps.get('queue') ?? 0;
    try {
      return await work();
    } finally {
      const duration = performance.now() - started;
      this.add(step, duration - ((this.#steps.get('queue') ?? 0) - queued), duration);
    }
  }

  /** Yields the outputs and counts their pages. A PDF has the pages of the document unless it says otherwise, other files one. */
  async *pagesOf({ outputs, pageCount }: Converted, format: Format): AsyncGenerator<Output> {
    for await (const output of outputs) {
      this.#pages += output.pages ?? (format === 'pdf' ? (pageCount ?? 1) : 1);
      yield output;
    }
  }

  /** Returns the measurements so far. Concurrent waits of one conversion can add up to more than its duration. */
  result(): Measured {
    const total = performance.now() - this.#started;
    const steps = [...this.#steps].map(([name, milliseconds]) => [name, tenth(Math.max(0, milliseconds))]);
    return {
      sourceBytes: this.sourceBytes,
      resultBytes: this.resultBytes,
      pages: this.#pages,
      milliseconds: tenth(total),
      steps: Object.fromEntries(steps),
      timed: this.#timed,
    };
  }
}

function tenth(milliseconds: number): number {
  return Math.round(10 * milliseconds) / 10;
}
