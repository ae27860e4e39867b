import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../../functions/pdftools/tool.ts';
import { pdfOf } from '../../../../fixtures/pdf.ts';
import { drawPage, readPdf } from '../../../../helpers/pdf.ts';
import { pixel } from '../../../../helpers/pixels.ts';
import { useEngine } from '../../../conversion.ts';
import { serveFiles } from '../../../serve-files.ts';

const { convert, convertOne, refusal } = useEngine(pdftools, createEngine);

const VALUES = {
  'a.json': { a: 'Own' },
  'digits.json': { right: '12', center: '12', left: '12' },
  'agree.json': { agree: true },
  'color.json': { color: 'blue' },
  'some.json': { a: 'Own', b: 'x'.repeat(9), nowhere: 'x' },
};
const url = await serveFiles(
  Object.fromEntries(
    Object.entries(VALUES).map(([name, values]) => [name, Buffer.from(JSON.stringify(values))]),
  ),
);
const FONTS =
  '/Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>/CoBo<</Type/Font/Subtype/Type1/BaseFont/Courier-Bold>>/TiIt<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+TimesNewRomanPS-ItalicMT>>';

/** A page of 200 x 100 points with these fields, from object 5 on. */
function form(fields: readonly string[], { entries = '', others = [] as readonly string[] } = {}): Buffer {
  const refs = fields.map((_, index) => `${5 + index} 0 R`).join(' ');
  return pdfOf([
    `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${refs}]/DA(/Helv 12 Tf 0 g)/DR<</Font<<${FONTS}>>>>${entries}>>>>`,
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots[${refs}]>>`,
    '<</Length 46/Type/XObject/Subtype/Form/BBox[0 0 90 20]>>\nstream\n/Tx BMC q BT 2 5 Td (STALE) Tj ET Q EMC      \nendstream',
    ...fields.map((field) => `<</Type/Annot/Subtype/Widget/F 4${field}>>`),
    ...others,
  ]);
}
const textField = (name: string, rect: string, more = '') => `/FT/Tx/T(${name})/Rect[${rect}]${more}`;
const isDark = async (drawn: Buffer, x: number, y: number) => (await pixel(drawn, x, y))[0]! < 128;

describe('-fill', () => {
  it.each([
    ['/CoBo 12 Tf', 'LiberationMono-Bold'],
    ['/TiIt 12 Tf', 'LiberationSerif-Italic'],
    ['/Unknown 12 Tf', 'LiberationSans'],
  ])('sets texts in a font like that of the field: %s', async (font, expected) => {
    const source = form([textField('a', '10 10 190 30', `/DA(${font} 0 g)`)]);

    const filled = await convertOne(source, { format: 'pdf', options: `-fill=${url('a.json')} -flatten` });

    const described = await convertOne(filled, { format: 'json' });
    expect(described.toString()).toContain(`"${expected}`);
  });

  it('moves the cells of a comb as the field is aligned', async () => {
    const comb = (name: string, y: number, q: number) =>
      textField(name, `0 ${y} 200 ${y + 20}`, `/Ff 16777216/MaxLen 10/Q ${q}/DA(/Helv 14 Tf 0 g)`);
    const source = form([comb('left', 70, 0), comb('center', 40, 1), comb('right', 10, 2)]);

    const filled = await convertOne(source, {
      format: 'pdf',
      options: `-fill=${url('digits.json')} -flatten`,
    });

    const { items } = await textContent(filled);
    const cells = items.flatMap((item) =>
      'str' in item && item.str.trim() ? [[item.str, Math.floor(item.transform[4] / 20)]] : [],
    );
    expect(cells.map(([, cell]) => cell)).toEqual([0, 1, 4, 5, 8, 9]);
  });

  it('draws the other fields anew if their appearances do not count', async () => {
    const fields = [
      textField('a', '10 70 100 90'),
      textField('b', '10 40 100 60', '/V(fresh)/AP<</N 4 0 R>>'),
      '/FT/Ch/Ff 131072/T(c)/Rect[10 10 100 30]/Opt[(one)(two)]/V(two)/AP<</N 4 0 R>>',
    ];
    const options = `-fill=${url('a.json')} -flatten`;

    const stale = await convertOne(form(fields, { entries: '/NeedAppearances true' }), {
      format: 'pdf',
      options,
    });
    const kept = await convertOne(form(fields), { format: 'pdf', options });

    expect((await readPdf(stale)).pages[0]!.text).toBe('Ownfreshtwo');
    expect((await readPdf(kept)).pages[0]!.text).not.toContain('fresh');
  });

  it.each([
    '/AP<</N<</Yes<<>>>>>>',
    '/AP<</N<<>>>>',
    '/AP<</N<</Yes null/Off<<>>>>>>',
    '/AP<</N<</Off 4 0 R>>>>',
    '',
  ])('ticks a box whose appearance is empty: %s', async (appearance) => {
    const box = `/FT/Btn/T(agree)/Rect[20 20 60 60]/V/Off/AS/Off/MK<</CA(n)/BC[0 0 0]>>${appearance}`;

    const filled = await convertOne(form([box]), {
      format: 'pdf',
      options: `-fill=${url('agree.json')} -flatten`,
    });
    const bare = await convertOne(form([box]), { format: 'pdf', options: '-flatten' });

    const [on, off] = await Promise.all([filled, bare].map((pdf) => drawPage(pdf, 1)));
    expect([await isDark(on!, 40, 60), await isDark(off!, 40, 60)]).toEqual([true, false]);
    expect([await isDark(on!, 20, 60), await isDark(off!, 20, 60)]).toEqual([true, true]);
  });

  it('keeps the caption of a push button without an appearance when it becomes part of the page', async () => {
    const button = '/FT/Btn/Ff 65536/T(send)/Rect[20 20 120 60]/MK<</CA(Submit)/BG[0.8 0.8 0.8]>>';

    const flat = await convertOne(form([button]), { format: 'pdf', options: '-flatten' });

    expect((await readPdf(flat)).pages[0]!.text).toBe('Submit');
  });

  it('fills in what can be filled in, and warns of the rest, unless it must be all', async () => {
    const source = form([textField('a', '10 70 100 90'), textField('b', '10 40 100 60', '/MaxLen 4')]);

    const { warnings } = await convert(source, {
      format: 'pdf',
      options: `-fill=${url('some.json')} -flatten`,
    });
    const error = await refusal(source, { format: 'pdf', options: `-fill=${url('some.json')} -fill-strict` });

    expect(warnings).toEqual([
      expect.stringContaining("at most 4 characters for the field 'b'"),
      expect.stringContaining("names the field 'nowhere'"),
    ]);
    expect(error.code).toBe('BAD_PARAMETER');
  });
});

async function textContent(pdf: Buffer) {
  const document = await getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise;
  const content = await (await document.getPage(1)).getTextContent();
  await document.loadingTask.destroy();
  return content;
}
