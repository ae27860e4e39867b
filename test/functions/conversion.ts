import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { createEgressGuard, type EgressGuard } from '../../functions/shared/egress/guard.ts';
import { ConversionError } from '../../functions/shared/errors.ts';
import type { Format } from '../../functions/shared/formats.ts';
import type { Parameter } from '../../functions/shared/options/option.ts';
import { readOptions } from '../../functions/shared/options/read-options.ts';
import {
  CONVERSION_LIMITS,
  type ConversionLimits,
  type CreateEngine,
  type OptionsOf,
  type Output,
  type SourceFile,
  type Sources,
  type Tool,
} from '../../functions/shared/tool.ts';
import { CODE } from '../../infra/local/server/temporary.ts';
import { engineNetwork } from '../helpers/engine-network.ts';
import { sharedGuard, shareEngine } from './shared-engines.ts';

export interface ConversionInput {
  readonly format: Format;
  /** Options as in a query, such as `-f=1 -l=3`. A name without a value is a switch. */
  readonly options?: string;
  readonly delivery?: 'one' | 'paged';
  /** File name of the source. */
  readonly name?: string;
  readonly limits?: Partial<ConversionLimits>;
  /** Milliseconds until the deadline. */
  readonly time?: number;
}

export interface ConvertedFiles {
  readonly pageCount: number | undefined;
  readonly files: readonly Buffer[];
  readonly pages: ReadonlyArray<number | undefined>;
  readonly warnings: readonly string[];
}

type FileTool = Tool & { readonly source: 'file' };

/** Runs conversions with the engine that `create` creates. All test files of a vitest worker share it. */
export function useEngine<T extends FileTool>(tool: T, create: CreateEngine<T>) {
  return conversionsOf(tool, () => shareEngine(create, () => startEngine(create, sharedGuard)));
}

/** Runs conversions with an engine that is closed after the test file. */
export function useOwnEngine<T extends FileTool>(tool: T, create: CreateEngine<T>) {
  const started = startEngine(create, createEgressGuard());
  afterAll(async () => (await started).close());
  return conversionsOf(tool, () => started);
}

async function startEngine<T extends FileTool>(create: CreateEngine<T>, guard: EgressGuard) {
  const home = await mkdtemp(join(tmpdir(), 'docmill-test-'));
  const engine = create({
    layers: resolve('dist/layers'),
    code: CODE,
    temporary: home,
    size: 2,
    // No spare engine for another account.
    singleAccount: true,
    ...engineNetwork(guard),
  });
  const close = async () => {
    await engine.close();
    await rm(home, { recursive: true, force: true });
  };
  return { convert: engine.convert, home, close };
}

type StartedEngine<T extends FileTool> = Awaited<ReturnType<typeof startEngine<T>>>;

function conversionsOf<T extends FileTool>(tool: T, start: () => Promise<StartedEngine<T>>) {
  async function open(source: Buffer, input: ConversionInput) {
    const engine = await start();
    const directory = await mkdtemp(join(engine.home, 'conversion-'));
    const path = join(directory, 'source');
    await writeFile(path, source);
    const time = input.time ?? 120_000;
    const file: SourceFile = { path, name: input.name ?? '', contentType: '', bytes: source.length };
    const converted = await engine.convert({
      source: file as SourceFile & Sources[T['source']],
      options: parseOptions(tool, input.options ?? '', input.format),
      format: input.format,
      delivery: input.delivery ?? 'one',
      directory,
      limits: { ...CONVERSION_LIMITS, ...input.limits },
      signal: AbortSignal.timeout(time),
      account: 'test',
    });
    return { ...converted, directory };
  }

  async function convert(source: Buffer, input: ConversionInput): Promise<ConvertedFiles> {
    const { outputs, pageCount, directory, warnings = [] } = await open(source, input);
    const finished: Output[] = [];
    for await (const output of outputs) finished.push(output);
    const files = await Promise.all(finished.map(({ path }) => readFile(path)));
    await rm(directory, { recursive: true });
    return { pageCount, files, pages: finished.map(({ page }) => page), warnings };
  }

  async function convertOne(source: Buffer, input: ConversionInput): Promise<Buffer> {
    const { files } = await convert(source, input);
    if (files.length !== 1) throw new Error(`Expected one file, got ${files.length}.`);
    return files[0]!;
  }

  /** Returns the error that a conversion ends with. */
  async function refusal(source: Buffer, input: ConversionInput): Promise<ConversionError> {
    const thrown = await convert(source, input).catch((error: unknown) => error);
    if (thrown instanceof ConversionError) return thrown;
    throw new Error('Expected a ConversionError.', { cause: thrown });
  }

  return { open, convert, convertOne, refusal };
}

function parseOptions<T extends Tool>(tool: T, text: string, format: Format): OptionsOf<T> {
  const given = text.split(' ').filter(Boolean).map(splitPair);
  const { options, issues } = readOptions(tool, given, format);
  if (issues[0]) throw issues[0];
  return options as OptionsOf<T>;
}

function splitPair(pair: string): Parameter {
  const at = pair.indexOf('=');
  return at < 0 ? { name: pair, value: '' } : { name: pair.slice(0, at), value: pair.slice(at + 1) };
}
