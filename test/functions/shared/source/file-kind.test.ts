import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  HEAD_BYTES,
  kindOfBytes,
  kindOfText,
  kindOfType,
  notAPageError,
} from '../../../../functions/shared/source/file-kind.ts';
import { makePdf } from '../../../fixtures/pdf.ts';

const fixture = (path: string) => readFile(join(import.meta.dirname, '../../../fixtures', path));

it.each([
  ['doc2any', 'office/text.docx'],
  ['doc2any', 'office/sheet.xlsx'],
  ['doc2any', 'office/text.odt'],
  ['doc2any', 'office/text.rtf'],
  ['doc2any', 'office/locked.doc'],
] as const)('names %s for %s', async (tool, path) => {
  const bytes = await fixture(path);

  expect(kindOfBytes(bytes.toString('latin1', 0, HEAD_BYTES))?.readers[0]).toBe(tool);
  // As a browser shows it that takes it for text in UTF-8 or in Windows-1252.
  expect(kindOfText(bytes.toString('utf8', 0, 64))?.readers[0]).toBe(tool);
  expect(kindOfText(bytes.toString('latin1', 0, 64))?.readers[0]).toBe(tool);
});

it('names the tool for a PDF without a header', () => {
  const headless = makePdf([{}]).subarray('%PDF-1.7\n'.length).toString('latin1', 0, HEAD_BYTES);

  expect([headless, `%\xe2\xe3\n${headless}`].map((head) => kindOfBytes(head)?.readers[0])).toEqual(
    Array(2).fill('pdftools'),
  );
});

it('names the tool for a PDF with junk before its header', () => {
  const bytes = makePdf([{}], { junk: '\x80 junk\n' });

  expect(kindOfBytes(bytes.toString('latin1', 0, HEAD_BYTES))?.readers[0]).toBe('pdftools');
});

it.each([
  'Received: from a.example\r\n\tby b.example\r\nSubject: Hi\r\nMIME-Version: 1.0\r\n\r\n%PDF-',
  'MIME-Version: 1.0\nDate: Wed, 4 Jan 2023 11:36:14 -0600\n',
])('names no tool for the email %j', (head) => {
  expect(notAPageError(kindOfBytes(head)!).message).toBe(
    'The source is not a web page. No tool converts emails.',
  );
});

it.each([
  ['\xff\xd8\xff\xe0', 'imageproc'],
  ['\x89PNG\r\n\x1a\n', 'imageproc'],
  ['RIFF\x10\0\0\0WEBPVP8 ', 'imageproc'],
  ['\0\0\0\x1cftypavif', 'imageproc'],
  ['  <!DOCTYPE html><p>', 'html2pdf'],
  ['PK\x03\x04 an archive of a web page, index.html', undefined],
  ['RIFF\x10\0\0\0WAVE', undefined],
  ['just text', undefined],
  ['Note: a mail has the field\nMIME-Version\n: 1.0', undefined],
])('names the tool for %j: %s', (head, tool) => {
  expect(kindOfBytes(head)?.readers[0]).toBe(tool);
});

it('takes no text for a file that begins like one, unless it does', () => {
  expect(kindOfText('A page about %PDF-1.7 and {\\rtf')).toBeUndefined();
  expect(kindOfText('')).toBeUndefined();
});

it.each([
  ['application/pdf', 'pdftools'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'doc2any'],
  ['application/vnd.ms-excel', 'doc2any'],
  ['image/heic', 'imageproc'],
  ['application/zip', undefined],
])('names the tool for the media type %s: %s', (type, tool) => {
  expect(kindOfType(type)?.readers[0]).toBe(tool);
});
