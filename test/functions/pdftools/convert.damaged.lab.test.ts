import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createFallback } from '../../../functions/engines/pdf/pdfjs/fallback.ts';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { PDF_BOMBS, picturePdf } from '../../fixtures/bombs.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine, useOwnEngine } from '../conversion.ts';
import { createDrawingEngine } from './pdf-engine.ts';
import { sizeOf } from './picture.ts';

const { convertOne } = useEngine(pdftools, createEngine);

describe('a document that needs too much memory', () => {
  // On a busy machine, the usual time for a page can run out before the memory does.
  const times = { stall: 300_000, page: 300_000 };
  const patient = useOwnEngine(pdftools, (dependencies) =>
    createDrawingEngine(dependencies, createFallback(dependencies), times),
  );

  it.each(['contents of gigabytes', 'a form in itself', 'forms in forms, a billion'])(
    'is rejected: %s',
    { timeout: 300_000 },
    async (name) => {
      const bomb = PDF_BOMBS.find((one) => one.name === `pdf with ${name}`)!;

      const answer = await patient.refusal(Buffer.from(await bomb.bytes()), { format: 'png', time: 300_000 });

      expect(answer).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
    },
  );

  it('does not include images of 100 megapixels, or contents of 200 MB', async () => {
    const gray = deflateSync(Buffer.alloc(100e6, 128), { level: 1 });
    const long = PDF_BOMBS.find(({ name }) => name === 'pdf with contents deflated three times')!;

    const drawn = await convertOne(picturePdf(12_500, 8000, gray), { format: 'png', options: '-r=72' });
    const empty = await convertOne(Buffer.from(await long.bytes()), { format: 'png', options: '-r=72' });

    expect(await pixel(drawn, 150, 150)).toEqual([128, 128, 128, 255]);
    expect(await sizeOf(empty)).toMatchObject({ width: 300, height: 300 });
  });
});
