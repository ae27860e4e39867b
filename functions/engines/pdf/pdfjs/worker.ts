import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { ConversionError } from '../../../shared/errors.ts';
import { serveRequests } from '../../worker/serve.ts';
import { readMarks } from '../graph/marks.ts';
import type { Opened } from '../pdfium.ts';
import type { FallbackOperations, PdfFile } from './fallback.ts';
import { encodeRaster, openWithPdfjs, type PdfjsDocument } from './pdfjs.ts';

// One core per process: pages are distributed over processes.
sharp.concurrency(1);
sharp.cache(false);
// pdf.js leaves rejected promises behind.
process.on('unhandledRejection', (reason) => console.error(reason));

/** The last document, kept open because each of its pages is a separate request. */
let open: { readonly key: string; readonly document: PdfjsDocument } | undefined;

await serveRequests<FallbackOperations>({
  open: async (request, { heartbeat }) => {
    heartbeat(0);
    return describe(await documentOf(request), request);
  },
  draw: async ({ frame, drawing, target, ...file }, { heartbeat }) => {
    heartbeat(0);
    const document = await documentOf(file);
    await writeFile(target, await document.draw(frame, drawing));
  },
  text: async ({ pages, target, mark, ...file }, { heartbeat }) => {
    const document = await documentOf(file);
    const texts: string[] = [];
    for (const page of pages) {
      heartbeat(texts.length);
      texts.push(`${await document.text(page)}\n\f`);
    }
    await writeFile(target, (mark ? '\ufeff' : '') + texts.join(''));
  },
  encode: async (request, { heartbeat }) => {
    heartbeat(0);
    await encodeRaster(request);
  },
});

async function documentOf({ source, password = '', maxPixels }: PdfFile): Promise<PdfjsDocument> {
  // The path cannot identify the file, because it differs in each request.
  const { ino, size, mtimeMs } = statSync(source);
  const key = JSON.stringify([ino, size, mtimeMs, password]);
  if (open?.key === key) return open.document;
  await open?.document.close().catch(() => {});
  open = undefined;
  // Synchronous: faster than the thread pool, and a process does one thing at a time.
  const bytes = readFileSync(source);
  const document = await openWithPdfjs(bytes, password, { maxPixels });
  open = { key, document };
  return document;
}

async function describe(
  document: PdfjsDocument,
  { source, from, to }: { readonly source: string; readonly from: number; readonly to: number },
): Promise<Opened> {
  if (document.pageCount < 1) throw new ConversionError('CORRUPT_SOURCE', 'The document has no pages.');
  const sizes = [];
  for (let page = from; page <= Math.min(to, document.pageCount); page += 1) {
    sizes.push(await document.pageSize(page).catch(() => ({ width: 0, height: 0 })));
  }
  const { isSigned, isArchive } = readMarks(source);
  return { pageCount: document.pageCount, sizes, isSigned, isArchive };
}
