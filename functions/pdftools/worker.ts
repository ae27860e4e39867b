import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { ConversionError } from '../shared/errors.ts';
import { choosePages, sequence } from '../shared/options/page-selection.ts';
import { serveRequests } from '../shared/worker/serve.ts';
import type { Drawing, Raster } from './backend/document.ts';
import { openSource, type Source } from './backend/open.ts';
import { startPdfium } from './backend/pdfium.ts';
import { checkSize, trim, writeImage } from './encode.ts';
import { type Frame, framePage } from './frame.ts';
import type { PdftoolsRequest, PlanReply, StackReply } from './request.ts';
import { createStack } from './stack.ts';

// One core a process: the pages are spread over processes.
sharp.concurrency(1);
sharp.cache(false);
// pdf.js leaves promises behind that nobody awaits.
process.on('unhandledRejection', (reason) => console.error(reason));

// The folder of the faces is the script's only argument.
await startPdfium(process.argv[2] ?? '');
await serveRequests<PdftoolsRequest>(async (request, emit) => {
  emit({ started: true });
  // At once: a process does one thing at a time, and through threads a read takes several times as long.
  const source = await openSource(readFileSync(request.path), request);
  try {
    if (request.kind === 'plan') return await plan(source, request);
    if (request.kind === 'stack') return await stack(source, request, emit);
    for (const page of request.pages) {
      const path = join(request.directory, `page-${page}.${request.format}`);
      await writeImage(await draw(source, page, request), path, request.format, request.options);
      emit({ page, path });
    }
    return {};
  } finally {
    await source.close();
  }
});

/** Says which pages there are to draw, having checked that each fits. */
async function plan(source: Source, request: PdftoolsRequest): Promise<PlanReply> {
  const { pageCount } = source;
  const pages = choosePages(request.options, pageCount) ?? sequence(1, pageCount);
  const { files } = request.limits;
  if (pages.length > files) {
    const message = `The document has ${pages.length} such pages, more than ${files} files; choose fewer.`;
    throw new ConversionError('RESULT_TOO_LARGE', message);
  }
  for (const page of pages) await frame(source, page, request);
  return { pageCount, pages };
}

/** Draws one page, or several below each other, into one image. */
async function stack(
  source: Source,
  request: PdftoolsRequest,
  emit: (event: unknown) => void,
): Promise<StackReply> {
  const { directory, format, options, limits } = request;
  const { pageCount } = source;
  const pages = choosePages(options, pageCount) ?? [1];
  const path = join(directory, `pages.${format}`);
  if (pages.length === 1) {
    await writeImage(await draw(source, pages[0]!, request), path, format, options);
    return { pageCount, path };
  }

  const frames: Frame[] = [];
  for (const page of pages) frames.push(await frame(source, page, request));
  const whole = {
    width: Math.max(...frames.map(({ width }) => width)),
    height: frames.reduce((sum, { height }) => sum + height, 0),
  };
  checkSize(whole, format, limits.pixels, `${pages.length} pages in one image`);
  const paper = createStack(whole, options);
  for (const page of pages) {
    paper.add(await draw(source, page, request));
    emit({ page });
  }
  await writeImage(paper.finish(), path, format, options);
  return { pageCount, path };
}

async function draw(source: Source, page: number, request: PdftoolsRequest): Promise<Raster> {
  const { rotate, mono, gray, transparent, trim: cut } = request.options;
  const colour = mono ? 'mono' : gray ? 'gray' : 'rgb';
  const drawing: Drawing = { ...(await frame(source, page, request)), rotate, colour, transparent };
  const raster = await source.draw(page, drawing);
  return cut ? trim(raster) : raster;
}

async function frame(source: Source, page: number, request: PdftoolsRequest): Promise<Frame> {
  const framed = framePage(await source.pageSize(page), request.options);
  checkSize(framed, request.format, request.limits.pixels, `Page ${page}`);
  return framed;
}
