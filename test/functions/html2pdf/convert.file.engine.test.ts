import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../../helpers/installed.ts';
import { drawPage } from '../../helpers/pdf.ts';
import { servePages, startBrowsers } from '../engines/chromium/page-server.ts';

let pages: Awaited<ReturnType<typeof servePages>>;
let browsers: Awaited<ReturnType<typeof startBrowsers>>;
const run = promisify(execFile);

beforeAll(async () => {
  const photo = await sharp({
    create: {
      width: 400,
      height: 300,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .blur(3)
    .png()
    .toBuffer();
  pages = await servePages({
    '/rich': `<!doctype html><html lang=fr><meta charset=utf-8><title>Été</title>
      <style>.g { filter: blur(1px); background: linear-gradient(red, blue); height: 50px; opacity: .5 }</style>
      <h1>Titre 日本 😀</h1><div class=g></div><p>نص عربي <a href="https://example.com/é?a=(1)">lien</a> <a href="#t">ici</a>
      <table id=t border=1><thead><tr><th>a<th>b<tbody><tr><td>1<td>2</table><ul><li>un<li>deux</ul>
      <form><input value=x><select><option>y</select></form><img alt="photo" src="/photo.png">
      <svg width=50 height=50><circle r=20 cx=25 cy=25 fill="url(#x)" /></svg><canvas></canvas><h2>Deux</h2>`,
    '/photo': '<!doctype html><img src="/photo.png">',
    '/photo.png': (_request, response) =>
      void response.writeHead(200, { 'content-type': 'image/png' }).end(photo),
  });
  browsers = await startBrowsers('html2pdf', { exceptions: [`127.0.0.1:${pages.port}`] });
});

afterAll(async () => {
  await browsers.close();
  await pages.close();
});

async function pdf(path: string, query: Record<string, string | string[]> = {}) {
  const { path: file } = await browsers.convert(pages.origin + path, query);
  return { file, bytes: await readFile(file) };
}

/** Reads all content of a page with pdf.js, and returns its warnings. */
async function readThoroughly(bytes: Buffer) {
  const spies = (['log', 'warn', 'info'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: VerbosityLevel.WARNINGS });
  const document = await task.promise;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    await Promise.all([page.getOperatorList(), page.getAnnotations(), page.getStructTree()]);
  }
  await document.getOutline();
  const pageCount = document.numPages;
  await task.destroy();
  const warnings = spies.flatMap((spy) => spy.mock.calls.map(([text]) => String(text)));
  for (const spy of spies) spy.mockRestore();
  return { pageCount, warnings };
}

describe.skipIf(!isInstalled('qpdf', 'pdftotext', 'pdftoppm'))(
  'other programs open the PDF without warnings (needs qpdf, pdftotext and pdftoppm)',
  () => {
    it.for([
      {},
      { '-g': '' },
      { '--toc': '', '--cover': 'COVER', '--page-offset': '3', '--footer-right': '[section] [page]' },
      { '--metadata': 'Author:Zoë', '--pdf-version': '1.7', '--image-quality': '50' },
      { '--no-tagged': '', '--no-outline': '', '--page-height': 'auto' },
    ] as ReadonlyArray<Record<string, string>>)('with the options %j', async (query) => {
      const options = Object.fromEntries(
        Object.entries(query).map(([name, value]) => [
          name,
          value === 'COVER' ? `${pages.origin}/photo` : value,
        ]),
      );
      const { file, bytes } = await pdf('/rich', options);

      const checked = await run('qpdf', ['--check', file]);
      expect(checked.stdout).toContain('No syntax or stream encoding errors found');
      expect(checked.stderr).toBe('');
      // Poppler reports what it repairs on stderr.
      const [text, drawn] = await Promise.all([
        run('pdftotext', [file, '-']),
        run('pdftoppm', ['-r', '20', '-png', file], { encoding: 'buffer' }),
      ]);
      expect(text.stderr).toBe('');
      expect(drawn.stderr.toString()).toBe('');
      expect(text.stdout).toContain('日本');
      const { pageCount, warnings } = await readThoroughly(bytes);
      expect(warnings).toEqual([]);
      for (let page = 1; page <= pageCount; page++) await drawPage(bytes, page, 0.3);
    });
  },
);

describe('the PDF', () => {
  it('has at least the version that is given', async () => {
    expect((await pdf('/photo')).bytes.toString('latin1', 0, 8)).toBe('%PDF-1.4');
    expect((await pdf('/photo', { '--pdf-version': '1.7' })).bytes.toString('latin1', 0, 8)).toBe('%PDF-1.7');
  });

  it('cannot be PDF/A, and the error explains it', async () => {
    await expect(pdf('/photo', { '--pdf-version': 'PDF/A-2b' })).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
      message: expect.stringContaining('PDF/A and PDF/UA are not supported'),
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

  it.skipIf(!isInstalled('qpdf'))('has the permissions in the list (needs qpdf)', async () => {
    const { file } = await pdf('/photo', { '--permissions': 'copy,fill' });

    const { stdout } = await run('qpdf', ['--show-encryption', file]);
    expect(stdout).toMatch(/extract for any purpose: allowed/);
    expect(stdout).toMatch(/print low resolution: not allowed/);
    expect(stdout).toMatch(/modify forms: allowed/);
    expect(stdout).toMatch(/modify annotations: not allowed/);
  });
});
