import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { unzip } from '../../helpers/zip.ts';
import { readLayout } from '../../likeness/word.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convertOne, refusal } = useEngine(doc2any, createEngine);

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../fixtures/office', name));

/** The text of each page, without white space, which depends on the font that a format names. */
async function pagesOf(source: Buffer, name: string): Promise<string[]> {
  const pages = await readPdf(await convertOne(source, { format: 'pdf', name }));
  return pages.map(({ text }) => text.replace(/\s/g, ''));
}

describe('a document in an editable format', () => {
  it.each([
    ['text.docx', 'odt'],
    ['text.doc', 'docx'],
    ['text.odt', 'rtf'],
    ['sheet.xls', 'xlsx'],
    ['sheet.xlsx', 'ods'],
    ['slides.ppt', 'pptx'],
    ['slides.pptx', 'odp'],
  ] as const)('has the pages of %s as %s', async (name, format) => {
    const source = await fixture(name);

    const edited = await convertOne(source, { format, name });

    // Sheets get other column widths, so their cells may be on other pages.
    const order = (pages: string[]) =>
      name.startsWith('sheet') ? [...pages.join('')].sort().join('') : pages;
    expect(order(await pagesOf(edited, `edited.${format}`))).toEqual(order(await pagesOf(source, name)));
  });

  it('has the tracked changes accepted and the title set, according to the options', async () => {
    const rtf = Buffer.from('{\\rtf1\\ansi Eins{\\revised\\revauth1 Neu}{\\deleted\\revauthdel1 Alt}\\par}');

    const edited = await convertOne(rtf, { format: 'odt', options: '--changes=accept --title=Akte' });

    const [page] = await pagesOf(edited, 'edited.odt');
    expect(page).toBe('EinsNeu');
    const meta = (await unzip(edited)).find((entry) => entry.name === 'meta.xml');
    expect(meta?.content.toString()).toContain('<dc:title>Akte</dc:title>');
  });
});

