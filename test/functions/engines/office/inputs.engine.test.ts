import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../../functions/doc2any/tool.ts';
import { useEngine } from '../../conversion.ts';
import { makeXlsx } from './detect/archives.ts';
import { readPdf } from './read-pdf.ts';

const { convertOne, refusal } = useEngine(doc2any, createEngine);

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../../fixtures/office', name));

async function textOf(source: Buffer, name: string, options = '') {
  const pages = await readPdf(await convertOne(source, { format: 'pdf', name, options }));
  return pages
    .map(({ text }) => text)
    .join('\n')
    .replace(/\s+/g, ' ');
}

const TABLE = '<table><tr><td>Menge</td><td>12</td></tr><tr><td>Äpfel</td><td>7</td></tr></table>';
const HTML = `<html><head><meta charset="utf-8"></head><body>${TABLE}</body></html>`;
const SHEET_XML =
  '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>' +
  '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">' +
  '<Worksheet ss:Name="S"><Table><Row><Cell><Data ss:Type="String">Menge</Data></Cell>' +
  '<Cell><Data ss:Type="Number">12</Data></Cell></Row></Table></Worksheet></Workbook>';
const WORD_XML =
  '<?xml version="1.0"?><?mso-application progid="Word.Document"?>' +
  '<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml">' +
  '<w:body><w:p><w:r><w:t>Menge 12</w:t></w:r></w:p></w:body></w:wordDocument>';

const DOC_BOOK =
  '<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.1.2//EN" ' +
  '"http://www.oasis-open.org/docbook/xml/4.1.2/docbookx.dtd">' +
  '<article lang=""><title>Lager</title><sect1><title>Bestand</title><para>Menge 12</para></sect1></article>';

describe('exports of web applications with Office extensions', () => {
  it.each([
    ['an HTML table', 'export.xls', HTML],
    ['an HTML page', 'export.doc', HTML],
    ['tab-separated values', 'export.xls', 'Menge\t12\n'],
    ['Excel 2003 XML', 'export.xls', SHEET_XML],
    ['Excel 2003 XML', 'export.xml', SHEET_XML],
    ['Word 2003 XML', 'letter.doc', WORD_XML],
    ['Word 2003 XML', 'letter.xml', WORD_XML],
    ['DocBook', 'article.xml', DOC_BOOK],
    ['Markdown, as the text that it is,', 'note.md', 'Menge 12\n'],
    ['plain text', 'letter.doc', 'Menge 12\n'],
  ])('%s called %s is converted', async (_, name, content) => {
    const text = await textOf(Buffer.from(content), name);

    expect(text).toMatch(/Menge 12/);
    expect(text).not.toMatch(/[<>]/);
  });
});

describe('templates, slide shows and documents with macros', () => {
  it.each([
    ['text.docx', 'letter.dotx', 'Erste Seite'],
    ['text.odt', 'letter.ott', 'Erste Seite'],
    ['sheet.xlsx', 'table.xlsm', 'Zweites Blatt'],
    ['slides.pptx', 'show.ppsx', 'Zweite Folie'],
  ])('%s is converted as %s', async (source, name, words) => {
    const text = await textOf(await fixture(source), name);

    expect(text).toContain(words);
  });
});

describe('plain text and tables', () => {
  const russian = Buffer.from(
    'cff0e8e2e5f22c20ece8f02e20caeaea20e4e5ebe03f'.replace('caeaea', 'caE0Ea'),
    'hex',
  );
  const japanese = Buffer.from(
    '8fa495692c89bf8a690a82e882f182b22c3130300a82dd82a982f12c3230300a8d878c762c3330300a',
    'hex',
  );

  it.each<readonly [string, string, Buffer, string, string]>([
    ['UTF-16', 'a.txt', Buffer.from('\ufeffGrüße aus Köln', 'utf16le'), '', 'Grüße aus Köln'],
    ['UTF-16', 'a.csv', Buffer.from('\ufeffName;Größe\r\nx;1\r\n', 'utf16le'), '', 'Name Größe x 1'],
    ['Windows-1251', 'a.txt', russian, '', 'Привет, мир. Как дела?'],
    ['Shift-JIS', 'a.csv', japanese, '', '商品 価格'],
    ['the encoding given', 'a.txt', Buffer.from('e1e2', 'hex'), '--encoding=iso-8859-7', 'αβ'],
    ['the separator given', 'a.csv', Buffer.from('a:b\nc:d\n'), '--separator=:', 'a b c d'],
    ['tabs', 'a.tsv', Buffer.from('a\tb, c\n'), '', 'a b, c'],
  ])('are read in %s (%s)', async (_, name, source, options, words) => {
    const text = await textOf(source, name, options);

    expect(text).toContain(words);
  });

  it('fit their columns on one page', async () => {
    const row = Array.from({ length: 40 }, (_, index) => `Spalte ${index}`).join(';');

    const pages = await readPdf(
      await convertOne(Buffer.from(`${row}\n${row}\n`), {
        format: 'pdf',
        name: 'a.csv',
        options: '--fit=width',
      }),
    );

    expect(pages).toHaveLength(1);
    expect(pages[0]!.text).toContain('Spalte 39');
  });

  it('show the name of the source in the header of a sheet', async () => {
    const text = await textOf(Buffer.from('a,b\n'), 'Umsätze 2026.csv');

    expect(text).toContain('Umsätze 2026');
    expect(text).not.toContain('document');
  });
});

