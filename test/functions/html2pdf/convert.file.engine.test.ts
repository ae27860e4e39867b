import { getDocument, PermissionFlag } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import { noisyPhoto } from '../../fixtures/image.ts';
import { permissionsOf } from '../../helpers/pdf.ts';
import { usePages } from '../engines/chromium/use-pages.ts';

const photo = await noisyPhoto(400, 300).blur(3).png().toBuffer();
const { pdf } = await usePages({
  '/faint': '<!doctype html><p style="opacity: 0.5">faint',
  '/list':
    '<!doctype html><html lang=en><title>List</title><ul><li><a href="https://example.com/">away</a> <a href="#">top</a>',
  '/photo': '<!doctype html><img src="/photo.png">',
  '/photo.png': (_request, response) =>
    void response.writeHead(200, { 'content-type': 'image/png' }).end(photo),
});

describe('the PDF', () => {
  it('has at least the version that is given', async () => {
    expect((await pdf('/photo')).bytes.toString('latin1', 0, 8)).toBe('%PDF-1.4');
    expect((await pdf('/photo', { '--pdf-version': '1.7' })).bytes.toString('latin1', 0, 8)).toBe('%PDF-1.7');
  });

  it('follows PDF/A, without encryption', async () => {
    const { bytes } = await pdf('/photo', { '--pdf-version': 'PDF/A-2b' });

    expect(bytes.toString()).toContain('<pdfaid:part>2</pdfaid:part>');
    await expect(pdf('/photo', { '--pdf-version': 'PDF/A-2b', '--encrypt': 'x' })).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
    });
  });

  it('follows PDF/UA, even if headers are drawn over it', async () => {
    const options = { '--pdf-version': 'PDF/UA-1', '--page-offset': '1', '--footer-left': '[page]' };
    const { bytes } = await pdf('/list', options);

    expect(bytes.toString()).toContain('<pdfuaid:part>1</pdfuaid:part>');
    const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
    const page = await document.getPage(1);
    expect(JSON.stringify(await page.getStructTree())).toMatch(/"role":"LBody".*"role":"Link"/);
    const [link] = await page.getAnnotations();
    expect(link.contentsObj.str).toBe('https://example.com/');
    await document.loadingTask.destroy();
    await expect(pdf('/photo', { '--pdf-version': 'PDF/UA-1' })).rejects.toMatchObject({
      code: 'CONVERSION_FAILED',
      message: expect.stringMatching(/no language.*A picture on page 1 has no alternative text\./),
    });
  });

  it('is written without PDF/A if it cannot follow it and is forced', async () => {
    const { bytes } = await pdf('/faint', { '--pdf-version': 'PDF/A-1b', '--force': '' });

    expect(bytes.includes('pdfaid')).toBe(false);
    await expect(pdf('/faint', { '--pdf-version': 'PDF/A-1b' })).rejects.toMatchObject({
      code: 'CONVERSION_FAILED',
    });
  });

  it('has images as JPEG if a quality is given', async () => {
    const [whole, good, low] = await Promise.all(
      [{}, { '--image-quality': '90' }, { '--lowquality': '' }].map((query) => pdf('/photo', query)),
    );

    expect(whole!.bytes.includes('DCTDecode')).toBe(false);
    expect(good!.bytes.includes('DCTDecode')).toBe(true);
    expect(good!.bytes.length).toBeLessThan(whole!.bytes.length / 2);
    expect(low!.bytes.length).toBeLessThan(good!.bytes.length);
  });

  it('has gray images as JPEG if a quality is given', async () => {
    const [whole, low] = await Promise.all([
      pdf('/photo', { '--grayscale': '' }),
      pdf('/photo', { '--grayscale': '', '--lowquality': '' }),
    ]);

    expect(low.bytes.includes('DCTDecode')).toBe(true);
    expect(low.bytes.length).toBeLessThan(whole.bytes.length / 2);
  });

  it('has the permissions in the list', async () => {
    const { bytes } = await pdf('/photo', { '--permissions': 'copy,fill' });

    const { COPY, FILL_INTERACTIVE_FORMS, MODIFY_ANNOTATIONS, PRINT } = PermissionFlag;
    const allowed = await permissionsOf(bytes);
    expect(allowed).toEqual(expect.arrayContaining([COPY, FILL_INTERACTIVE_FORMS]));
    expect(allowed).not.toEqual(expect.arrayContaining([PRINT]));
    expect(allowed).not.toEqual(expect.arrayContaining([MODIFY_ANNOTATIONS]));
  });
});
