import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createPdfium } from '../../../../functions/engines/pdf/pdfium.ts';
import { pdfOf } from '../../../fixtures/pdf.ts';
import { ownDependencies } from '../../../lab/engine.ts';

it('returns an error that names the limit instead of an answer that is too long', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pdfium-'));
  const pdfium = createPdfium(ownDependencies(directory));
  onTestFinished(async () => {
    await pdfium.close();
    await rm(directory, { recursive: true });
  });
  const path = join(directory, 'many.pdf');
  const kids = '3 0 R '.repeat(50_000);
  const page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 123.5 123.5]>>';
  const pages = `<</Type/Pages/Count 50000/Kids[${kids}]>>`;
  await writeFile(path, pdfOf(['<</Type/Catalog/Pages 2 0 R>>', pages, page]));
  const request = { directory, account: 'test', signal: AbortSignal.timeout(60_000) };
  const open = (to: number) =>
    pdfium.open({ id: 'a', path, password: undefined, cropBox: true }, { from: 1, to }, request);

  await expect(open(50_000)).rejects.toMatchObject({
    code: 'SOURCE_TOO_LARGE',
    message: expect.stringContaining('limited to 400 kB'),
  });
  expect((await open(2000)).sizes).toHaveLength(2000);
});
