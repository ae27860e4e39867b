import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Conversion, Engine, EngineDependencies, OptionsOf, SourceFile } from '../shared/tool.ts';
import { WorkerPool } from '../shared/worker/pool.ts';
import { sandboxedNode } from '../shared/worker/sandbox.ts';
import { type Drawing, drawPages } from './paged.ts';
import type { PlanReply, StackReply } from './request.ts';
import { withStallTimeout } from './stall-timeout.ts';
import type { pdftools } from './tool.ts';

type PdfConversion = Conversion<OptionsOf<typeof pdftools>, SourceFile>;

/** Milliseconds for one page; PDFium knows documents it never ends with. */
const PAGE_TIME = 30_000;
const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Makes the engine: PDFium, and pdf.js where it fails, in up to `size` child processes that share a document's pages. */
export function createEngine(
  dependencies: Pick<EngineDependencies, 'layers' | 'code' | 'temporary' | 'size' | 'observer'>,
  engineScript = SCRIPT,
): Engine<typeof pdftools> {
  const { layers, temporary, size, observer } = dependencies;
  const args = ['--max-old-space-size=1024', engineScript, join(layers, 'fonts/faces')];
  const command = sandboxedNode(dependencies, args);
  const processes = new WorkerPool(command, {
    temporary,
    size,
    observer,
    requests: 500,
    memory: 700,
    mostMemory: 2000,
  });

  async function convert(conversion: PdfConversion) {
    const { source, options, format, delivery, directory, limits } = conversion;
    const request = { path: source.path, directory, format, options, limits };
    const run = <Reply>(work: object, drawing: Partial<Drawing> = {}) =>
      withStallTimeout({ ...conversion, ...drawing }, PAGE_TIME, (patient) =>
        processes.run<Reply>({ ...request, ...work }, patient),
      );
    if (delivery === 'one') {
      const { pageCount, path } = await run<StackReply>({ kind: 'stack' });
      return { pageCount, outputs: [{ path }] };
    }
    const { pageCount, pages } = await run<PlanReply>({ kind: 'plan' });
    const draw = drawPages(pages, size, (some, drawing) => run({ kind: 'pages', pages: some }, drawing));
    return { pageCount, outputs: draw(conversion.signal) };
  }

  return { convert, warm: () => processes.warm(), close: () => processes.close() };
}