it('rejects a spreadsheet with more pages than allowed', async () => {
  const rows = Array.from(
    { length: 3000 },
    (_, row) => `<row r="${row + 1}"><c r="A${row + 1}"><v>1</v></c></row>`,
  );

  const { code } = await refusal(makeXlsx(rows.join('')), { format: 'pdf', limits: { pages: 20 } });

  expect(code).toBe('RESULT_TOO_LARGE');
});

describe('a WordPerfect 4 document, which has no signature', () => {
  const codes = Buffer.from('cb0a01f601cbc00a4a094ac0ce0c0aced0426c4270d0', 'hex');
  const source = Buffer.concat([codes, Buffer.from('Der erste Satz\nund der zweite.\n')]);

  it.each(['a.doc', 'a.wpd'])('is converted as %s', async (name) => {
    const text = await textOf(source, name);

    expect(text.replace(/\s+/g, ' ')).toContain('Der erste Satz und der zweite.');
    expect(text).not.toContain('Bl');
  });

  it('is not seen in Cyrillic text', async () => {
    const cyrillic = Buffer.from('cff0e8e2e5f220ece8f020cff0e8e2e5f220ece8f00a', 'hex');

    expect(await textOf(cyrillic, 'a.doc', '--encoding=windows-1251')).toContain('Привет мир');
  });

  it.each([
    ['other binary data', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10, ...Buffer.from('JFIF')])],
    ['a code without an end', Buffer.concat([codes, Buffer.from([0xd1, 0x41, 0x42])])],
    ['mostly other bytes', Buffer.concat([codes, Buffer.alloc(100, 0x81), Buffer.from('text')])],
  ])('is not seen in %s', async (_, bytes) => {
    const { code } = await refusal(bytes, { format: 'pdf', name: 'a.doc' });

    expect(code).toBe('UNSUPPORTED_SOURCE');
  });
});

describe('an encrypted document that LibreOffice cannot decrypt', () => {
  it('is rejected instead of waiting for a message box', async () => {
    const source = await fixture('locked.docx');
    // The algorithm's identifier in the encryption header.
    const at = source.indexOf(Buffer.from('0300020024000000', 'hex'));
    source.writeUInt32LE(0x66ff, at + 20);

    const { code } = await refusal(source, { format: 'pdf', options: '--password=geheim' });

    expect(at).toBeGreaterThan(0);
    expect(code).toBe('UNSUPPORTED_SOURCE');
  });

  it('is rejected immediately if it is a PowerPoint 97 presentation', async () => {
    const source = await fixture('slides.ppt');
    const token = source.indexOf(Buffer.from('5fc091e3', 'hex'));
    Buffer.from('dfc4d1f3', 'hex').copy(source, token);

    const { code, message } = await refusal(source, { format: 'pdf', name: 'a.ppt' });

    expect(token).toBeGreaterThan(0);
    expect(code).toBe('UNSUPPORTED_SOURCE');
    expect(message).toContain('Encrypted PowerPoint 97-2003 presentations are not supported.');
  });
});

describe('sources that LibreOffice cannot open', () => {
  it.each([
    ['half an archive', 'damaged.docx', 'a.docx', 'CORRUPT_SOURCE'],
    ['half an archive with a layout', 'damaged.docx', 'a.docx', 'CORRUPT_SOURCE', '--landscape'],
  ])('%s', async (_, name, called, code, options = '') => {
    const error = await refusal(await fixture(name), { format: 'pdf', name: called, options });

    expect(error.code).toBe(code);
    // It is logged.
    expect(error.cause).toMatch(/^error: loadComponentFromURL/);
  });
});
