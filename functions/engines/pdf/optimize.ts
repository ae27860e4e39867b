import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkerRequest } from '../worker/pool.ts';
import { type ScriptDependencies, sandboxedPool } from '../worker/sandbox.ts';
import { MAX_JSON, type Pdf } from './pdf.ts';

/** The operation of the worker. It is not part of `graph`, because on Lambda only pdftools has sharp. */
export interface ImageOperations {
  /**
   * Writes changes that reduce images to `target`, with those of `previous`. `streams` has the data of the images. Returns
   * whether there are any.
   */
  readonly reduce: {
    readonly graph: string;
    readonly streams: string;
    readonly previous: string | undefined;
    readonly target: string;
    /** File with lists of `Reduced`, and which of them. */
    readonly images: string;
    readonly index: number;
    readonly quality: number;
  };
}

const SCRIPT = fileURLToPath(new URL('./images-worker.ts', import.meta.url));
/** Maximum bytes of the JSON. A page of A4 in color at 600 DPI has 140 MB. */
const MAX_IMAGES = 150_000_000;

/** Creates the processes that reduce the images of PDFs. */
export function createOptimizer(dependencies: ScriptDependencies) {
  const limits = { heap: 1024, requests: 200, cost: 60, memory: 500, maxMemory: 1500 };
  const client = sandboxedPool(dependencies, { script: SCRIPT, ...limits });

  /** Compresses images as JPEG, and reduces those that are shown at more than a resolution. */
  async function optimize(
    pdf: Pdf,
    { dpi, quality }: { readonly dpi: number; readonly quality: number },
    { directory, account, signal }: WorkerRequest,
  ): Promise<Pdf> {
    const contents = await pdf.streams('all');
    if (contents.bytes > MAX_JSON) return pdf;
    const name = (path: string) => relative(directory, path);
    const graph = name((await pdf.objects()).path);
    const { target: list, reply: batches } = await pdf.write(
      'largeImages',
      { dpi },
      { streams: contents.path },
    );
    const images = name(list);
    let previous: string | undefined;
    for (let index = 0; index < batches; index += 1) {
      const { path, bytes } = await pdf.streams({ path: list, index });
      const [streams, target] = [name(path), `reduced-${index}.json`];
      const args: ImageOperations['reduce'] = { graph, streams, previous, target, images, index, quality };
      const inputs = [graph, streams, images, ...(previous === undefined ? [] : [previous])];
      const work = { operation: 'reduce', arguments: args, inputs, outputs: [target] };
      const isReadable = bytes <= MAX_IMAGES;
      if (isReadable && (await client.run<boolean>(work, { account, signal, directory }))) previous = target;
      await rm(path);
    }
    return previous === undefined ? pdf : pdf.edit({ update: join(directory, previous) });
  }

  return { optimize, close: () => client.close() };
}
