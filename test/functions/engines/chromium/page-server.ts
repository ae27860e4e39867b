import { readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readProcess } from '../../../../functions/engines/worker/linux/proc.ts';
import { createEngine as createHtml2image } from '../../../../functions/html2image/convert.ts';
import { html2image } from '../../../../functions/html2image/tool.ts';
import { createEngine as createHtml2pdf } from '../../../../functions/html2pdf/convert.ts';
import { html2pdf } from '../../../../functions/html2pdf/tool.ts';
import {
  createEgressGuard,
  type EgressGuard,
  type EgressRules,
} from '../../../../functions/shared/egress/guard.ts';
import type { Format } from '../../../../functions/shared/formats.ts';
import { readOptions } from '../../../../functions/shared/options/read-options.ts';
import {
  CONVERSION_LIMITS,
  type ConversionLimits,
  type Converted,
  type PageFile,
} from '../../../../functions/shared/tool.ts';
import { CODE } from '../../../../infra/local/server/temporary.ts';
import { descendants } from '../../../helpers/descendants.ts';
import { engineNetwork } from '../../../helpers/engine-network.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';

const LAYERS = fileURLToPath(new URL('../../../../dist/layers', import.meta.url));

/** A response: HTML text, or a function that responds. */
export type Route = string | ((request: IncomingMessage, response: ServerResponse) => void);

interface Asked {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** Serves pages on a free port and records the requests. */
export async function servePages(routes: Record<string, Route>) {
  const asked: Asked[] = [];
  const server = await serveHttp((request, response) => {
    const url = request.url!;
    asked.push({ url, headers: request.headers });
    const route = routes[url] ?? routes[url.split('?')[0]!];
    if (typeof route === 'function') return route(request, response);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.writeHead(route === undefined ? 404 : 200).end(route ?? 'nothing here');
  });
  return { ...server, routes, asked };
}

export interface ConvertOptions {
  readonly format?: Format;
  readonly limits?: Partial<ConversionLimits>;
  readonly time?: number;
  readonly account?: string;
  /** The page is uploaded. */
  readonly files?: readonly PageFile[] | undefined;
}

/** Starts the engine of a tool with real browsers and the given egress rules or guard. */
export async function startBrowsers(toolName: 'html2pdf' | 'html2image', rules: EgressRules | EgressGuard) {
  const temporary = await mkdtemp(join(tmpdir(), 'browsers-'));
  const tool = toolName === 'html2pdf' ? html2pdf : html2image;
  const dependencies = {
    layers: LAYERS,
    code: CODE,
    temporary,
    size: 2,
    // A spare browser for another account would take as long to start as many conversions.
    singleAccount: true,
    ...engineNetwork('check' in rules ? rules : createEgressGuard(rules)),
  };
  const engine = toolName === 'html2pdf' ? createHtml2pdf(dependencies) : createHtml2image(dependencies);
  let conversions = 0;

  /** Converts a URL with options as in a query. */
  async function convert(
    address: string,
    query: Readonly<Record<string, string | readonly string[]>> = {},
    { format, limits, time = 120_000, account = 'account', files }: ConvertOptions = {},
  ): Promise<{ path: string; pageCount?: number; settled?: boolean }> {
    const given = Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value) => ({ name, value })),
    );
    const { options, issues } = readOptions(tool, given, format ?? tool.formats[0]);
    if (issues[0]) throw issues[0];
    const directory = join(temporary, `conversion-${conversions++}`);
    await mkdir(directory);
    const run = engine.convert as (conversion: object) => Promise<Converted>;
    const { outputs, pageCount, settled } = await run({
      source: new URL(address),
      ...(files && { files }),
      options,
      format: format ?? tool.formats[0],
      delivery: 'one',
      directory,
      limits: { ...CONVERSION_LIMITS, ...limits },
      signal: AbortSignal.timeout(time),
      account,
    });
    for await (const { path } of outputs)
      return {
        path,
        ...(pageCount === undefined ? {} : { pageCount }),
        ...(settled === undefined ? {} : { settled }),
      };
    throw new Error('no output');
  }

  return {
    convert,
    temporary,
    /** Returns the process IDs of the workers, each of which has one browser. */
    workers: () =>
      descendants(process.pid).filter(
        (pid) =>
          readProcess(pid, 'cmdline').includes(`${toolName}/worker.ts`) &&
          folderOf(pid).startsWith(temporary),
      ),
    warm: () => engine.warm!(),
    close: async () => {
      await engine.close();
      await rm(temporary, { recursive: true, force: true });
    },
  };
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has just exited.
    return '';
  }
}
