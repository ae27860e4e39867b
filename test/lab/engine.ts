import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createEgressGuard } from '../../functions/shared/egress/guard.ts';
import type { Format } from '../../functions/shared/formats.ts';
import type { Parameter } from '../../functions/shared/options/option.ts';
import { readOptions } from '../../functions/shared/options/read-options.ts';
import { createDownload } from '../../functions/shared/source/download.ts';
import {
  CONVERSION_LIMITS,
  type ConversionLimits,
  type Converted,
  type CreateEngine,
  type EngineDependencies,
  type Output,
  type PageFile,
  type SourceFile,
  type Tool,
} from '../../functions/shared/tool.ts';
import { CODE } from '../../infra/local/server/temporary.ts';

/** Folder of the engines on this machine. */
export const LAYERS = join(import.meta.dirname, '../../dist/layers');

/** Describes a conversion in the terms of a query. */
export interface Asked {
  /** Defaults to the first format of the tool. */
  readonly format?: Format | undefined;
  /** As text such as `-f=1 -l=3`, or by name. A name without a value is a switch. */
  readonly options?: string | readonly Parameter[] | Readonly<Record<string, string | readonly string[]>>;
  readonly delivery?: 'one' | 'paged';
  /** File name of the source. */
  readonly name?: string;
  readonly limits?: Partial<ConversionLimits>;
  /** Milliseconds until the deadline. */
  readonly time?: number;
  readonly account?: string;
  /** The page is uploaded. */
  readonly files?: readonly PageFile[] | undefined;
}

export interface ConvertedFiles {
  readonly pageCount: number | undefined;
  readonly files: readonly Buffer[];
  readonly pages: ReadonlyArray<number | undefined>;
  readonly warnings: readonly string[];
}

/** Returns what an engine gets of the deployment around it, without the limits of one. */
export function ownDependencies(temporary: string, egress = createEgressGuard()): EngineDependencies {
  return { layers: LAYERS, code: CODE, temporary, size: 2, egress, download: createDownload(egress) };
}

/** A tool's engine in this process, without a service around it. */
export type StartedEngine = Awaited<ReturnType<typeof startEngine>>;

/** Starts the engine of a tool. `given` replaces parts of what it gets. */
export async function startEngine<T extends Tool>(
  tool: T,
  create: CreateEngine<T>,
  given: Partial<EngineDependencies> = {},
) {
  const temporary = await mkdtemp(join(tmpdir(), 'engine-'));
  const engine = create({ ...ownDependencies(temporary, given.egress), ...given });
  const run = engine.convert as (conversion: object) => Promise<Converted>;

  /** Converts a URL, a file, or bytes. The directory stays. */
  async function open(source: URL | string | Buffer, asked: Asked = {}) {
    const format = asked.format ?? tool.formats[0]!;
    const { options, issues } = readOptions(tool, parametersOf(asked.options ?? ''), format);
    if (issues[0]) throw issues[0];
    const directory = await mkdtemp(join(temporary, 'conversion-'));
    const converted = await run({
      source: source instanceof URL ? source : await fileIn(directory, source, asked.name),
      ...(asked.files && { files: asked.files }),
      options,
      format,
      delivery: asked.delivery ?? 'one',
      directory,
      limits: { ...CONVERSION_LIMITS, ...asked.limits },
      signal: AbortSignal.timeout(asked.time ?? 120_000),
      account: asked.account ?? 'test',
    });
    return { ...converted, directory };
  }

  async function convert(source: URL | string | Buffer, asked?: Asked): Promise<ConvertedFiles> {
    const { outputs, pageCount, directory, warnings = [] } = await open(source, asked);
    const finished: Output[] = [];
    for await (const output of outputs) finished.push(output);
    const files = await Promise.all(finished.map(({ path }) => readFile(path)));
    await rm(directory, { recursive: true });
    return { pageCount, files, pages: finished.map(({ page }) => page), warnings };
  }

  return {
    temporary,
    open,
    convert,
    /** Returns the only file of a result. */
    async convertOne(source: URL | string | Buffer, asked?: Asked): Promise<Buffer> {
      const { files } = await convert(source, asked);
      if (files.length !== 1) throw new Error(`Expected one file, got ${files.length}.`);
      return files[0]!;
    },
    warm: async () => engine.warm?.(),
    close: async () => {
      await engine.close();
      await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function fileIn(directory: string, source: string | Buffer, name?: string): Promise<SourceFile> {
  const path = join(directory, 'source');
  await (typeof source === 'string' ? copyFile(source, path) : writeFile(path, source));
  const usual = typeof source === 'string' ? basename(source) : '';
  return { path, name: name ?? usual, contentType: '', bytes: (await stat(path)).size };
}

/** Returns the parameters of options in any of the forms of `Asked`. */
export function parametersOf(options: NonNullable<Asked['options']>): readonly Parameter[] {
  if (typeof options === 'string')
    return options
      .split(' ')
      .filter(Boolean)
      .map((pair) => {
        const [name, value = ''] = pair.split(/=(.*)/s) as [string, string?];
        return { name, value };
      });
  if (Array.isArray(options)) return options;
  return Object.entries(options).flatMap(([name, values]) =>
    [values].flat().map((value) => ({ name, value })),
  );
}
