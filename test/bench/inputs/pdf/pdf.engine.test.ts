import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPdf } from '../../../pdf.ts';
import { makePhoto } from '../photo.ts';
import { writePdf } from './pdf.ts';

const FACES = join(import.meta.dirname, '../../../../dist/layers/fonts/faces');

describe('the PDFs of the bench', () => {
  it('open without repair, with all their pages on A4', async () => {
    const picture = { jpeg: await makePhoto(80, 60, 1), width: 80, height: 60 };
    const font = readFileSync(join(FACES, 'LiberationSans-Regular.ttf'));

    const bytes = writePdf(['text', 'table', 'chart', 'picture', 'scan'], font, picture, 1);

    const { pages } = await readPdf(bytes);
    expect(pages).toHaveLength(5);
    expect(pages[3]).toMatchObject({ width: 595, height: 842 });
  });
});
