import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWithPdfium, startPdfium } from '../../../functions/pdftools/backend/pdfium.ts';
import { writePdf } from './pdf.ts';
import { makePhoto } from './photo.ts';

const FACES = join(import.meta.dirname, '../../../dist/layers/fonts/faces');

describe('the PDFs of the bench', () => {
  it('open without repair, with all their pages on A4', async () => {
    const picture = { jpeg: await makePhoto(80, 60, 1), width: 80, height: 60 };
    const font = readFileSync(join(FACES, 'LiberationSans-Regular.ttf'));
    await startPdfium(FACES);

    const bytes = writePdf(['text', 'table', 'chart', 'picture', 'scan'], font, picture, 1);

    const document = await openWithPdfium(bytes, '', { mediaBox: false });
    expect(document.pageCount).toBe(5);
    expect(await document.pageSize(4)).toEqual({ width: 595, height: 842 });
    await document.close();
  });
});
