import { expect, it } from 'vitest';
import {
  type DrawOptions,
  drawFrames,
  type Engines,
  type PdfDocument,
} from '../../../../functions/engines/pdf/document.ts';
import type { PageFrame } from '../../../../functions/engines/pdf/drawing.ts';
import type { DrawFailures } from '../../../../functions/engines/pdf/pdfium.ts';

const MAX_CALLS = 20;
const page = { width: 10, height: 10 };
const frame: PageFrame = { number: 1, page, left: 0, top: 0, width: 10, height: 10, density: [72, 72] };
const options: DrawOptions = {
  drawing: { rotate: 0, transparent: false, trim: false, annotations: true, color: 'rgb' },
  encoding: { format: 'png', quality: 90 },
  directory: '/none',
  oneFile: false,
  maxPixels: 1000,
};

/** Draws one page with a PDFium that always reports the same. Returns the number of calls of both engines. */
async function drawWith(undrawn: DrawFailures): Promise<number> {
  let calls = 0;
  const call = async (reply: object) => {
    calls += 1;
    if (calls > MAX_CALLS) throw new Error('It is called endlessly.');
    return reply;
  };
  const engines = {
    pdfium: { draw: () => call(undrawn) },
    fallback: { run: () => call({}) },
  } as unknown as Engines;
  const document: PdfDocument = {
    source: { id: '1', path: '/none/source', cropBox: false, password: undefined },
    fallbackOnly: false,
    survey: {},
    pageCount: 1,
    sizeOf: async () => page,
  };
  const request = { account: 'one', directory: '/none', signal: new AbortController().signal };
  await expect(drawFrames(engines, document, [frame], options, request, () => {})).rejects.toMatchObject({
    code: 'CORRUPT_SOURCE',
  });
  return calls;
}

it('gives up on a page that PDFium reports as doubtful again and again', async () => {
  expect(await drawWith({ failed: [], doubtful: [1] })).toBeLessThan(MAX_CALLS);
});

it('gives up on a page that PDFium reports as failed again', async () => {
  expect(await drawWith({ failed: [1], doubtful: [] })).toBe(3);
});

it('does not draw a page that was not requested', async () => {
  expect(await drawWith({ failed: [2], doubtful: [] })).toBe(1);
});
