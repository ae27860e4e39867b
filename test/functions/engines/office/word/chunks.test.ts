import { expect, it } from 'vitest';
import { findChunks } from '../../../../../functions/engines/office/word/chunks.ts';
import { makeDocx } from '../detect/archives.ts';

/** Returns the kinds and texts of the documents inside a Word document. */
async function chunksOf(...contents: ReadonlyArray<Buffer | string>) {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk';
  const source = makeDocx({
    relationships: contents
      .map((_, index) => `<Relationship Id="c${index}" Type="${type}" Target="/word/c${index}.bin"/>`)
      .join(''),
    more: contents.map((content, index) => ({ name: `word/c${index}.bin`, content })),
  });
  return (await findChunks(source)).map(({ kind, bytes }) => [kind, bytes.toString()]);
}

it.each([
  ['html', '<html><body>\u00e9</body></html>', '\ufeff<html><body>\u00e9</body></html>'],
  ['txt', Buffer.from('5 \xe4', 'latin1'), '\ufeff5 \u00e4'],
  ['rtf', '{\\rtf1 x}', '{\\rtf1 x}'],
  ['', Buffer.from([0, 1, 2]), '\0\x01\x02'],
])('finds a document of the kind "%s"', async (kind, content, text) => {
  expect(await chunksOf(content)).toEqual([[kind, text]]);
});

it('leaves Word documents alone', async () => {
  expect(await chunksOf(makeDocx())).toEqual([]);
});

it('takes at most ten', async () => {
  expect(await chunksOf(...Array.from({ length: 12 }, (_, index) => `text ${index}`))).toHaveLength(10);
});

it('reads a web page with its pictures from a MIME message', async () => {
  const lines = [
    'MIME-Version: 1.0',
    'Content-Type: multipart/related; type="text/html";',
    '    boundary="=-x"',
    '',
    '--=-x',
    'Content-Type: text/html; charset="utf-8"',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<html><p>Gr=C3=B6=C3=9Fe =3D 5=',
    ' cm</p>',
    '',
    '<img src=3D"file:///a.png"></html>',
    '--=-x',
    'Content-Type: image/png',
    'Content-Transfer-Encoding: base64',
    'Content-Location: file:///a.png',
    '',
    'AAAA',
    '--=-x--',
  ];

  const [[kind, text] = []] = await chunksOf(lines.join('\r\n'));

  expect(kind).toBe('html');
  expect(text?.replace(/\s+/g, ' ').trim()).toBe(
    '<html><p>Gr\u00f6\u00dfe = 5 cm</p> <img src="data:image/png;base64,AAAA"></html>',
  );
});
