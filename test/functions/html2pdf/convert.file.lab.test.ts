import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it, vi } from 'vitest';
import { noisyPhoto } from '../../fixtures/image.ts';
import { drawPage } from '../../helpers/pdf.ts';
import { isInstalled } from '../../helpers/processes.ts';
import { usePages } from '../engines/chromium/use-pages.ts';

const run = promisify(execFile);
const photo = await noisyPhoto(400, 300).blur(3).png().toBuffer();
const site = await usePages({
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
          value === 'COVER' ? `${site.origin}/photo` : value,
        ]),
      );
      const { path: file, bytes } = await site.pdf('/rich', options);

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
