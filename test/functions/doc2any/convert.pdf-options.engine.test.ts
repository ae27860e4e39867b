import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { drawPage } from '../../helpers/pdf.ts';
import { useEngine } from '../conversion.ts';
import { drawing, makeDocx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convertOne } = useEngine(doc2any, createEngine);

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../fixtures/office', name));
const pdfOf = async (name: string, options: string) =>
  convertOne(await fixture(name), { format: 'pdf', options });

function issues(options: Readonly<Record<string, string>>): string[] {
  const given = Object.entries(options).map(([name, value]) => ({ name, value }));
  return readOptions(doc2any, given, 'pdf').issues.map(({ code, message }) => `${code}: ${message}`);
}

describe('encryption', () => {
  it('is AES-256 and opens with the password', async () => {
    const pdf = await pdfOf('text.docx', '--encrypt=Schlüssel');

    const raw = pdf.toString('latin1');
    expect(raw).toMatch(/\/AESV3/);
    expect(raw).toMatch(/\/V 5\b/);
    const pages = await readPdf(pdf, 'Schlüssel');
    expect(pages).toHaveLength(3);
    await expect(readPdf(pdf)).rejects.toThrow();
    await expect(readPdf(pdf, 'falsch')).rejects.toThrow();
  });

  it('restricts what readers may do without a password to open the PDF', async () => {
    const pdf = await pdfOf('text.docx', '--owner-password=geheim --allow-print=none --no-copy');

    const document = await getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise;
    const permissions = (await document.getPermissions()) ?? [];
    const [PRINT, MODIFY, COPY] = [4, 8, 16];
    expect(permissions).not.toContain(PRINT);
    expect(permissions).not.toContain(COPY);
    expect(permissions).toContain(MODIFY);
  });

  it('is applied to the selected pages', async () => {
    const pages = await readPdf(await pdfOf('text.docx', '--encrypt=a -f=2 -l=2'), 'a');

    expect(pages.map(({ text }) => text.split(' ')[0])).toEqual(['Zweite']);
  });

  it.each(['PDF/A-1b', 'PDF/A-2b', 'PDF/A-3b'])('cannot be combined with %s', (version) => {
    const options = { '--encrypt': 'x', '--pdf-version': version };

    expect(issues(options)).toEqual([
      `BAD_PARAMETER: Parameter '--pdf-version=${version}' cannot be combined with encryption, which PDF/A does not allow.`,
    ]);
  });
});

