import { readlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
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
import { serveHttp } from '../../../helpers/fault-server.ts';
import { descendants } from '../../../helpers/processes.ts';
import { type Asked, startEngine } from '../../../lab/engine.ts';

/** A response: HTML text, or a function that responds. */
export type Route = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** Serves pages on a free port and records the requests. */
export async function servePages(routes: Record<string, Route>) {
  const asked: Array<Pick<IncomingMessage, 'headers'> & { readonly url: string }> = [];
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

export type ConvertOptions = Omit<Asked, 'options'>;

/** Starts the engine of a tool with real browsers and the given egress rules or guard. */
export async function startBrowsers(tool: 'html2pdf' | 'html2image', rules: EgressRules | EgressGuard) {
  // A spare browser for another account would take as long to start as many conversions.
  const given = { singleAccount: true, egress: 'check' in rules ? rules : createEgressGuard(rules) };
  const engine = await (tool === 'html2pdf'
    ? startEngine(html2pdf, createHtml2pdf, given)
    : startEngine(html2image, createHtml2image, given));

  /** Converts a URL with options as in a query. */
  async function convert(
    address: string,
    options: Readonly<Record<string, string | readonly string[]>> = {},
    asked: ConvertOptions = {},
  ): Promise<{ path: string; pageCount?: number; settled?: boolean; warnings?: readonly string[] }> {
    const { outputs, pageCount, settled, warnings } = await engine.open(new URL(address), {
      ...asked,
      options,
    });
    for await (const { path } of outputs)
      return {
        path,
        ...(pageCount === undefined ? {} : { pageCount }),
        ...(settled === undefined ? {} : { settled }),
        ...(warnings === undefined ? {} : { warnings }),
      };
    throw new Error('no output');
  }

  return {
    ...engine,
    convert,
    /** Returns the process IDs of the workers, each of which has one browser. */
    workers: () =>
      descendants(process.pid).filter(
        (pid) =>
          readProcess(pid, 'cmdline').includes(`${tool}/worker.ts`) &&
          folderOf(pid).startsWith(engine.temporary),
      ),
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