describe('html', () => {
  it('is one file that contains its images', async () => {
    const html = await convertOne(await fixture('text.docx'), { format: 'html' });

    const text = html.toString();
    expect(text).toContain('Zweite Seite');
    expect(text).toMatch(/<img src="data:image\/png;base64,/);
    expect(text).not.toMatch(/<img src="(?!data:)/);
  });
});

describe('txt', () => {
  it('has a byte order mark as utf-8-bom only', async () => {
    const source = Buffer.from('Größe');
    const convert = (options: string) =>
      convertOne(source, { format: 'txt', options: `in_ext=txt ${options}` });

    expect((await convert('--output-encoding=utf-8-bom')).toString()).toBe('\ufeffGröße\n');
    expect((await convert('')).toString()).toBe('Größe\n');
  });

  it('is UTF-8 with a line per paragraph', async () => {
    const text = await convertOne(await fixture('text.docx'), { format: 'txt' });

    const lines = text.toString().split('\n');
    expect(lines[0]).toBe('Erste Seite');
    expect(lines).toContain('Zweite Seite');
    expect(text.includes('\r')).toBe(false);
  });
});

describe('csv', () => {
  it('is read as soffice reads it: quoted numbers are numbers, other formats stay as they are', async () => {
    const rows = '"1,000.50",50%,12/31/2009,1/2,12:30\n"2009-12-01",$5,1e3,=1+1,TRUE\n';

    const options = '--text-columns=none';
    const csv = await convertOne(Buffer.from(rows), { format: 'csv', name: 'a.csv', options });

    expect(csv.toString()).toBe('1000.5,50%,12/31/2009,1/2,12:30\n2009-12-01,$5,1000,=1+1,TRUE\n');
  });

  it.each([
    ['', '007,+4930,1234567890123456789'],
    ['--text-columns=2-3', '7,+4930,1234567890123456789'],
    ['--text-columns=1', '007,4930,1.23456789012346E+018'],
  ])('keeps text as it is: %s', async (options, expected) => {
    const rows = Buffer.from('007,+4930,1234567890123456789\n');

    const csv = await convertOne(rows, { format: 'csv', name: 'a.csv', options });

    expect(csv.toString()).toBe(`${expected}\n`);
  });

  it('is the first sheet, with the results of formulas', async () => {
    const table = await convertOne(await fixture('sheet.xlsx'), { format: 'csv' });

    const [head, values] = table.toString().split('\n');
    expect(head).toMatch(/^"Grüße aus Köln: .*",Monat 1,Monat 2,/);
    expect(values).toBe('Umsatz,1,2,3,4,5,6,7,8,9,10,11,12,13,14,105');
  });

  it('has the separator and the encoding from the options', async () => {
    const source = Buffer.from('Name,Größe\nŁódź,"1,5"\n');
    const options = 'in_ext=csv --separator=, --output-separator=; --output-encoding=windows-1250';

    const table = await convertOne(source, { format: 'csv', options });

    expect(new TextDecoder('windows-1250').decode(table)).toBe('Name;Größe\nŁódź;1,5\n');
  });

  it('has a byte order mark as utf-8-bom and as utf-16', async () => {
    const source = Buffer.from('Größe\n');
    const convert = (encoding: string) =>
      convertOne(source, { format: 'csv', options: `in_ext=csv --output-encoding=${encoding}` });

    expect((await convert('utf-8-bom')).toString()).toBe('\ufeffGröße\n');
    expect((await convert('utf-16')).toString('utf16le')).toBe('\ufeffGröße\n');
  });

  it('of an empty sheet is an empty line', async () => {
    expect((await convertOne(Buffer.from('\n'), { format: 'csv', options: 'in_ext=csv' })).toString()).toBe(
      '\n',
    );
  });

  it('rejects a sheet that the document does not have', async () => {
    const error = await refusal(await fixture('sheet.xlsx'), { format: 'csv', options: '--sheet=3' });

    expect(error).toMatchObject({
      code: 'PAGE_RANGE',
      message: "Parameter '--sheet' is 3, but the document has 2 sheets.",
    });
  });
});

describe('a format of another kind of document', () => {
  it.each([
    [
      'text.docx',
      'pptx',
      'a text document, which can be converted to .docx, .odt, .rtf, .txt, .html, .pdf, .jpg, .png',
    ],
    ['sheet.xlsx', 'docx', 'a spreadsheet, which can be converted to .xlsx, .ods, .csv, .pdf, .jpg, .png'],
    ['slides.odp', 'csv', 'a presentation, which can be converted to .pptx, .odp, .pdf, .jpg, .png'],
  ] as const)('is rejected: %s as %s', async (name, format, source) => {
    const error = await refusal(await fixture(name), { format });

    expect(error).toMatchObject({
      code: 'UNSUPPORTED_CONVERSION',
      message: `Parameter 'outfile' asks for a .${format} file, but the source is ${source}.`,
    });
  });

  it.each([
    ['pptx', { in_ext: '.docx' }, 'UNSUPPORTED_CONVERSION', 'the source is a text document'],
    ['docx', { '--encrypt': 'secret' }, 'BAD_PARAMETER', "'--encrypt' has no effect on docx output"],
    ['odp', { '--allow-print': 'none' }, 'BAD_PARAMETER', "'--allow-print' has no effect on odp output"],
    ['xlsx', { '--fit': 'sheet' }, 'BAD_PARAMETER', "'--fit=sheet' cannot be combined"],
    ['odt', { '--pages': '2-3' }, 'BAD_PARAMETER', "'--pages' has no effect on odt output"],
    ['html', { '--watermark': 'DRAFT' }, 'BAD_PARAMETER', "'--watermark' has no effect on html output"],
  ] as const)('is rejected before the download: %s with %j', (format, options, code, message) => {
    const given = Object.entries(options).map(([name, value]) => ({ name, value }));

    const { issues } = readOptions(doc2any, given, format as Format);

    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGED = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** A document in the font "Shared", which it may contain. */
function inShared(font?: Buffer): Buffer {
  const body =
    '<w:p><w:r><w:rPr><w:rFonts w:ascii="Shared" w:hAnsi="Shared"/></w:rPr><w:t>shared words</w:t></w:r></w:p>';
  if (!font) return makeDocx({ body });
  const names = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELATIONSHIPS}"`;
  // A key of zeros leaves the font as it is.
  const key = '{00000000-0000-0000-0000-000000000000}';
  const relationship = (type: string, target: string) =>
    `<Relationship Id="f1" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`;
  return makeDocx({
    body,
    relationships: relationship('fontTable', 'fontTable.xml'),
    more: [
      {
        name: 'word/fontTable.xml',
        content: `<w:fonts ${names}><w:font w:name="Shared"><w:embedRegular r:id="f1" w:fontKey="${key}"/></w:font></w:fonts>`,
      },
      {
        name: 'word/_rels/fontTable.xml.rels',
        content: `<Relationships xmlns="${PACKAGED}">${relationship('font', 'fonts/font1.odttf')}</Relationships>`,
      },
      { name: 'word/fonts/font1.odttf', content: font },
    ],
  });
}

it('uses a font that a document contains for no other document', async () => {
  const mono = await readFile(resolve('dist/layers/fonts/faces/LiberationMono-Regular.ttf'));
  const fontsOf = async (source: Buffer) => {
    const { fonts } = await readLayout(await convertOne(source, { format: 'pdf' }));
    return [...fonts.keys()].join(' ');
  };

  const before = await fontsOf(inShared());
  const own = await fontsOf(inShared(mono));
  const after = await fontsOf(inShared());

  expect(own).toContain('LiberationMono');
  expect(before).not.toContain('LiberationMono');
  expect(after).toBe(before);
});