describe('properties', () => {
  it('are set in the information dictionary and in the metadata', async () => {
    const title = 'Größe"1"&<2>,漢字';

    const pdf = await pdfOf('text.docx', `--title=${title} --author=Ada --subject=S --keywords=k1,k2`);

    const document = await getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise;
    const { info, metadata } = await document.getMetadata();
    expect(info).toMatchObject({ Title: title, Author: 'Ada', Subject: 'S', Keywords: 'k1,k2' });
    // LibreOffice escapes XML twice.
    expect(metadata?.get('dc:title')).toBe(
      title.replaceAll('&', '&amp;').replaceAll(/["<>]/g, (c) => ESCAPES[c]!),
    );
  });
});

describe('tracked changes', () => {
  const run = (text: string, tag = 't') => `<w:r><w:${tag}>${text}</w:${tag}></w:r>`;
  const by = 'w:id="1" w:author="Ada" w:date="2026-01-02T03:04:05Z"';
  const source = makeDocx({
    body: `<w:p>${run('bleibt')}<w:ins ${by}>${run('neu')}</w:ins><w:del ${by}>${run('weg', 'delText')}</w:del></w:p>`,
  });

  it.each([
    ['accept', 'bleibtneu'],
    ['reject', 'bleibtweg'],
  ])('--changes=%s', async (choice, text) => {
    const [page] = await readPdf(await convertOne(source, { format: 'pdf', options: `--changes=${choice}` }));

    expect(page!.text.replace(/\s/g, '')).toContain(`EinAbsatz${text}`);
    expect(page!.text.includes('neu')).toBe(text.includes('neu'));
    expect(page!.text.includes('weg')).toBe(text.includes('weg'));
  });

  it('have the colors that they have in a fresh process', async () => {
    const pictures: Buffer[] = [];
    for (const author of ['Ada', 'Cleo']) {
      // A process that has loaded a text document would number the next author differently.
      if (author === 'Cleo') await convertOne(makeDocx({ body: '<w:p/>' }), { format: 'pdf' });
      const ins = `<w:ins w:id="1" w:author="${author}" w:date="2026-01-02T03:04:05Z">${run('neu')}</w:ins>`;
      const pdf = await convertOne(makeDocx({ body: `<w:p>${ins}</w:p>` }), { format: 'pdf' });
      pictures.push(await drawPage(pdf, 1));
    }

    expect(pictures[1]!.equals(pictures[0]!)).toBe(true);
  });
});

describe('the export', () => {
  it('tags the PDF with --tagged', async () => {
    const [plain, tagged] = await Promise.all(['', '--tagged'].map((options) => pdfOf('text.odt', options)));

    expect(plain!.toString('latin1')).not.toContain('/MarkInfo');
    expect(tagged!.toString('latin1')).toMatch(/\/MarkInfo ?<<\/Marked true>>/);
  });

  it('keeps images without loss with --lossless', async () => {
    const [lossy, lossless] = await Promise.all(
      ['--quality=20', '--lossless'].map((options) => pdfOf('text.odt', options)),
    );

    expect(lossless!.toString('latin1')).not.toContain('/DCTDecode');
    expect(lossy).not.toEqual(lossless);
  });

  it('reduces the resolution of images with --image-dpi', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
    const photo = sharp({ create: { width: 900, height: 900, channels: 3, background: '#888', noise } });
    const source = makeDocx({
      body: drawing('r:embed="here"'),
      relationships: `<Relationship Id="here" Type="${IMAGE}" Target="media/a.png"/>`,
      more: [{ name: 'word/media/a.png', content: await photo.png().toBuffer() }],
    });

    const widths = await Promise.all(
      [1200, 51].map(async (dpi) =>
        imageWidth(await convertOne(source, { format: 'pdf', options: `--image-dpi=${dpi}` })),
      ),
    );

    expect(widths[0]).toBe(900);
    expect(widths[1]).toBeLessThan(200);
    expect(issues({ '--image-dpi': '50' })).toHaveLength(1);
  });

  it('draws a watermark in another color and at another angle', async () => {
    const options = 'in_ext=txt --watermark=ENTWURF --watermark-color=#ff0000';

    const [upright, level, vertical] = await Promise.all(
      ['', ' --watermark-angle=0', ' --watermark-angle=90'].map(async (each) =>
        redRows(await pdfOf('plain.txt', options + each)),
      ),
    );

    expect(level).toBeGreaterThan(0);
    expect(upright).toBeGreaterThan(2 * level!);
    expect(vertical).toBeGreaterThan(2 * level!);
  });
});

const ESCAPES: Readonly<Record<string, string>> = { '"': '&quot;', '<': '&lt;', '>': '&gt;' };
const IMAGE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/image';

function imageWidth(pdf: Buffer): number {
  const widths = [...pdf.toString('latin1').matchAll(/\/Subtype ?\/Image ?\/Width (\d+)/g)];
  return Math.max(...widths.map(([, width]) => Number(width)));
}

/** Counts the rows of the first page that have something red on them. */
async function redRows(pdf: Buffer): Promise<number> {
  const page = sharp(await drawPage(pdf, 1, 0.5)).removeAlpha();
  const { data, info } = await page.raw().toBuffer({ resolveWithObject: true });
  const row = info.width * 3;
  const isRed = (at: number) => data[at]! > data[at + 1]! + 40;
  const rows = Array.from({ length: info.height }, (_, y) => y * row);
  return rows.filter((start) => Array.from({ length: info.width }, (_, x) => start + 3 * x).some(isRed))
    .length;
}
