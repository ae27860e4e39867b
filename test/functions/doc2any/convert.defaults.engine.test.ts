import { readFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { readPdf } from '../../helpers/pdf.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx, makeXls, makeXlsx } from '../engines/office/detect/archives.ts';

const { convertOne } = useEngine(doc2any, createEngine);

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../fixtures/office', name));

/** March 5, 2022, 6:00. */
const MOMENT = 44625.25;
const HYPERLINK = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink';

/** A sheet with the same number in each of Excel's built-in formats. */
function sheetOf(value: number, formats: readonly number[]): Buffer {
  const rows = formats.map((_, index) => `<row><c s="${index}"><v>${value}</v></c></row>`);
  return makeXlsx(rows.join(''), { formats });
}

describe('a document without a page size', () => {
  // LibreOfficeKit would select Letter.
  it.each([
    ['csv', () => fixture('table.csv')],
    ['txt', () => fixture('plain.txt')],
    ['xlsx', async () => sheetOf(1, [0])],
  ])('is printed on A4: %s', async (extension, read) => {
    const { pages } = await readPdf(
      await convertOne(await read(), { format: 'pdf', options: `in_ext=${extension}` }),
    );

    expect(pages[0]).toMatchObject({ width: expect.closeTo(595, 0), height: expect.closeTo(842, 0) });
  });
});

describe('a section whose pages are numbered from 1 again', () => {
  const size = '<w:pgSz w:w="11906" w:h="16838"/>';
  const paragraph = (text: string, properties = '') =>
    `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const section = (more = '') => `<w:sectPr>${size}${more}</w:sectPr>`;
  const body = `${paragraph('Cover', section())}${paragraph('Chapter')}${section('<w:pgNumType w:start="1"/>')}`;

  it.each([
    ['', ['Cover', 'Chapter']],
    ['--pages=2', ['Chapter']],
  ])('follows without a blank page, as in Word, with the options "%s"', async (options, texts) => {
    const { pages } = await readPdf(await convertOne(makeDocx({ body }), { format: 'pdf', options }));

    expect(pages.map(({ text }) => text.split(' ').at(-1))).toEqual(texts);
  });
});

describe('a spreadsheet', () => {
  // Another locale, which would also select A4, gives dates leading zeros, for which columns can be too narrow.
  it.each([
    ['xlsx', sheetOf],
    // Its import takes the language from the application.
    ['xls', makeXls],
  ])('shows dates and times as soffice does: %s', async (_, make) => {
    const source = make(MOMENT, [14, 15, 16, 17, 18, 20]);

    const { pages } = await readPdf(await convertOne(source, { format: 'pdf' }));

    expect(pages[0]!.text).toContain('3/5/2022 5-Mar-22 5-Mar Mar-22 6:00 AM 6:00');
  });

  // The import of encrypted documents runs in another mode of LibreOffice.
  it('shows them in the same way if it is encrypted', async () => {
    const source = makeXls(MOMENT, [14, 15, 16, 17, 18, 20], 'geheim');

    const { pages } = await readPdf(
      await convertOne(source, { format: 'pdf', options: '--password=geheim' }),
    );

    expect(pages[0]!.text).toContain('3/5/2022 5-Mar-22 5-Mar Mar-22 6:00 AM 6:00');
  });
});

describe('a document that prints its own path', () => {
  const field = makeDocx({ body: '<w:p><w:fldSimple w:instr=" FILENAME \\p "/></w:p>' });
  const cell = makeXlsx('<row r="1"><c r="A1"><f>CELL("filename")</f></c></row>');
  const footer = makeXlsx('<row r="1"><c r="A1"><v>1</v></c></row>', {
    more: '<headerFooter><oddFooter>&amp;L&amp;Z&amp;F</oddFooter></headerFooter>',
  });

  it.each([
    ['a field', 'docx', 'pdf', field],
    ['a formula', 'xlsx', 'csv', cell],
    ['a footer', 'xlsx', 'pdf', footer],
  ] as const)(
    'shows its name, but no folder of the service: %s in %s as %s',
    async (_, from, format, source) => {
      const file = await convertOne(source, { format, name: `Umsatz.${from}` });

      const text = format === 'pdf' ? (await readPdf(file)).pages[0]!.text : file.toString();
      expect(text).toMatch(/\/proc\/self\/cwd\/(document\/)?Umsatz/);
      expect(text).not.toContain(tmpdir());
      expect(text).not.toContain(hostname());
    },
  );
});

describe('a link to another file', () => {
  it('stays relative to the document, without the folder of the conversion', async () => {
    const source = makeDocx({
      body: '<w:p><w:hyperlink r:id="r1"><w:r><w:t>Anhang</w:t></w:r></w:hyperlink></w:p>',
      relationships: `<Relationship Id="r1" Type="${HYPERLINK}" Target="more/attachment.docx" TargetMode="External"/>`,
    });

    const pdf = await convertOne(source, { format: 'pdf' });

    expect(pdf.toString('latin1')).toContain('/URI(more/attachment.docx)');
  });
});
